/*
 * c.h - the parts of the resolver for C: what is bound where (c_bind.c), the text of macros
 * (c_macro.c), and what an expression is (c_resolve.c).
 *
 * A name that the file does not define is a function of the C library, and stands for itself
 * ("fork"). A declaration alone does not define a name, unless it is static. A macro that is one
 * word stands for that word.
 */
#ifndef CK_LINT_LANG_C_H
#define CK_LINT_LANG_C_H

#include "lint/lang/scopes.h"

enum ck_c_kind {
    CK_C_OTHER, /* 0: a type that the resolver does not know */
    CK_C_MACRO,
    CK_C_MACRO_FUNCTION,
    CK_C_MACRO_TEXT, /* what follows the name in #define, one node without children */
    CK_C_DIRECTIVE,  /* #undef, and others that do not matter */
    CK_C_FUNCTION,
    CK_C_DECLARATION,
    CK_C_PARAMETER,
    CK_C_ENUMERATOR,
    CK_C_BLOCK,              /* and for, which has a scope for its variable */
    CK_C_POINTER_DECLARATOR, /* and everything else that turns the inner name into a variable */
    CK_C_FUNCTION_DECLARATOR,
    CK_C_OTHER_DECLARATOR, /* parentheses and attributes, which change nothing */
    CK_C_INIT_DECLARATOR,
    CK_C_NAME,
    CK_C_ASSIGNMENT,
    CK_C_CALL,
    CK_C_WRAPPER, /* parentheses and __extension__ */
    CK_C_POINTER, /* &f and *f */
    CK_C_CAST,
    CK_C_CONDITION,
    CK_C_COMMA,
    CK_C_STRING,
    CK_C_STRINGS, /* adjacent literals, "a" "b" */
};

extern const struct ck_kind ck_c_kinds[];

/* begin of struct ck_lint_resolver. */
int ck_c_bind(struct ck_lint_source *source);

/* ---- macros ------------------------------------------------------------------------------ */

/*
 * The one word that the text consists of, with or without parentheses; length 0 if it is anything
 * else.
 */
struct ck_lint_word ck_c_macro_alias(struct ck_lint_word text);

/*
 * Iterates over the words in a macro's text that may be functions: words that are called, or used
 * as a value. Skips members, declarations, words that are made into a string (#) or joined (##),
 * strings and comments. Length 0 at the end. Start with text set and the rest zero.
 */
struct ck_c_macro {
    struct ck_lint_word text;
    struct ck_lint_word before; /* the word before the current one */
    uint32_t position;          /* the first byte that is not read yet */
};
struct ck_lint_word ck_c_macro_next(struct ck_c_macro *macro);

/*
 * The first argument of the first call of that function, if it is one word, with or without
 * parentheses.
 */
struct ck_lint_word ck_c_macro_argument(struct ck_lint_word text, const char *function);

#endif
