/* quote.c - see quote.h. */
#include "base/quote.h"
#include "base/hex.h"

#include "base/glyph.h"

#include <string.h>

bool ck_quote_utf8_valid(const char *s, size_t length)
{
    for (size_t i = 0; i < length;) {
        size_t n = ck_glyph_sequence(s + i, length - i);
        if (n == 0)
            return false;
        i += n;
    }
    return true;
}

/* The short escape of a byte, or NULL if the style has none for it. */
static const char *named(enum ck_quote_style style, char byte)
{
    switch (byte) {
    case '\n':
        return style == CK_QUOTE_SINGLE ? "\\n" : NULL;
    case '\t':
        return style == CK_QUOTE_SINGLE ? "\\t" : NULL;
    case '\r':
        return style == CK_QUOTE_SINGLE ? "\\r" : NULL;
    case '\\':
        return style == CK_QUOTE_BASH ? "\\\\" : NULL;
    case '\'':
        return style == CK_QUOTE_BASH ? "\\'" : NULL;
    default:
        return NULL;
    }
}

size_t ck_quote_next(enum ck_quote_style style, const char *src, size_t length, char ret_piece[CK_QUOTE_PIECE_MAX],
                     size_t *ret_used)
{
    unsigned char c = (unsigned char)src[0];
    const char *name = named(style, src[0]);
    *ret_used = 1;
    if (name) {
        memcpy(ret_piece, name, 2);
        return 2;
    }
    /*
     * A hidden character of several bytes is escaped byte by byte: after the first one the others
     * are not valid UTF-8 and become \xNN too.
     */
    size_t n = ck_glyph_shown(src, length);
    if (n == 0 || (style == CK_QUOTE_SINGLE && (c == '\\' || c == '\''))) {
        char escape[5] = "\\x";
        ck_hex_encode(escape + 2, &c, 1);
        memcpy(ret_piece, escape, 4);
        return 4;
    }
    memcpy(ret_piece, src, n);
    *ret_used = n;
    return n;
}

const char *ck_quote_as(enum ck_quote_style style, char *dst, size_t dst_size, const char *src, size_t src_length)
{
    static const char cut[] = "...";
    size_t at = 0;
    size_t cut_at = 0; /* the last end of a piece after which the dots still fit */
    for (size_t i = 0, used; i < src_length; i += used) {
        char piece[CK_QUOTE_PIECE_MAX];
        size_t n = ck_quote_next(style, src + i, src_length - i, piece, &used);
        /* >=: a byte is left for the NUL */
        if (at + n >= dst_size) {
            if (dst_size >= sizeof(cut)) {
                memcpy(dst + cut_at, cut, sizeof(cut));
                return dst;
            }
            /* not even the dots fit */
            break;
        }
        memcpy(dst + at, piece, n);
        at += n;
        if (at + sizeof(cut) <= dst_size)
            cut_at = at;
    }
    if (dst_size > 0)
        dst[at] = '\0';
    return dst;
}

const char *ck_quote(char *dst, size_t dst_size, const char *src, size_t src_length)
{
    return ck_quote_as(CK_QUOTE_SINGLE, dst, dst_size, src, src_length);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\0';
}

bool ck_quote_last_line(enum ck_quote_style style, char *dst, size_t dst_size, const char *src, size_t src_length)
{
    while (src_length > 0 && is_blank(src[src_length - 1]))
        src_length--;
    size_t begin = src_length;
    while (begin > 0 && src[begin - 1] != '\n')
        begin--;
    while (begin < src_length && is_blank(src[begin]))
        begin++;
    (void)ck_quote_as(style, dst, dst_size, src_length > 0 ? src + begin : "", src_length - begin);
    return begin < src_length;
}
