/*
 * program.h - the compiled form of the rules for one grammar: the queries of its rule file.
 *
 * The queries are compiled when a file of the language is first parsed. To compile all of them
 * takes longer than to lint one file. Any thread may ask for them.
 */
#ifndef CK_LINT_PROGRAM_H
#define CK_LINT_PROGRAM_H

#include "lint/rules.h"

struct ck_lint_program {
    const struct ck_lint_ruleset *ruleset;
    const struct ck_grammar *grammar;
    TSQuery *query;          /* all queries of the file for this grammar, joined into one */
    uint32_t *pattern_query; /* for each pattern in query: its query in the file */
    uint32_t capture_name, capture_arguments, capture_site; /* UINT32_MAX: no query has it */
};

/* The grammar must have rules (rules->by_grammar). The program lives as long as the rules. */
int ck_lint_program_get(const struct ck_lint_rules *rules, const struct ck_grammar *grammar,
                        const struct ck_lint_program **ret_program, struct choke_error *error);

/* For rules.c. Returns NULL when memory ran out. */
struct ck_lint_programs *ck_lint_programs_new(void);
void ck_lint_programs_free(struct ck_lint_programs *programs);

#endif
