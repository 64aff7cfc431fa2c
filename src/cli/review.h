/*
 * review.h - what the commands about a policy share: their options, how a failure is told, and JSON on standard output.
 */
#ifndef CK_CLI_REVIEW_H
#define CK_CLI_REVIEW_H

#include "cli/cli.h"
#include "front/jansson.h"

struct ck_review_options {
    bool json;
    bool help;
    const char *policy; /* the same as the first operand, for who is used to --policy of the other commands */
};

extern const struct ck_option ck_review_options[];
extern const struct ck_option ck_review_policy_options[]; /* with --policy, for commands about one policy */

#define CK_REVIEW_OPERANDS_MAX 2

/*
 * Options may also stand behind operands here, for no operand is a command line. Unused operands are NULL. Returns -1
 * where the command goes on; else the status to end with: help was shown, or the words are wrong.
 */
int ck_review_parse(const struct ck_command *command, char *const *args, size_t least, size_t most,
                    struct ck_review_options *given, const char *operands[CK_REVIEW_OPERANDS_MAX]);

/* {"error": {"code", "message"}} on standard output, or one line on standard error. Returns CK_EXIT_REFUSED. */
int ck_review_failure(const struct ck_review_options *given, const struct choke_error *error);

/* Takes object, NULL included, which stands for memory that ran out. Returns status, or CK_EXIT_REFUSED. */
int ck_review_write(json_t *object, int status);

#endif
