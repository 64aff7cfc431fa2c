/*
 * glyph.h - which characters may be shown as they are. One rule for messages, events, tables, JSON
 * and the audit log.
 *
 * A character is hidden if a reader does not see it, or sees another text because of it: the
 * controls (C0, DEL, C1), the separators of lines and paragraphs, all of category Cf (text
 * direction, joiners, tags), what Unicode calls "default ignorable" (fillers, variation selectors),
 * and noncharacters. Hidden characters are written as an escape.
 *
 * Inline, because every string of a record goes through it.
 */
#ifndef CK_BASE_GLYPH_H
#define CK_BASE_GLYPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The length of the valid UTF-8 sequence at s (1 to 4), or 0: overlong forms, surrogates and
 * truncated sequences are not valid.
 */
static inline size_t ck_glyph_sequence(const char *s, size_t length)
{
    const unsigned char *u = (const unsigned char *)s;
    if (length == 0)
        return 0;
    if (u[0] < 0x80)
        return 1;
    /* 0xc0 and 0xc1 would be overlong, and 0xf5 and more are beyond U+10FFFF. */
    size_t need = u[0] >= 0xc2 && u[0] <= 0xdf ? 2 : (u[0] & 0xf0) == 0xe0 ? 3 : u[0] >= 0xf0 && u[0] <= 0xf4 ? 4 : 0;
    if (need == 0 || length < need)
        return 0;
    for (size_t i = 1; i < need; i++)
        if ((u[i] & 0xc0) != 0x80)
            return 0;
    /* A character must have one form only, or a check of the bytes could be evaded. */
    bool overlong = (u[0] == 0xe0 && u[1] < 0xa0) || (u[0] == 0xf0 && u[1] < 0x90);
    bool surrogate = u[0] == 0xed && u[1] > 0x9f;
    bool beyond = u[0] == 0xf4 && u[1] > 0x8f;
    return overlong || surrogate || beyond ? 0 : need;
}

/* The code point of a valid sequence of n bytes. */
static inline uint32_t ck_glyph_code(const char *s, size_t n)
{
    const unsigned char *u = (const unsigned char *)s;
    /* the first byte has n ones and a zero before its own bits */
    uint32_t code = n == 1 ? u[0] : u[0] & (0xffU >> (n + 1));
    for (size_t i = 1; i < n; i++)
        code = code << 6 | (u[i] & 0x3fU);
    return code;
}

/*
 * Unicode 15.1; sorted, for the binary search. ck_glyph_hidden itself handles what is below U+0080
 * and the last two code points of each plane.
 */
static const struct ck_glyph_range {
    uint32_t first;
    uint32_t last;
} ck_glyph_hidden_ranges[] = {
    {0x80, 0x9f},       {0xad, 0xad},       {0x34f, 0x34f},     {0x600, 0x605},     {0x61c, 0x61c},
    {0x6dd, 0x6dd},     {0x70f, 0x70f},     {0x890, 0x891},     {0x8e2, 0x8e2},     {0x115f, 0x1160},
    {0x17b4, 0x17b5},   {0x180b, 0x180f},   {0x200b, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x206f},
    {0x3164, 0x3164},   {0xfdd0, 0xfdef},   {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0},
    {0xfff0, 0xfffb},   {0x110bd, 0x110bd}, {0x110cd, 0x110cd}, {0x13430, 0x1343f}, {0x1bca0, 0x1bca3},
    {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
};

static inline bool ck_glyph_hidden(uint32_t code)
{
    size_t low = 0;
    size_t high = sizeof(ck_glyph_hidden_ranges) / sizeof(ck_glyph_hidden_ranges[0]);
    if (code < 0x7f)
        return code < 0x20;
    /* U+FFFE, U+FFFF and the same of every other plane are noncharacters */
    if (code == 0x7f || (code & 0xfffeU) == 0xfffeU)
        return true;
    /* Finds the first range that does not end before code. */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ck_glyph_hidden_ranges[middle].last < code)
            low = middle + 1;
        else
            high = middle;
    }
    return low < sizeof(ck_glyph_hidden_ranges) / sizeof(ck_glyph_hidden_ranges[0]) &&
           ck_glyph_hidden_ranges[low].first <= code;
}

/* The length of the character at s if it may be shown as it is, else 0. */
static inline size_t ck_glyph_shown(const char *s, size_t length)
{
    size_t n = ck_glyph_sequence(s, length);
    return n != 0 && !ck_glyph_hidden(ck_glyph_code(s, n)) ? n : 0;
}

/* two escapes of six characters; no NUL */
#define CK_GLYPH_JSON_MAX 12

/*
 * The code point as JSON escapes it; beyond U+FFFF as a pair of surrogates, as JSON requires.
 * Returns the length: 6 or 12.
 */
static inline size_t ck_glyph_json(uint32_t code, char ret_text[CK_GLYPH_JSON_MAX])
{
    static const char hex[] = "0123456789abcdef";
    uint32_t high = 0xd800U | ((code - 0x10000U) >> 10 & 0x3ffU);
    uint32_t units[2] = {code > 0xffff ? high : code, 0xdc00U | (code & 0x3ffU)};
    size_t count = code > 0xffff ? 2 : 1;
    for (size_t i = 0; i < count; i++) {
        char *at = ret_text + 6 * i;
        at[0] = '\\';
        at[1] = 'u';
        for (unsigned digit = 0; digit < 4; digit++)
            at[2 + digit] = hex[units[i] >> (12 - 4 * digit) & 15U];
    }
    return 6 * count;
}

#endif
