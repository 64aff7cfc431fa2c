/* test_base64.c - the vectors of RFC 4648, every length of a last group, and nothing written beyond it. */
#include "base/base64.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void bytes_are_encoded_with_padding(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        const char *text;
    } rows[] = {
        {"", ""},
        {"f", "Zg=="},
        {"fo", "Zm8="},
        {"foo", "Zm9v"},
        {"foob", "Zm9vYg=="},
        {"fooba", "Zm9vYmE="},
        {"foobar", "Zm9vYmFy"},
        {"\xff\xfe\xfd\xfb\xf0", "//79+/A="},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[16];
        size_t length = strlen(rows[i].text);
        memset(text, '#', sizeof(text));
        assert_int_equal(CK_BASE64_LENGTH(strlen(rows[i].bytes)), length);
        ck_base64_encode(text, rows[i].bytes, strlen(rows[i].bytes));
        assert_memory_equal(text, rows[i].text, length);
        assert_int_equal(text[length], '#');
        char back[16];
        size_t back_length;
        memset(back, '#', sizeof(back));
        assert_true(ck_base64_decode(back, &back_length, text, length));
        assert_int_equal(back_length, strlen(rows[i].bytes));
        assert_memory_equal(back, rows[i].bytes, back_length);
        assert_int_equal(back[back_length], '#');
    }
}

static void what_is_no_base64_is_not_decoded(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "Z", "Zg", "Zg=", "Z===", "====", "Zg==Zg==", "Zm9v\n", "Zm-v", "Zm9vYg=a", "=m9v"};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char bytes[16];
        size_t length;
        assert_false(ck_base64_decode(bytes, &length, rows[i], strlen(rows[i])));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bytes_are_encoded_with_padding),
                                       cmocka_unit_test(what_is_no_base64_is_not_decoded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
