/*
 * quote.h - show untrusted bytes safely.
 *
 * ck_quote writes src to dst with backslash, the single quote, bytes that are not valid UTF-8, and the bytes of
 * characters that are hidden (base/glyph.h) as \xNN (\n, \t and \r by name), always NUL-terminated; what does not fit
 * ends in "...". Returns dst. CK_QUOTE(s) does it in a buffer that lives to the end of the enclosing block.
 */
#ifndef CK_BASE_QUOTE_H
#define CK_BASE_QUOTE_H

#include <stdbool.h>
#include <stddef.h>

#define CK_QUOTE_MAX 256

const char *ck_quote(char *dst, size_t dst_size, const char *src, size_t src_length);
#define CK_QUOTE(s) ck_quote((char[CK_QUOTE_MAX]){0}, CK_QUOTE_MAX, (s), strlen(s))

/* Bytes of the valid UTF-8 sequence at s (1 to 4), or 0: overlong forms, surrogates and cut sequences are not valid. */
size_t ck_quote_utf8_sequence(const char *s, size_t length);
bool ck_quote_utf8_valid(const char *s, size_t length);

#endif
