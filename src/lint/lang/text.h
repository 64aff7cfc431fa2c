/* text.h - a short text, joined from the pieces of a literal, to be compared with names. */
#ifndef CK_LINT_LANG_TEXT_H
#define CK_LINT_LANG_TEXT_H

#include "lint/lang/resolve.h"

#define CK_TEXT_MAX_BYTES 256 /* longer than any name in a rule */

/* A text that is too long counts as unknown. Zero-filled is the empty text. */
struct ck_text {
    char bytes[CK_TEXT_MAX_BYTES];
    uint32_t length;
    bool unknown; /* in part */
};

void ck_text_add(struct ck_text *text, const char *bytes, uint32_t length);

/* The languages give some letters different meanings: "\eval" is eval in JavaScript only. */
enum ck_text_syntax { CK_TEXT_JS, CK_TEXT_C, CK_TEXT_BASH };

/* Adds an escape with its backslash: \x65, \u0065, \u{65}, \145, \n, \". For Bash: of $''. */
void ck_text_add_escape(struct ck_text *text, enum ck_text_syntax syntax, const char *escape, uint32_t length);

/* CK_CONSTANT_TEXT if all is known. If only a part is known and not empty, CK_CONSTANT_TRUE. */
void ck_text_constant(const struct ck_text *text, struct ck_arena *arena, struct ck_constant *ret_constant);

#endif
