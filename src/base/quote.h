/*
 * quote.h - show untrusted bytes safely. Every text that is not JSON is escaped here.
 *
 * In every style the bytes that are not valid UTF-8, and those of characters that are hidden
 * (base/glyph.h), become \xNN. Text is always NUL-terminated; what does not fit ends in "...".
 */
#ifndef CK_BASE_QUOTE_H
#define CK_BASE_QUOTE_H

#include <stdbool.h>
#include <stddef.h>

/* of CK_QUOTE, with the NUL */
#define CK_QUOTE_MAX 256

enum ck_quote_style {
    /* between single quotes in a message: backslash and quote too; \n, \t and \r by name */
    CK_QUOTE_SINGLE,
    CK_QUOTE_SHOWN, /* text without quotes around it: nothing more is escaped */
    /* in $'...': a backslash before backslash and quote, so that bash reads the same bytes back */
    CK_QUOTE_BASH,
};

/* Writes src to dst and returns dst. dst_size counts the NUL; with 0 nothing is written. */
const char *ck_quote_as(enum ck_quote_style style, char *dst, size_t dst_size, const char *src, size_t src_length);

/*
 * ck_quote_as with CK_QUOTE_SINGLE. CK_QUOTE(s) does it in a buffer that lives to the end of the
 * enclosing block.
 */
const char *ck_quote(char *dst, size_t dst_size, const char *src, size_t src_length);
#define CK_QUOTE(s) ck_quote((char[CK_QUOTE_MAX]){0}, CK_QUOTE_MAX, (s), strlen(s))

/*
 * The last line of src that is not blank, without blanks around it. Tools name the reason of a
 * failure there. False, and an empty dst, if there is no such line. src may be NULL for length 0.
 */
bool ck_quote_last_line(enum ck_quote_style style, char *dst, size_t dst_size, const char *src, size_t src_length);

/* \xNN, or the longest UTF-8 sequence */
#define CK_QUOTE_PIECE_MAX 4

/*
 * The first character of src as it is shown; length is not 0. Returns the number of bytes in
 * ret_piece, which gets no NUL, and in *ret_used how many bytes of src they represent. For a writer
 * without a fixed buffer.
 */
size_t ck_quote_next(enum ck_quote_style style, const char *src, size_t length, char ret_piece[CK_QUOTE_PIECE_MAX],
                     size_t *ret_used);

bool ck_quote_utf8_valid(const char *s, size_t length);

#endif
