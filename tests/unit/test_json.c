/* test_json.c - the output is JSON, without spaces, never beyond the end of the buffer, and
 * harmless on a terminal. */
#include "base/json.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define TEXT(literal) literal, sizeof(literal) - 1

static const struct {
    const char *bytes;
    size_t length;
    const char *written;
} rows[] = {
    {TEXT(""), "\"\""},
    {TEXT("plain text-1.2"), "\"plain text-1.2\""},
    {TEXT("\"\\/"), "\"\\\"\\\\/\""},
    {TEXT("a\nb\tc\rd"), "\"a\\nb\\tc\\u000dd\""},
    {TEXT("\x01\x1b\x1f\x7f"), "\"\\u0001\\u001b\\u001f\\u007f\""},
    {TEXT("a\0b"), "\"a\\u0000b\""},
    {TEXT("\xc3\xa9\xe6\x97\xa5\xf0\x9f\x98\x80"), "\"\xc3\xa9\xe6\x97\xa5\xf0\x9f\x98\x80\""},
    {TEXT("\xc2\x80\xc2\x9f"), "\"\\u0080\\u009f\""},
    {TEXT("\xc2\xa0"), "\"\xc2\xa0\""},
    {TEXT("\xd8\x9c\xe2\x80\x8e\xe2\x80\x8f"), "\"\\u061c\\u200e\\u200f\""},
    {TEXT("\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaa\xe2\x80\xae"), "\"\\u2028\\u2029\\u202a\\u202e\""},
    {TEXT("\xe2\x81\xa6\xe2\x81\xa9"), "\"\\u2066\\u2069\""},
    {TEXT("\xff"), "{\"base64\":\"/w==\"}"},
    {TEXT("\xff\xfe"), "{\"base64\":\"//4=\"}"},
    {TEXT("a\xff\xfe"), "{\"base64\":\"Yf/+\"}"},
    {TEXT("ab\xc3"), "{\"base64\":\"YWLD\"}"},
    {TEXT("\xed\xa0\x80"), "{\"base64\":\"7aCA\"}"},
    {TEXT("\xc0\xaf"), "{\"base64\":\"wK8=\"}"},
};

static void bytes_are_a_string_or_base64(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char buffer[256];
        struct ck_json json;
        ck_json_init(&json, buffer, sizeof(buffer), false);
        ck_json_bytes(&json, NULL, rows[i].bytes, rows[i].length);
        assert_false(json.full);
        assert_int_equal(ck_json_length(&json), strlen(rows[i].written));
        assert_memory_equal(buffer, rows[i].written, strlen(rows[i].written));
    }
}

static void write_document(struct ck_json *json)
{
    ck_json_open(json, NULL, '{');
    ck_json_text(json, "text", "x\n");
    ck_json_text(json, "nothing", NULL);
    ck_json_word(json, "word", "y");
    ck_json_word(json, "none", NULL);
    ck_json_number(json, "most", UINT64_MAX);
    ck_json_number(json, "zero", 0);
    ck_json_integer(json, "least", INT64_MIN);
    ck_json_integer(json, "minus", -1);
    ck_json_bool(json, "yes", true);
    ck_json_bool(json, "no", false);
    ck_json_open(json, "list", '[');
    ck_json_text(json, NULL, "\xff");
    ck_json_open(json, NULL, '{');
    ck_json_close(json, '}');
    ck_json_number(json, NULL, 7);
    ck_json_close(json, ']');
    ck_json_raw(json, ",\"raw\":1", 8);
    ck_json_bool(json, "last", true);
    ck_json_close(json, '}');
}

#define DOCUMENT \
    "{\"text\":\"x\\n\",\"nothing\":null,\"word\":\"y\",\"none\":null,\"most\":18446744073709551615,\"zero\":0," \
    "\"least\":-9223372036854775808,\"minus\":-1,\"yes\":true,\"no\":false,\"list\":[{\"base64\":\"/w==\"},{},7]," \
    "\"raw\":1,\"last\":true}"

static void members_follow_each_other_without_a_blank(void **state)
{
    char buffer[512];
    struct ck_json json;
    (void)state;
    ck_json_init(&json, buffer, sizeof(buffer), false);
    write_document(&json);
    assert_false(json.full);
    assert_int_equal(ck_json_length(&json), strlen(DOCUMENT));
    assert_memory_equal(buffer, DOCUMENT, strlen(DOCUMENT));
}

/* With every size of the buffer: nothing beyond its end, and a full buffer is reported. */
static void nothing_is_written_after_the_end(void **state)
{
    (void)state;
    for (size_t size = 0; size <= strlen(DOCUMENT) + 8; size++) {
        char buffer[512];
        struct ck_json json;
        memset(buffer, '#', sizeof(buffer));
        ck_json_init(&json, buffer, size, false);
        write_document(&json);
        assert_true(ck_json_length(&json) <= size);
        for (size_t i = size; i < sizeof(buffer); i++)
            assert_int_equal(buffer[i], '#');
        if (size < strlen(DOCUMENT))
            assert_true(json.full);
        if (!json.full)
            assert_memory_equal(buffer, DOCUMENT, strlen(DOCUMENT));
    }
}

static void what_was_written_since_a_mark_can_be_taken_back(void **state)
{
    char buffer[16];
    struct ck_json json;
    (void)state;
    ck_json_init(&json, buffer, sizeof(buffer), false);
    ck_json_open(&json, NULL, '[');
    ck_json_number(&json, NULL, 1);
    struct ck_json_mark mark = ck_json_mark(&json);
    ck_json_text(&json, NULL, "far too long for what is left");
    assert_true(json.full);
    ck_json_rewind(&json, mark);
    assert_false(json.full);
    ck_json_number(&json, NULL, 2);
    ck_json_close(&json, ']');
    assert_int_equal(ck_json_length(&json), 5);
    assert_memory_equal(buffer, "[1,2]", 5);
}

/* A second parser reads what was meant. */
static void every_byte_comes_back(void **state)
{
    (void)state;
    for (unsigned byte = 1; byte < 128; byte++) {
        char buffer[64], bytes[] = {'a', (char)byte, 'z', '\0'};
        struct ck_json json;
        ck_json_init(&json, buffer, sizeof(buffer), false);
        ck_json_open(&json, NULL, '[');
        ck_json_text(&json, NULL, bytes);
        ck_json_close(&json, ']');
        json_t *array = json_loadb(buffer, ck_json_length(&json), 0, NULL);
        assert_non_null(array);
        assert_string_equal(json_string_value(json_array_get(array, 0)), bytes);
        json_decref(array);
    }
}

/* What is in a string is no value, and an escaped quote does not end one. */
static void values_are_counted_before_they_are_made(void **state)
{
    static const struct {
        const char *text;
        size_t values;
    } cases[] = {{"", 1},           {"1", 1}, {"[1,2]", 3}, {"[[],[]]", 5}, {"{\"a\":1}", 2}, {"\"[,{\\\",[\"", 1},
                 {"[\"a,b\",1]", 3}};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        size_t length = strlen(cases[i].text);
        assert_false(ck_json_has_more_values(cases[i].text, length, cases[i].values));
        assert_true(ck_json_has_more_values(cases[i].text, length, cases[i].values - 1));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_a_string_or_base64),
        cmocka_unit_test(members_follow_each_other_without_a_blank),
        cmocka_unit_test(nothing_is_written_after_the_end),
        cmocka_unit_test(what_was_written_since_a_mark_can_be_taken_back),
        cmocka_unit_test(every_byte_comes_back),
        cmocka_unit_test(values_are_counted_before_they_are_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
