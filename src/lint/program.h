/*
 * program.h - what a grammar is scanned with: the queries of its rule file, compiled for it.
 *
 * They are compiled when a file of the language is first parsed, for all of them together take longer than to lint a
 * file. Any thread may ask.
 */
#ifndef CK_LINT_PROGRAM_H
#define CK_LINT_PROGRAM_H

#include "lint/rules.h"

struct ck_lint_program {
    const struct ck_lint_ruleset *ruleset;
    const struct ck_grammar *grammar;
    TSQuery *query;          /* all queries of the file that hold for the grammar, in one */
    uint32_t *pattern_query; /* for each pattern of it: which query of the file it came from */
    uint32_t capture_name, capture_arguments, capture_site; /* UINT32_MAX: no query has it */
};

/* The grammar has rules (rules->by_grammar). The program lives as long as the rules. */
int ck_lint_program_get(const struct ck_lint_rules *rules, const struct ck_grammar *grammar,
                        const struct ck_lint_program **ret_program, struct choke_error *error);

/* For rules.c. NULL: no memory; NULL is fine. */
struct ck_lint_programs *ck_lint_programs_new(void);
void ck_lint_programs_free(struct ck_lint_programs *programs);

#endif
