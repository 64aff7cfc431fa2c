/* quote.c - see quote.h. */
#include "base/quote.h"

#include "base/glyph.h"

#include <string.h>

size_t ck_quote_utf8_sequence(const char *s, size_t length)
{
    return ck_glyph_sequence(s, length);
}

bool ck_quote_utf8_valid(const char *s, size_t length)
{
    for (size_t i = 0; i < length;) {
        size_t n = ck_quote_utf8_sequence(s + i, length - i);
        if (n == 0)
            return false;
        i += n;
    }
    return true;
}

/* One source character into piece (at least 5 bytes); returns its length and advances *used. */
static size_t quote_one(char *piece, const char *src, size_t left, size_t *used)
{
    static const char hex[] = "0123456789abcdef";
    unsigned char c = (unsigned char)src[0];
    const char *named = c == '\n' ? "\\n" : c == '\t' ? "\\t" : c == '\r' ? "\\r" : NULL;
    *used = 1;
    if (named != NULL) {
        memcpy(piece, named, 2);
        return 2;
    }
    size_t n = ck_glyph_shown(src, left);
    if (n == 0 || c == '\\' || c == '\'') {
        memcpy(piece, (char[]){'\\', 'x', hex[c >> 4], hex[c & 15]}, 4);
        return 4;
    }
    memcpy(piece, src, n);
    *used = n;
    return n;
}

const char *ck_quote(char *dst, size_t dst_size, const char *src, size_t src_length)
{
    static const char cut[] = "...";
    size_t at = 0;
    size_t cut_at = 0; /* the last end of a piece behind which the dots still fit */
    for (size_t i = 0, used; i < src_length; i += used) {
        char piece[8];
        size_t n = quote_one(piece, src + i, src_length - i, &used);
        if (at + n >= dst_size) {
            if (dst_size >= sizeof cut) {
                memcpy(dst + cut_at, cut, sizeof cut);
                return dst;
            }
            break;
        }
        memcpy(dst + at, piece, n);
        at += n;
        if (at + sizeof cut <= dst_size)
            cut_at = at;
    }
    if (dst_size > 0)
        dst[at] = '\0';
    return dst;
}
