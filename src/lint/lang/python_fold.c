/*
 * python_fold.c - folds letters to ASCII. See python_fold.h.
 *
 * This is the compatibility decomposition of Unicode for letters and digits, as far as the result
 * is ASCII: ranges of alphabets in order, and a table of single characters. A test compares it with
 * Python's own.
 */
#include "lint/lang/python_fold.h"

#include "base/glyph.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Full-width forms of '!' to '~', in the order of ASCII. */
#define FULL_WIDTH_FIRST 0xff01u
#define FULL_WIDTH_LAST 0xff5eu
/*
 * Mathematical alphabets (bold, italic, script, ...), each A to Z and then a to z. A letter that
 * Unicode had before is missing there (italic h is U+210E), and is in the table below.
 */
#define MATHEMATICAL_FIRST 0x1d400u
#define MATHEMATICAL_LAST 0x1d6a3u
/* Five sets of the digits 0 to 9. */
#define MATHEMATICAL_DIGITS_FIRST 0x1d7ceu
#define MATHEMATICAL_DIGITS_LAST 0x1d7ffu
/* The digits 0 to 9 of a display with seven segments. */
#define SEGMENTED_DIGITS_FIRST 0x1fbf0u
#define SEGMENTED_DIGITS_LAST 0x1fbf9u
#define LETTERS 26u

/* Single characters that become ASCII, in the order of their codes. Some become several letters. */
static const struct {
    uint32_t code;
    const char *ascii;
} alone[] = {
    {0xaa, "a"},     {0xba, "o"},     {0x132, "IJ"},    {0x133, "ij"},   {0x17f, "s"},     {0x1c7, "LJ"},
    {0x1c8, "Lj"},   {0x1c9, "lj"},   {0x1ca, "NJ"},    {0x1cb, "Nj"},   {0x1cc, "nj"},    {0x1f1, "DZ"},
    {0x1f2, "Dz"},   {0x1f3, "dz"},   {0x2b0, "h"},     {0x2b2, "j"},    {0x2b3, "r"},     {0x2b7, "w"},
    {0x2b8, "y"},    {0x2e1, "l"},    {0x2e2, "s"},     {0x2e3, "x"},    {0x1d2c, "A"},    {0x1d2e, "B"},
    {0x1d30, "D"},   {0x1d31, "E"},   {0x1d33, "G"},    {0x1d34, "H"},   {0x1d35, "I"},    {0x1d36, "J"},
    {0x1d37, "K"},   {0x1d38, "L"},   {0x1d39, "M"},    {0x1d3a, "N"},   {0x1d3c, "O"},    {0x1d3e, "P"},
    {0x1d3f, "R"},   {0x1d40, "T"},   {0x1d41, "U"},    {0x1d42, "W"},   {0x1d43, "a"},    {0x1d47, "b"},
    {0x1d48, "d"},   {0x1d49, "e"},   {0x1d4d, "g"},    {0x1d4f, "k"},   {0x1d50, "m"},    {0x1d52, "o"},
    {0x1d56, "p"},   {0x1d57, "t"},   {0x1d58, "u"},    {0x1d5b, "v"},   {0x1d62, "i"},    {0x1d63, "r"},
    {0x1d64, "u"},   {0x1d65, "v"},   {0x1d9c, "c"},    {0x1da0, "f"},   {0x1dbb, "z"},    {0x2071, "i"},
    {0x207f, "n"},   {0x2090, "a"},   {0x2091, "e"},    {0x2092, "o"},   {0x2093, "x"},    {0x2095, "h"},
    {0x2096, "k"},   {0x2097, "l"},   {0x2098, "m"},    {0x2099, "n"},   {0x209a, "p"},    {0x209b, "s"},
    {0x209c, "t"},   {0x2102, "C"},   {0x210a, "g"},    {0x210b, "H"},   {0x210c, "H"},    {0x210d, "H"},
    {0x210e, "h"},   {0x2110, "I"},   {0x2111, "I"},    {0x2112, "L"},   {0x2113, "l"},    {0x2115, "N"},
    {0x2119, "P"},   {0x211a, "Q"},   {0x211b, "R"},    {0x211c, "R"},   {0x211d, "R"},    {0x2124, "Z"},
    {0x2128, "Z"},   {0x212a, "K"},   {0x212c, "B"},    {0x212d, "C"},   {0x212f, "e"},    {0x2130, "E"},
    {0x2131, "F"},   {0x2133, "M"},   {0x2134, "o"},    {0x2139, "i"},   {0x2145, "D"},    {0x2146, "d"},
    {0x2147, "e"},   {0x2148, "i"},   {0x2149, "j"},    {0x2160, "I"},   {0x2161, "II"},   {0x2162, "III"},
    {0x2163, "IV"},  {0x2164, "V"},   {0x2165, "VI"},   {0x2166, "VII"}, {0x2167, "VIII"}, {0x2168, "IX"},
    {0x2169, "X"},   {0x216a, "XI"},  {0x216b, "XII"},  {0x216c, "L"},   {0x216d, "C"},    {0x216e, "D"},
    {0x216f, "M"},   {0x2170, "i"},   {0x2171, "ii"},   {0x2172, "iii"}, {0x2173, "iv"},   {0x2174, "v"},
    {0x2175, "vi"},  {0x2176, "vii"}, {0x2177, "viii"}, {0x2178, "ix"},  {0x2179, "x"},    {0x217a, "xi"},
    {0x217b, "xii"}, {0x217c, "l"},   {0x217d, "c"},    {0x217e, "d"},   {0x217f, "m"},    {0x2c7c, "j"},
    {0x2c7d, "V"},   {0xa7f2, "C"},   {0xa7f3, "F"},    {0xa7f4, "Q"},   {0xfb00, "ff"},   {0xfb01, "fi"},
    {0xfb02, "fl"},  {0xfb03, "ffi"}, {0xfb04, "ffl"},  {0xfb05, "st"},  {0xfb06, "st"},   {0xfe33, "_"},
    {0xfe34, "_"},   {0xfe4d, "_"},   {0xfe4e, "_"},    {0xfe4f, "_"},   {0x107a5, "q"},
};

