/*
 * parse.h - splits the arguments of a command into options and operands. It is for commands without
 * a tool's command line as operands. Options may be before, between and after the operands; "--"
 * ends them.
 */
#ifndef CK_CLI_PARSE_H
#define CK_CLI_PARSE_H

#include "cli/cli.h"

struct ck_parse {
    const struct ck_command *command;
    void *target;     /* the command's struct, filled by its option table */
    const bool *help; /* in target */
    const bool *json; /* in target: report a usage error as JSON; NULL: never */
    size_t least;     /* minimum number of operands */
    size_t most;      /* maximum number of operands */
};

#define CK_PARSE_ANY SIZE_MAX

/*
 * Returns -1 if the command goes on; the operands are in *ret_operands. Otherwise returns the exit
 * status: the help was shown, or the arguments are wrong. Call ck_options_free_words in either
 * case.
 */
int ck_parse_words(const struct ck_parse *parse, char *const *args, struct ck_string_list *ret_operands);

/* Reports too few or too many operands, for a caller that counts them itself. */
int ck_parse_wrong_count(const struct ck_parse *parse, size_t count);

#endif
