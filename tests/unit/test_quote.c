/* test_quote.c - untrusted bytes are shown so that a terminal, a log and a reader can trust them. */
#include "base/glyph.h"
#include "base/quote.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct {
    const char *source;
    size_t length;
    const char *shown;
} rows[] = {
    {"", 0, ""},
    {"plain text-1.2", 14, "plain text-1.2"},
    {"a\nb\tc\rd", 7, "a\\nb\\tc\\rd"},
    {"\x1b[31m", 5, "\\x1b[31m"},
    {"a\0b", 3, "a\\x00b"},
    {"it's", 4, "it\\x27s"},
    {"a\\b", 3, "a\\x5cb"},
    {"\x7f", 1, "\\x7f"},
    {"\"<>&", 4, "\"<>&"},
    {"\xc3\xa9", 2, "\xc3\xa9"},
    {"\xe6\x97\xa5\xe6\x9c\xac", 6, "\xe6\x97\xa5\xe6\x9c\xac"},
    {"\xf0\x9f\x98\x80", 4, "\xf0\x9f\x98\x80"},
    {"\xff\xfe", 2, "\\xff\\xfe"},
    {"\xc3", 1, "\\xc3"},
    {"\xc3(", 2, "\\xc3("},
    {"\xe6\x97", 2, "\\xe6\\x97"},
    {"\x80", 1, "\\x80"},
    {"\xc0\xaf", 2, "\\xc0\\xaf"},
    {"\xe0\x80\xaf", 3, "\\xe0\\x80\\xaf"},
    {"\xed\xa0\x80", 3, "\\xed\\xa0\\x80"},
    {"\xf4\x90\x80\x80", 4, "\\xf4\\x90\\x80\\x80"},
    {"\xf8\x88\x80\x80\x80", 5, "\\xf8\\x88\\x80\\x80\\x80"},
    {"\xc2\x9b"
     "1m",
     4, "\\xc2\\x9b1m"},
    {"\xc2\xa0", 2, "\xc2\xa0"},
    {"\xe2\x80\xae", 3, "\\xe2\\x80\\xae"},
    {"\xe2\x81\xa6", 3, "\\xe2\\x81\\xa6"},
    {"\xe2\x80\x8f", 3, "\\xe2\\x80\\x8f"},
    {"\xd8\x9c", 2, "\\xd8\\x9c"},
    {"\xe2\x80\xa6", 3, "\xe2\x80\xa6"},
    {"\xe2\x80\xa8", 3, "\\xe2\\x80\\xa8"},
    {"\xe2\x80\xa9", 3, "\\xe2\\x80\\xa9"},
    {"\xe2\x80\x8b", 3, "\\xe2\\x80\\x8b"},
    {"\xc2\x85", 2, "\\xc2\\x85"},
    {"\xc2\xad", 2, "\\xc2\\xad"},
    {"\xe3\x85\xa4", 3, "\\xe3\\x85\\xa4"},
    {"\xef\xbb\xbf", 3, "\\xef\\xbb\\xbf"},
    {"\xef\xbf\xbe", 3, "\\xef\\xbf\\xbe"},
    {"\xf3\xa0\x81\x81", 4, "\\xf3\\xa0\\x81\\x81"},
    {"\xf4\x8f\xbf\xbf", 4, "\\xf4\\x8f\\xbf\\xbf"},
    {"\xf4\x8f\xbf\xbd", 4, "\xf4\x8f\xbf\xbd"},
};

/* The table must be sorted and without overlap, or the search would miss entries. */
static void the_ranges_are_sorted(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(ck_glyph_hidden_ranges); i++) {
        const struct ck_glyph_range *range = &ck_glyph_hidden_ranges[i];
        assert_true(range->first <= range->last);
        assert_true(i == 0 || range[-1].last < range->first);
        assert_true(ck_glyph_hidden(range->first) && ck_glyph_hidden(range->last));
        assert_false(ck_glyph_hidden(range->last + 1) && range->last + 1 != 0xfffe);
    }
}

static void bytes_are_escaped(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char buffer[64];
        memset(buffer, 'Z', sizeof(buffer));
        assert_ptr_equal(ck_quote(buffer, sizeof(buffer), rows[i].source, rows[i].length), buffer);
        assert_string_equal(buffer, rows[i].shown);
    }
}

static void a_style_escapes_what_its_reader_would_misread(void **state)
{
    (void)state;
    static const struct {
        const char *source;
        const char *shown;
        const char *bash;
    } styles[] = {
        {"plain", "plain", "plain"},
        {"it's \\", "it's \\", "it\\'s \\\\"},
        {"a\nb\tc\r", "a\\x0ab\\x09c\\x0d", "a\\x0ab\\x09c\\x0d"},
        {"\xff\xc3\xa9\xe2\x80\xae", "\\xff\xc3\xa9\\xe2\\x80\\xae", "\\xff\xc3\xa9\\xe2\\x80\\xae"},
    };
    for (size_t i = 0; i < COUNT(styles); i++) {
        char buffer[64];
        size_t length = strlen(styles[i].source);
        assert_ptr_equal(ck_quote_as(CK_QUOTE_SHOWN, buffer, sizeof(buffer), styles[i].source, length), buffer);
        assert_string_equal(buffer, styles[i].shown);
        (void)ck_quote_as(CK_QUOTE_BASH, buffer, sizeof(buffer), styles[i].source, length);
        assert_string_equal(buffer, styles[i].bash);
    }
}

