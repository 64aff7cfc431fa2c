/* parse.c - splits arguments into options and operands; see parse.h. */
#include "cli/parse.h"

#include "cli/review.h"
#include "front/text.h"

#include <errno.h>
#include <string.h>

/* Options may follow operands, so parsing starts again after each operand, until "--". */
static int split(const struct ck_parse *parse, char *const *args, struct ck_string_list *operands,
                 struct choke_error *error)
{
    bool options = true;
    uint64_t seen = 0;

    for (;;) {
        int taken = options ? ck_options_parse_more(parse->command->options, args, &seen, parse->target, error) : 0;
        if (taken < 0)
            return taken;
        /* The last option that was taken is "--": everything after it is an operand. */
        options = options && (taken == 0 || strcmp(args[taken - 1], "--") != 0);
        args += taken;
        if (!*args)
            return 0;
        int r = ck_options_add_word(operands, *args++, error);
        if (r < 0)
            return r;
    }
}

/* json may be NULL: such a command has no --json for usage errors. */
int ck_parse_wrong_count(const struct ck_parse *parse, size_t count)
{
    struct choke_error error;

    (void)ck_text_error(&error, CHOKE_INVALID, EINVAL, "'%s' takes %s, but got %zu argument%s", parse->command->name,
                        parse->command->operands[0] != '\0' ? parse->command->operands : "no arguments", count,
                        count == 1 ? "" : "s");
    return ck_review_usage(parse->command, parse->json && *parse->json, &error);
}

/* --help is checked before the number of operands: it must work without them. */
int ck_parse_words(const struct ck_parse *parse, char *const *args, struct ck_string_list *ret_operands)
{
    struct choke_error error;

    *ret_operands = (struct ck_string_list){0};
    /* After an error operands has what was added before it; the caller frees it. */
    if (split(parse, args, ret_operands, &error) < 0)
        return ck_review_usage(parse->command, parse->json && *parse->json, &error);
    if (*parse->help)
        return ck_cmd_help_show(parse->command);
    if (ret_operands->count < parse->least || ret_operands->count > parse->most)
        return ck_parse_wrong_count(parse, ret_operands->count);
    return -1;
}