/* The code of a character. ck_glyph_sequence has checked that its bytes are valid UTF-8. */
static uint32_t decode(const char *at, size_t length)
{
    /* By length: the bits of the first byte that belong to the code. */
    static const unsigned char masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t code = (unsigned char)at[0] & masks[length];
    for (size_t i = 1; i < length; i++)
        code = code << 6 | ((unsigned char)at[i] & 0x3f);
    return code;
}

/* One character in ASCII; "" if it does not become ASCII. single has room for one letter. */
static const char *fold_one(uint32_t code, char single[static 2])
{
    single[1] = '\0';
    if (code >= FULL_WIDTH_FIRST && code <= FULL_WIDTH_LAST) {
        single[0] = (char)(code - FULL_WIDTH_FIRST + '!');
    } else if (code >= MATHEMATICAL_FIRST && code <= MATHEMATICAL_LAST) {
        uint32_t letter = (code - MATHEMATICAL_FIRST) % (2 * LETTERS);
        single[0] = (char)(letter < LETTERS ? 'A' + letter : 'a' + letter - LETTERS);
    } else if (code >= MATHEMATICAL_DIGITS_FIRST && code <= MATHEMATICAL_DIGITS_LAST) {
        single[0] = (char)('0' + (code - MATHEMATICAL_DIGITS_FIRST) % 10);
    } else if (code >= SEGMENTED_DIGITS_FIRST && code <= SEGMENTED_DIGITS_LAST) {
        single[0] = (char)('0' + (code - SEGMENTED_DIGITS_FIRST));
    } else {
        for (size_t i = 0; i < sizeof(alone) / sizeof(alone[0]); i++)
            if (alone[i].code == code)
                return alone[i].ascii;
        return "";
    }
    return single;
}

size_t ck_python_fold(const char *name, size_t length, char folded[static CK_PYTHON_FOLD_MAX])
{
    size_t written = 0;
    bool changed = false;
    for (size_t at = 0; at < length;) {
        size_t bytes = ck_glyph_sequence(name + at, length - at);
        char single[2] = {name[at], '\0'};
        const char *ascii = single;
        if (bytes > 1) {
            ascii = fold_one(decode(name + at, bytes), single);
            changed = true;
        }
        /* Not UTF-8, a character that does not become ASCII, or too long. */
        if (bytes == 0 || ascii[0] == '\0' || written + strlen(ascii) > CK_PYTHON_FOLD_MAX)
            return 0;
        memcpy(folded + written, ascii, strlen(ascii));
        written += strlen(ascii);
        at += bytes;
    }
    return changed ? written : 0;
}
