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
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bytes_are_encoded_with_padding)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
