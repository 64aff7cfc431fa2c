/*
 * text.h - words for people: untrusted bytes are made safe to show, errors are filled once.
 */
#ifndef CK_FRONT_TEXT_H
#define CK_FRONT_TEXT_H

#include "chokepoint.h"

#include <stdio.h>

#define CK_TEXT_SAFE_MAX 256

/* text as CK_QUOTE_SHOWN (base/quote.h). Returns dst. */
const char *ck_text_safe(char *dst, size_t dst_size, const char *text);
#define CK_TEXT_SAFE(text) ck_text_safe((char[CK_TEXT_SAFE_MAX]){0}, CK_TEXT_SAFE_MAX, (text))

/* The same without a bound, to a stream: length bytes of text. */
void ck_text_print(FILE *out, const char *text, size_t length);

/* Colours are for people: fd is a terminal that has them (not TERM=dumb), and nobody asked for none (NO_COLOR). */
bool ck_text_colour(int fd);

/* Is fd a terminal that can move its cursor? */
bool ck_text_cursor(int fd);

/* One word so that bash would read it back as the same bytes: bare where that is safe, else $'...'. */
void ck_text_print_quoted(FILE *out, const char *text);

/* The message without a credential, if it has one (choke_credential_kind). */
void ck_text_redact(struct choke_error *error);

/* ck_error_set (base/error.h), and the message is redacted. error may be NULL. */
int ck_text_error(struct choke_error *error, enum choke_outcome outcome, int errnum, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
