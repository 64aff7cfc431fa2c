/* review.c - see review.h. */
#include "cli/review.h"

#include "front/text.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

const struct ck_option ck_review_options[] = {
    {.name = "--json", .help = "print one JSON object", .offset = offsetof(struct ck_review_options, json)},
    {.name = "--help", .help = "show this help", .offset = offsetof(struct ck_review_options, help)},
    {.name = NULL},
};

const struct ck_option ck_review_policy_options[] = {
    {.name = "--policy",
     .metavar = "FILE",
     .help = "the same as the operand FILE",
     .kind = CK_OPTION_STRING,
     .offer = CK_OFFER_FILES,
     .offset = offsetof(struct ck_review_options, policy)},
    {.name = "--json", .help = "print one JSON object", .offset = offsetof(struct ck_review_options, json)},
    {.name = "--help", .help = "show this help", .offset = offsetof(struct ck_review_options, help)},
    {.name = NULL},
};

static int usage_failure(const struct ck_command *command, const struct ck_review_options *given,
                         const struct choke_error *error)
{
    return given->json ? ck_review_failure(given, error) : ck_cli_usage_error(command, error);
}

/* Operands into the list, options wherever they stand before "--". How many operands, or a negative errno. */
static int split(const struct ck_option *known, char *const *args, struct ck_review_options *given,
                 const char *operands[CK_REVIEW_OPERANDS_MAX], struct choke_error *error)
{
    int count = 0;
    bool options = true;

    for (;;) {
        int taken = options ? ck_options_parse(known, args, given, error) : 0;
        if (taken < 0)
            return taken;
        options = options && (taken == 0 || strcmp(args[taken - 1], "--") != 0);
        args += taken;
        if (!*args)
            return count;
        if (count < CK_REVIEW_OPERANDS_MAX)
            operands[count] = *args;
        count++;
        args++;
    }
}

int ck_review_parse(const struct ck_command *command, char *const *args, size_t least, size_t most,
                    struct ck_review_options *given, const char *operands[CK_REVIEW_OPERANDS_MAX])
{
    struct choke_error error;

    for (size_t i = 0; i < CK_REVIEW_OPERANDS_MAX; i++)
        operands[i] = NULL;
    int count = split(command->options, args, given, operands, &error);
    if (count < 0)
        return usage_failure(command, given, &error);
    if (given->help) {
        ck_cli_help_command(stdout, command);
        return ck_cli_flush_stdout();
    }
    if (given->policy && count == 0)
        operands[count++] = given->policy;
    else if (given->policy)
        count++; /* named twice */
    if ((size_t)count >= least && (size_t)count <= most)
        return -1;
    (void)ck_text_error(&error, CHOKE_INVALID, EINVAL, "'%s' takes %s, but got %d argument%s", command->name,
                        command->operands, count, count == 1 ? "" : "s");
    return usage_failure(command, given, &error);
}

int ck_review_write(json_t *object, int status)
{
    struct ck_outlet out = CK_OUTLET(STDOUT_FILENO);

    if (object)
        ck_jansson_write(&out, object);
    else
        out.error = ENOMEM;
    json_decref(object);
    if (out.error == 0)
        return status;
    (void)fprintf(stderr, "chokepoint: cannot write to standard output: %s\n", strerror(out.error));
    return CK_EXIT_REFUSED;
}

int ck_review_failure(const struct ck_review_options *given, const struct choke_error *error)
{
    if (given->json)
        return ck_review_write(json_pack("{s:o}", "error", ck_jansson_error(error)), CK_EXIT_REFUSED);
    (void)fprintf(stderr, "chokepoint: %s\n", error->message);
    return CK_EXIT_REFUSED;
}
