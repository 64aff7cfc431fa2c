/*
 * grammar.h - the languages that are scanned: how to recognize a file of each, and its grammar.
 *
 * A grammar is one parser table of tree-sitter. TypeScript has two, because text between angle
 * brackets is a type in .ts files and an element in .tsx files. The rule files say which rules a
 * grammar has (rules.h).
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
    const char *const *interpreters; /* in a #! line: "python", "python3"; ends with NULL */
    const TSLanguage *(*language)(void);
    const struct ck_lint_resolver *resolver;
};

extern const struct ck_grammar ck_grammars[CK_GRAMMARS];

/* NULL if the name is unknown. */
const struct ck_grammar *ck_grammar_find(const char *name);

/*
 * The grammar by the extension of the path; if that is unknown, by the #! line. text may be the
 * beginning of the file, or NULL when it has not been read. Returns NULL if the language is not
 * supported.
 */
const struct ck_grammar *ck_grammar_of(const char *path, const char *text, size_t length);

#endif
