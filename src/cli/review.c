/* review.c - options and reports of the policy commands; see review.h. */
#include "cli/review.h"

#include "cli/parse.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* For policy diff: it has two policies, so --policy would be unclear. */
const struct ck_option ck_review_options[] = {
    {.name = "--json", .help = "print one JSON object", .offset = offsetof(struct ck_review_options, json)},
    {.name = "--help", .help = "show this help", .offset = offsetof(struct ck_review_options, help)},
    {.name = NULL},
};

#define POLICY_OPTIONS \
    {.name = "--policy", \
     .metavar = "FILE", \
     .help = "the same as the operand FILE", \
     .kind = CK_OPTION_STRING, \
     .offer = CK_OFFER_FILES, \
     .offset = offsetof(struct ck_review_options, policy)}, \
    { \
        .name = "--json", .help = "print one JSON object", .offset = offsetof(struct ck_review_options, json) \
    }

const struct ck_option ck_review_policy_options[] = {
    POLICY_OPTIONS,
    {.name = "--help", .help = "show this help", .offset = offsetof(struct ck_review_options, help)},
    {.name = NULL},
};

const struct ck_option ck_review_show_options[] = {
    POLICY_OPTIONS,
    {.name = "--yaml", .help = "print it as a policy file", .offset = offsetof(struct ck_review_options, yaml)},
    {.name = "--help", .help = "show this help", .offset = offsetof(struct ck_review_options, help)},
    {.name = NULL},
};

int ck_review_open(const char *operand, struct choke_policy **ret_policy, struct choke_error *error)
{
    bool embedded = operand && strcmp(operand, "default") == 0;
    return embedded ? choke_policy_open_embedded(ret_policy, error) : choke_policy_open(operand, ret_policy, error);
}

/*
 * With --json a usage error is JSON too: a script parses one form only. It has no hint at the help.
 */
int ck_review_usage(const struct ck_command *command, bool json, const struct choke_error *error)
{
    const struct ck_review_options given = {.json = json};
    return json ? ck_review_failure(&given, error) : ck_cli_usage_error(command, error);
}

/* --policy FILE counts as an operand; given together with one, it is one operand too many. */
int ck_review_parse(const struct ck_command *command, char *const *args, size_t least, size_t most,
                    struct ck_review_options *given, const char *operands[CK_REVIEW_OPERANDS_MAX])
{
    /* Any number of operands: they are counted below, together with --policy. */
    const struct ck_parse parse = {command, given, &given->help, &given->json, 0, CK_PARSE_ANY};
    struct ck_string_list files;
    int status = ck_parse_words(&parse, args, &files);
    /* After an error files has what was added before it, so this is safe in any case. */
    size_t count = files.count + (!!given->policy);

    for (size_t i = 0; i < CK_REVIEW_OPERANDS_MAX; i++)
        operands[i] = i < files.count ? files.items[i] : NULL;
    if (given->policy && files.count == 0)
        operands[0] = given->policy;
    /* The list is freed; the operands themselves are in argv and stay valid. */
    ck_options_free_words(&files);
    /* A status of 0 or more ends the command: the help was shown, or there was an error. */
    if (status >= 0 || (count >= least && count <= most))
        return status;
    return ck_parse_wrong_count(&parse, count);
}

/*
 * Writes to the descriptor, not through stdio. So a caller must not have printed to stdout before.
 */
int ck_review_write(json_t *object, int status)
{
    struct ck_outlet out = CK_OUTLET(STDOUT_FILENO);

    if (object)
        ck_jansson_write(&out, object);
    else
        out.error = ENOMEM;
    /* NULL is fine for json_decref. */
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
