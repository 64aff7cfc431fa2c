/* test_destination.c - a rule has one meaning and one spelling; a host is a plain name or a plain
 * address. */
#include "base/destination.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define A63 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define NAME_253 A63 "." A63 "." A63 ".aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static void a_rule_has_one_spelling(void **state)
{
    static const struct {
        const char *given, *canonical;
    } rows[] = {
        {"example.com", "example.com"},
        {"Example.COM.", "example.com"},
        {"example.com:443", "example.com:443"},
        {"example.com. opaque", "example.com opaque"},
        {"*.Example.com:8443 opaque", "*.example.com:8443 opaque"},
        {"localhost", "localhost"},
        {"xn--bcher-kva.example", "xn--bcher-kva.example"},
        {"_service.example.org", "_service.example.org"},
        {"10.0.0.0/8", "10.0.0.0/8"},
        {"192.0.2.7", "192.0.2.7"},
        {"192.0.2.7/32:80", "192.0.2.7:80"},
        {"2001:DB8:0::1", "2001:db8::1"},
        {"[2001:db8::1]", "2001:db8::1"},
        {"[2001:db8::1]:443", "[2001:db8::1]:443"},
        {"2001:db8::/32", "2001:db8::/32"},
        {"[2001:db8::/32]:443 opaque", "[2001:db8::/32]:443 opaque"},
        {NAME_253 ":65535 opaque", NAME_253 ":65535 opaque"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct ck_destination rule;
        const char *why = "";
        char text[CK_DESTINATION_TEXT_SIZE];
        if (ck_destination_parse(rows[i].given, &rule, &why) != 0)
            fail_msg("'%s' %s", rows[i].given, why);
        assert_string_equal(ck_destination_text(&rule, text), rows[i].canonical);
    }
}

static void networks_with_all_of_ipv4_inside_are_refused(void **state)
{
    static const char *const refused[] = {"::/16",   "::/80",        "::ffff:0:0/96",
                                          "64::/16", "64:ff9b::/96", "64:ff9b::/103"};
    static const char *const taken[] = {"64:ff9b::a00:0/104", "64:ff9b:1::/48", "2001:db8::/32", "::1"};
    struct ck_destination rule;
    const char *why = NULL;
    (void)state;
    for (size_t i = 0; i < COUNT(refused); i++)
        if (ck_destination_parse(refused[i], &rule, &why) == 0 || !strstr(why, "IPv4"))
            fail_msg("'%s'", refused[i]);
    for (size_t i = 0; i < COUNT(taken); i++)
        if (ck_destination_parse(taken[i], &rule, &why) != 0)
            fail_msg("'%s' %s", taken[i], why);
}

static void an_invalid_rule_is_refused_with_a_message(void **state)
{
    static const struct {
        const char *given, *expected_text;
    } rows[] = {
        {"", "is empty"},
        {" opaque", "space"},
        {"*", "every host"},
        {"*.", "every host"},
        {"*.com", "every host"},
        {"*example.com", "every host"},
        {"*.127.0.0.1", "every host"},
        {"a.*.com", "not a host name"},
        {"0.0.0.0/0", "nearly every address"},
        {"8.0.0.0/7", "nearly every address"},
        {"::/0", "nearly every address"},
        {"10.0.0.1/8", "bits set after"},
        {"10.0.0.0/33", "no network length"},
        {"10.0.0.0/08", "no network length"},
        {"10.0.0.0/", "no network length"},
        {"a.org/8", "not an address"},
        {"::ffff:10.0.0.1", "as IPv4"},
        {"[::ffff:10.0.0.0/104]:80", "as IPv4"},
        {"fe80::1%eth0", "zone"},
        {"[fe80::1", "brackets"},
        {"[a.org]:80", "brackets"},
        {"[::1]80", "brackets"},
        {"[::1]:", "port"},
        {"a.org:", "port"},
        {"a.org:0", "port"},
        {"a.org:080", "port"},
        {"a.org:65536", "port"},
        {"a.org:http", "port"},
        {"https://a.org", "URL"},
        {"a.org/path", "not an address"},
        {"user@a.org", "user"},
        {"a..org", "empty label"},
        {".a.org", "empty label"},
        {".", "empty label"},
        {"a.org..", "empty label"},
        {"-a.org", "'-'"},
        {"a-.org", "'-'"},
        {A63 "a.org", "63 bytes"},
        {NAME_253 "a", "longer"},
        {"b\xc3\xbc"
         "cher.example",
         "punycode"},
        {"a\tb", "control"},
        {"a.org  opaque", "space"},
        {"a.org opaque opaque", "space"},
        {"a.org OPAQUE", "space"},
        {"127.1", "looks like an address"},
        {"0x7f.1", "looks like an address"},
        {"0x7f000001", "looks like an address"},
        {"017700000001", "looks like an address"},
        {"2130706433", "looks like an address"},
        {"127.0.0.01", "looks like an address"},
        {"1.2.3.4.5", "looks like an address"},
        {"256.1.1.1", "looks like an address"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct ck_destination rule = {.port = 7};
        const char *why = "";
        if (ck_destination_parse(rows[i].given, &rule, &why) != -EINVAL || !strstr(why, rows[i].expected_text))
            fail_msg("'%s': '%s'", rows[i].given, why);
        assert_int_equal(rule.port, 7); /* written on success only */
    }
}

static void a_longer_text_than_any_rule_is_refused(void **state)
{
    (void)state;
    char text[4096];
    struct ck_destination rule;
    const char *why = NULL;
    memset(text, 'a', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    assert_int_equal(ck_destination_parse(text, &rule, &why), -EINVAL);
}

static void a_rule_covers_what_it_lists_and_nothing_else(void **state)
{
    static const struct {
        const char *outer, *inner;
        bool covers;
    } rows[] = {
        {"a.org", "a.org", true},
        {"a.org", "a.org:443", true},
        {"a.org:443", "a.org", false},
        {"a.org:443", "a.org:80", false},
        {"a.org", "b.a.org", false},
        {"*.a.org", "b.a.org", true},
        {"*.a.org", "c.b.a.org:80", true},
        {"*.a.org", "a.org", false},
        {"*.a.org", "evila.org", false},
        {"*.a.org", "a.org.evil.net", false},
        {"*.a.org", "*.a.org", true},
        {"*.a.org", "*.b.a.org", true},
        {"*.b.a.org", "*.a.org", false},
        {"b.a.org", "*.a.org", false},
        {"a.org", "a.org opaque", false},
        {"a.org opaque", "a.org", true},
        {"10.0.0.0/8", "10.1.2.3", true},
        {"10.0.0.0/8", "10.0.0.0/16", true},
        {"10.0.0.0/16", "10.0.0.0/8", false},
        {"10.0.0.0/9", "10.128.0.0", false},
        {"10.0.0.0/8", "11.0.0.1", false},
        {"10.0.0.0/8:80", "10.0.0.1", false},
        {"2001:db8::/32", "2001:db8:1::1", true},
        {"2001:db8::/33", "2001:db8:8000::1", false},
        {"10.0.0.0/8", "a.org", false},
        {"*.a.org", "10.0.0.1", false},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct ck_destination outer, inner;
        const char *why = "";
        assert_int_equal(ck_destination_parse(rows[i].outer, &outer, &why), 0);
        assert_int_equal(ck_destination_parse(rows[i].inner, &inner, &why), 0);
        if (ck_destination_covers(&outer, &inner) != rows[i].covers)
            fail_msg("'%s' covers '%s'", rows[i].outer, rows[i].inner);
    }
}

static void a_host_is_read_with_its_length(void **state)
{
    (void)state;
    struct ck_hostname host;
    const char *why = NULL;
    assert_int_equal(ck_destination_parse_host("a.orgrest", 5, &host, &why), 0);
    assert_string_equal(host.text, "a.org");
    assert_int_equal(ck_destination_parse_host("a\0b.org", 7, &host, &why), -EINVAL);
    assert_int_equal(ck_destination_parse_host("", 0, &host, &why), -EINVAL);
    assert_int_equal(ck_destination_parse_host("[::1]", 5, &host, &why), 0);
    assert_true(host.numeric && host.address.length == 16 && host.address.bytes[15] == 1);
    assert_string_equal(host.text, "::1");
    assert_int_equal(ck_destination_parse_host("127.0.0.1.", 10, &host, &why), 0);
    assert_true(host.numeric && host.address.length == 4);
    assert_string_equal(host.text, "127.0.0.1");
}

static void a_port_is_a_plain_number(void **state)
{
    (void)state;
    assert_int_equal(ck_destination_parse_port("1", 1), 1);
    assert_int_equal(ck_destination_parse_port("65535", 5), 65535);
    assert_int_equal(ck_destination_parse_port("65536", 5), 0);
    assert_int_equal(ck_destination_parse_port("0", 1), 0);
    assert_int_equal(ck_destination_parse_port("+1", 2), 0);
    assert_int_equal(ck_destination_parse_port(" 1", 2), 0);
    assert_int_equal(ck_destination_parse_port("", 0), 0);
    assert_int_equal(ck_destination_parse_port("123456", 6), 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rule_has_one_spelling),
        cmocka_unit_test(an_invalid_rule_is_refused_with_a_message),
        cmocka_unit_test(networks_with_all_of_ipv4_inside_are_refused),
        cmocka_unit_test(a_longer_text_than_any_rule_is_refused),
        cmocka_unit_test(a_rule_covers_what_it_lists_and_nothing_else),
        cmocka_unit_test(a_host_is_read_with_its_length),
        cmocka_unit_test(a_port_is_a_plain_number),
    };
    return cmocka_run_group_tests_name("destination", tests, NULL, NULL);
}
