/* quote.c - see quote.h. */
#include "base/quote.h"

#include <string.h>

size_t ck_utf8_sequence(const char *s, size_t length)
{
    const unsigned char *u = (const unsigned char *)s;
    if (length == 0)
        return 0;
    if (u[0] < 0x80)
        return 1;
    size_t need = u[0] >= 0xc2 && u[0] <= 0xdf ? 2 : (u[0] & 0xf0) == 0xe0 ? 3 : u[0] >= 0xf0 && u[0] <= 0xf4 ? 4 : 0;
    if (need == 0 || length < need)
        return 0;
    for (size_t i = 1; i < need; i++)
        if ((u[i] & 0xc0) != 0x80)
            return 0;
    bool overlong = (u[0] == 0xe0 && u[1] < 0xa0) || (u[0] == 0xf0 && u[1] < 0x90);
    bool surrogate = u[0] == 0xed && u[1] > 0x9f;
    bool beyond = u[0] == 0xf4 && u[1] > 0x8f;
    return overlong || surrogate || beyond ? 0 : need;
}

bool ck_utf8_valid(const char *s, size_t length)
{
    for (size_t i = 0; i < length;) {
        size_t n = ck_utf8_sequence(s + i, length - i);
        if (n == 0)
            return false;
        i += n;
    }
    return true;
}

/*
 * Characters that change the direction of text: they make a line read otherwise than it is (U+061C, U+200E..F,
 * U+202A..E, U+2066..9).
 */
static bool turns_text(const unsigned char *u, size_t length)
{
    if (length == 2)
        return u[0] == 0xd8 && u[1] == 0x9c;
    if (length != 3 || u[0] != 0xe2)
        return false;
    return (u[1] == 0x80 && (u[2] == 0x8e || u[2] == 0x8f || (u[2] >= 0xaa && u[2] <= 0xae))) ||
           (u[1] == 0x81 && u[2] >= 0xa6 && u[2] <= 0xa9);
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
    size_t n = ck_utf8_sequence(src, left);
    /* C1 controls (U+0080..U+009F) are as dangerous to a terminal as C0. */
    bool c1 = n == 2 && c == 0xc2 && (unsigned char)src[1] < 0xa0;
    if (n == 0 || c1 || turns_text((const unsigned char *)src, n) || c < 0x20 || c == 0x7f || c == '\\' || c == '\'') {
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
