/*
 * review.h - what the policy commands share: options, reports of failures, JSON on standard output.
 */
#ifndef CK_CLI_REVIEW_H
#define CK_CLI_REVIEW_H

#include "cli/cli.h"
#include "front/jansson.h"

struct ck_review_options {
    bool json;
    bool yaml; /* policy show only */
    bool help;
    /* The same as the first operand, because the other commands have --policy. */
    const char *policy;
};

extern const struct ck_option ck_review_options[];
/* With --policy, for commands about one policy. */
extern const struct ck_option ck_review_policy_options[];

/* The same with --yaml, for policy show. */
extern const struct ck_option ck_review_show_options[];

#define CK_REVIEW_OPERANDS_MAX 2

/*
 * choke_policy_open for `show` and `diff`: the word `default` is the embedded policy. A file of that
 * name is `./default`.
 */
int ck_review_open(const char *operand, struct choke_policy **ret_policy, struct choke_error *error);

/* ck_parse_words with these options. Unused operands are NULL. */
int ck_review_parse(const struct ck_command *command, char *const *args, size_t least, size_t most,
                    struct ck_review_options *given, const char *operands[CK_REVIEW_OPERANDS_MAX]);

/* A usage error: calls ck_review_failure or ck_cli_usage_error. */
int ck_review_usage(const struct ck_command *command, bool json, const struct choke_error *error);

/*
 * Prints {"error": {"code", "message"}} on standard output, or one line on standard error. Returns
 * CK_EXIT_REFUSED.
 */
int ck_review_failure(const struct ck_review_options *given, const struct choke_error *error);

/* Takes object; NULL means out of memory. Returns status, or CK_EXIT_REFUSED. */
int ck_review_write(json_t *object, int status);

#endif