static void every_byte_alone_is_shown_in_printable_ascii(void **state)
{
    (void)state;
    for (unsigned value = 0; value < 256; value++) {
        char source = (char)value;
        char buffer[16];
        ck_quote(buffer, sizeof(buffer), &source, 1);
        assert_true(strlen(buffer) >= 1);
        for (const char *at = buffer; *at != '\0'; at++)
            assert_true(*at >= 0x20 && *at < 0x7f);
    }
}

static void long_text_ends_in_dots(void **state)
{
    (void)state;
    char buffer[10];
    assert_string_equal(ck_quote(buffer, sizeof(buffer), "123456789", 9), "123456789");
    assert_string_equal(ck_quote(buffer, sizeof(buffer), "1234567890", 10), "123456...");
    assert_string_equal(ck_quote(buffer, sizeof(buffer), "12345\n", 6), "12345\\n");
    assert_string_equal(ck_quote(buffer, sizeof(buffer), "12345\x01yz", 8), "12345...");
    assert_string_equal(ck_quote(buffer, sizeof(buffer), "12345\xc3\xa9xyz", 10), "12345...");
    assert_string_equal(ck_quote(buffer, sizeof(buffer), "\x01\x02\x03", 3), "\\x01...");
}

static void nothing_is_written_beyond_the_buffer(void **state)
{
    (void)state;
    static const char source[] = "ab\x01\xc3\xa9\n\xf0\x9f\x98\x80'tail";
    for (size_t size = 0; size < 40; size++) {
        char buffer[48];
        memset(buffer, 'Z', sizeof(buffer));
        ck_quote(buffer, size, source, sizeof(source) - 1);
        for (size_t i = size; i < sizeof(buffer); i++)
            assert_int_equal(buffer[i], 'Z');
        if (size > 0) {
            assert_non_null(memchr(buffer, '\0', size));
            assert_true(ck_quote_utf8_valid(buffer, strlen(buffer)));
        }
    }
}

static void the_macro_is_bounded(void **state)
{
    (void)state;
    char source[2 * CK_QUOTE_MAX];
    memset(source, 'x', sizeof(source));
    source[sizeof(source) - 1] = '\0';
    const char *shown = CK_QUOTE(source);
    assert_int_equal(strlen(shown), CK_QUOTE_MAX - 1);
    assert_string_equal(shown + strlen(shown) - 3, "...");
}

static void sequences_are_measured(void **state)
{
    (void)state;
    static const struct {
        const char *source;
        size_t length;
        size_t bytes;
    } sequences[] = {
        {"", 0, 0},
        {"a", 1, 1},
        {"\0", 1, 1},
        {"\x7f", 1, 1},
        {"\xc2\x80", 2, 2},
        {"\xdf\xbf", 2, 2},
        {"\xe0\xa0\x80", 3, 3},
        {"\xed\x9f\xbf", 3, 3},
        {"\xee\x80\x80", 3, 3},
        {"\xf0\x90\x80\x80", 4, 4},
        {"\xf4\x8f\xbf\xbf", 4, 4},
        {"\xc1\xbf", 2, 0},
        {"\xe0\x9f\xbf", 3, 0},
        {"\xf0\x8f\xbf\xbf", 4, 0},
        {"\xf5\x80\x80\x80", 4, 0},
        {"\xc2\x80", 1, 0},
        {"\xe0\xa0\x80", 2, 0},
        {"\xf0\x90\x80\x80", 3, 0},
        {"\xc2 ", 2, 0},
        {"\xbf", 1, 0},
    };
    for (size_t i = 0; i < COUNT(sequences); i++)
        assert_int_equal(ck_glyph_sequence(sequences[i].source, sequences[i].length), sequences[i].bytes);
}

static void text_is_valid_as_a_whole_or_not(void **state)
{
    (void)state;
    assert_true(ck_quote_utf8_valid("", 0));
    assert_true(ck_quote_utf8_valid("a\xc3\xa9z", 4));
    assert_false(ck_quote_utf8_valid("a\xc3\xa9z\xff", 5));
    assert_false(ck_quote_utf8_valid("a\xc3", 2));
}

static void the_last_line_is_found(void **state)
{
    static const struct {
        const char *said, *line;
    } cases[] = {
        {"one\ntwo\n", "two"},  {"one\n\ttwo \r\n\n \n", "two"},
        {"alone", "alone"},     {"a\n\033[31mred", "\\x1b[31mred"},
        {"it's\n", "it\\x27s"}, {"", ""},
        {" \n\r\n", ""},
    };
    char line[CK_QUOTE_MAX];
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        bool found = ck_quote_last_line(CK_QUOTE_SINGLE, line, sizeof(line), cases[i].said, strlen(cases[i].said));
        assert_int_equal(found, cases[i].line[0] != '\0');
        assert_string_equal(line, cases[i].line);
    }
    assert_true(ck_quote_last_line(CK_QUOTE_SINGLE, line, sizeof(line), "a\0b\n\0", 5));
    assert_string_equal(line, "a\\x00b");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_escaped),
        cmocka_unit_test(a_style_escapes_what_its_reader_would_misread),
        cmocka_unit_test(the_ranges_are_sorted),
        cmocka_unit_test(every_byte_alone_is_shown_in_printable_ascii),
        cmocka_unit_test(long_text_ends_in_dots),
        cmocka_unit_test(nothing_is_written_beyond_the_buffer),
        cmocka_unit_test(the_macro_is_bounded),
        cmocka_unit_test(sequences_are_measured),
        cmocka_unit_test(text_is_valid_as_a_whole_or_not),
        cmocka_unit_test(the_last_line_is_found),
    };
    return cmocka_run_group_tests_name("quote", tests, NULL, NULL);
}
