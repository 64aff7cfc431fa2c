/*
 * parse.h - from the words of a command line to options and operands, for every command whose operands are no command line
 * of a tool. Options may stand before, between and after the operands; "--" ends them.
 */
#ifndef CK_CLI_PARSE_H
#define CK_CLI_PARSE_H

#include "cli/cli.h"

struct ck_parse {
    const struct ck_command *command;
    void *target;     /* the command's struct, as its table of options says */
    const bool *help; /* in target */
    const bool *json; /* in target: a failure of usage is told as JSON; NULL: never */
    size_t least;     /* so many operands are needed, */
    size_t most;      /* and so many taken */
};

#define CK_PARSE_ANY SIZE_MAX

/*
 * Returns -1 where the command goes on, with the operands in *ret_operands; else the status to end with: help was shown, or
 * the words are wrong. ck_options_free_words in either case.
 */
int ck_parse_words(const struct ck_parse *parse, char *const *words, struct ck_string_list *ret_operands);

/* For who counts in another way: the same failure as too few or too many operands. */
int ck_parse_wrong_count(const struct ck_parse *parse, size_t count);

#endif
