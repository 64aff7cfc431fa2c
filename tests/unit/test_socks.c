/* test_socks.c - what a SOCKS client may ask for. */
#include "egress/socks.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define BYTES(text) (const uint8_t *)(text), sizeof(text) - 1

static void a_greeting_must_offer_no_authentication(void **state)
{
    (void)state;
    struct ck_fault fault = {0};
    assert_int_equal(ck_socks_greeting(BYTES("\5"), &fault), 0);
    assert_int_equal(ck_socks_greeting(BYTES("\5\2\0"), &fault), 0);
    assert_int_equal(ck_socks_greeting(BYTES("\5\1\0"), &fault), 3);
    assert_int_equal(ck_socks_greeting(BYTES("\5\3\2\1\0rest"), &fault), 5);
    assert_int_equal(ck_socks_greeting(BYTES("\5\1\2"), &fault), -EPROTO);
    assert_int_equal(fault.code, 0xff);
    assert_int_equal(ck_socks_greeting(BYTES("\5\0"), &fault), -EPROTO);
    assert_int_equal(ck_socks_greeting(BYTES("\4\1"), &fault), -EPROTO);
    assert_int_equal(fault.reason, CK_REASON_UNSUPPORTED);
}

static void hosts_are_read_in_every_form(void **state)
{
    (void)state;
    struct ck_fault fault = {0};
    struct ck_hostname host;
    uint16_t port = 0;
    assert_int_equal(ck_socks_request(BYTES("\5\1\0\3\5A.org\1\273more"), &host, &port, &fault), 12);
    assert_string_equal(host.text, "a.org");
    assert_false(host.numeric);
    assert_int_equal(port, 443);
    assert_int_equal(ck_socks_request(BYTES("\5\1\0\1\12\0\0\1\0\120"), &host, &port, &fault), 10);
    assert_string_equal(host.text, "10.0.0.1");
    assert_true(host.numeric && port == 80);
    assert_int_equal(
        ck_socks_request(BYTES("\5\1\0\4\0\0\0\0\0\0\0\0\0\0\377\377\177\0\0\1\0\120"), &host, &port, &fault), 22);
    assert_string_equal(host.text, "::ffff:127.0.0.1");
    assert_int_equal(ck_socks_request(BYTES("\5\1\0\3\11"
                                            "127.0.0.1\0\120"),
                                      &host, &port, &fault),
                     16);
    assert_true(host.numeric && host.address.length == 4);
}

static void a_request_in_pieces_is_waited_for(void **state)
{
    static const char whole[] = "\5\1\0\3\5a.org\1\273";
    (void)state;
    for (size_t length = 0; length < sizeof(whole) - 1; length++) {
        struct ck_fault fault = {0};
        struct ck_hostname host;
        uint16_t port = 0;
        assert_int_equal(ck_socks_request((const uint8_t *)whole, length, &host, &port, &fault), 0);
    }
}

static void the_rest_is_refused_with_its_code(void **state)
{
    static const struct {
        const char *data;
        size_t length;
        uint8_t code;
        enum ck_reason reason;
    } rows[] = {
        {"\4\1\0\1", 4, 1, CK_REASON_MALFORMED},
        {"\5\2", 2, 7, CK_REASON_UNSUPPORTED},
        {"\5\3", 2, 7, CK_REASON_UNSUPPORTED},
        {"\5\11", 2, 7, CK_REASON_UNSUPPORTED},
        {"\5\1\1", 3, 1, CK_REASON_MALFORMED},
        {"\5\1\0\2xxxx", 8, 8, CK_REASON_UNSUPPORTED},
        {"\5\1\0\3\0\0\120", 7, 8, CK_REASON_NAME},
        {"\5\1\0\3\7a\0b.org\0\120", 14, 8, CK_REASON_NAME},
        {"\5\1\0\3\6"
         "0x7f.1\0\120",
         13, 8, CK_REASON_NAME},
        {"\5\1\0\3\5a.org\0\0", 12, 1, CK_REASON_MALFORMED},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct ck_fault fault = {0};
        struct ck_hostname host;
        uint16_t port = 0;
        ssize_t r = ck_socks_request((const uint8_t *)rows[i].data, rows[i].length, &host, &port, &fault);
        if (r != -EPROTO || fault.code != rows[i].code || fault.reason != rows[i].reason || !fault.message)
            fail_msg("row %zu: %zd, %d, %d", i, r, fault.code, fault.reason);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_greeting_must_offer_no_authentication),
        cmocka_unit_test(hosts_are_read_in_every_form),
        cmocka_unit_test(a_request_in_pieces_is_waited_for),
        cmocka_unit_test(the_rest_is_refused_with_its_code),
    };
    return cmocka_run_group_tests_name("socks", tests, NULL, NULL);
}
