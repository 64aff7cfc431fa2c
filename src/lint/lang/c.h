/*
 * c.h - the parts of the resolver of C: what is bound where (c_bind.c), the text of macros (c_macro.c), and what an expression
 * is (resolve_c.c).
 *
 * Names: what nobody in the file defines is the library's, and is itself ("fork"). A declaration alone defines nothing unless it
 * is static; a macro that is one word is that word.
 */
#ifndef CK_LINT_LANG_C_H
#define CK_LINT_LANG_C_H

#include "lint/lang/scopes.h"

enum ck_c_kind {
    CK_C_OTHER,
    CK_C_MACRO,
    CK_C_MACRO_FUNCTION,
    CK_C_MACRO_TEXT,
    CK_C_DIRECTIVE,
    CK_C_FUNCTION,
    CK_C_DECLARATION,
    CK_C_PARAMETER,
    CK_C_ENUMERATOR,
    CK_C_BLOCK,
    CK_C_POINTER_DECLARATOR, /* and whatever else makes a variable of what it is around */
    CK_C_FUNCTION_DECLARATOR,
    CK_C_OTHER_DECLARATOR,
    CK_C_INIT_DECLARATOR,
    CK_C_NAME,
    CK_C_ASSIGNMENT,
    CK_C_CALL,
    CK_C_WRAPPER,
    CK_C_POINTER,
    CK_C_CAST,
    CK_C_CONDITION,
    CK_C_COMMA,
    CK_C_STRING,
    CK_C_STRINGS,
};

extern const struct ck_kind ck_c_kinds[];

/* The begin of the resolver. */
int ck_c_bind(struct ck_lint_source *source);

/* ---- macros ------------------------------------------------------------------------------ */

/* The one word that the text is, in parentheses or not; length 0: it is something else. */
struct ck_lint_word ck_c_macro_alias(struct ck_lint_word text);

/*
 * Goes through the words of a macro's text that may be functions: those that are called, or stand where a value does. Members,
 * declarations, what is made into a string or joined to another word, strings and comments are passed over. Length 0 at
 * the end. Begin with the text alone.
 */
struct ck_c_macro {
    struct ck_lint_word text;
    struct ck_lint_word before; /* the last that was passed */
    uint32_t position;
};
struct ck_lint_word ck_c_macro_next(struct ck_c_macro *macro);

/* The first argument of the first call of that function, where it is one word, in parentheses or not. */
struct ck_lint_word ck_c_macro_argument(struct ck_lint_word text, const char *function);

#endif
