/*
 * grammar.h - the languages that are read: how a file of each is told, and its grammar.
 *
 * A grammar is one table of tree-sitter's; TypeScript has two, for what stands between angle brackets is a type in one
 * and an element in the other. Which rules a grammar has is said by the rule files (rules.h).
 */
#ifndef CK_LINT_GRAMMAR_H
#define CK_LINT_GRAMMAR_H

#include <stdbool.h>
#include <stddef.h>
#include <tree_sitter/api.h>

enum ck_grammar_id {
    CK_GRAMMAR_PYTHON,
    CK_GRAMMAR_JAVASCRIPT,
    CK_GRAMMAR_TYPESCRIPT,
    CK_GRAMMAR_TSX,
    CK_GRAMMAR_C,
    CK_GRAMMAR_BASH,
    CK_GRAMMARS,
};

struct ck_lint_resolver; /* resolve.h */

struct ck_grammar {
    enum ck_grammar_id id;
    const char *name;                /* "python", as in rule files, configuration and output */
    const char *const *extensions;   /* ".py", ends with NULL */
    const char *const *interpreters; /* of a first line that starts with #!: "python", "python3"; ends with NULL */
    const TSLanguage *(*language)(void);
    const struct ck_lint_resolver *resolver;
};

extern const struct ck_grammar ck_grammars[CK_GRAMMARS];

/* NULL where there is none of that name. */
const struct ck_grammar *ck_grammar_find(const char *name);

/*
 * By the file's name, else by its first line where it has no known extension; text may be the beginning of the file,
 * and NULL where it is not at hand. NULL: not a language that is read.
 */
const struct ck_grammar *ck_grammar_of(const char *path, const char *text, size_t length);

#endif
