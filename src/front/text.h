/*
 * text.h - text for people: untrusted bytes are made safe to show, and errors are filled once.
 */
#ifndef CK_FRONT_TEXT_H
#define CK_FRONT_TEXT_H

#include "chokepoint.h"

#include <stdio.h>

#define CK_TEXT_SAFE_MAX 256

/* Writes text in the form CK_QUOTE_SHOWN (base/quote.h). Returns dst. */
const char *ck_text_safe(char *dst, size_t dst_size, const char *text);
#define CK_TEXT_SAFE(text) ck_text_safe((char[CK_TEXT_SAFE_MAX]){0}, CK_TEXT_SAFE_MAX, (text))

/* The same without a limit, to a stream: length bytes of text. */
void ck_text_print(FILE *out, const char *text, size_t length);

/* True if fd is a terminal with colours (not TERM=dumb) and NO_COLOR is not set. */
bool ck_text_colour(int fd);

/* Is fd a terminal that can move its cursor? */
bool ck_text_cursor(int fd);

/*
 * One argument in a form that bash reads back as the same bytes: bare if that is safe, else $'...'.
 */
void ck_text_print_quoted(FILE *out, const char *text);

/* Replaces the message if it contains a credential (choke_credential_kind). */
void ck_text_redact(struct choke_error *error);

/* ck_error_set (base/error.h) with a redacted message. error may be NULL. */
int ck_text_error(struct choke_error *error, enum choke_outcome outcome, int errnum, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
