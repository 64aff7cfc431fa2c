/* test_hex.c - hexadecimal digits, encoded and decoded. */
#include "base/hex.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void every_byte_is_two_digits_that_mean_it(void **state)
{
    (void)state;
    for (unsigned value = 0; value < 256; value++) {
        unsigned char byte = (unsigned char)value;
        char text[3];
        ck_hex_encode(text, &byte, 1);
        assert_int_equal(strlen(text), 2);
        assert_int_equal(ck_hex_value(text[0]) * 16 + ck_hex_value(text[1]), (int)value);
    }
}

static void bytes_are_written_in_order_with_a_nul(void **state)
{
    (void)state;
    static const unsigned char bytes[] = {0x00, 0x0f, 0xa5, 0xff};
    char text[10] = "#########";
    ck_hex_encode(text, bytes, sizeof(bytes));
    assert_string_equal(text, "000fa5ff");
    ck_hex_encode(text, bytes, 0);
    assert_string_equal(text, "");
}

static void only_digits_have_a_value(void **state)
{
    (void)state;
    static const char digits[] = "0123456789abcdefABCDEF";
    for (int c = 1; c < 128; c++)
        assert_int_equal(ck_hex_value((char)c) >= 0, !!strchr(digits, c));
    assert_int_equal(ck_hex_value('F'), 15);
    assert_int_equal(ck_hex_value('\0'), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_is_two_digits_that_mean_it),
        cmocka_unit_test(bytes_are_written_in_order_with_a_nul),
        cmocka_unit_test(only_digits_have_a_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
