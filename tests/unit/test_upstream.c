/* test_upstream.c - the URL and the credentials of a site's proxy. */
#include "base/upstream.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct valid_row {
    const char *text;
    bool may_have_user;
    const char *shown;
    const char *authorization;
} valid[] = {
    {"http://proxy.example.org:3128", false, "http://proxy.example.org:3128", ""},
    {"HTTP://Proxy.Example.ORG.:3128/", false, "http://proxy.example.org:3128", ""},
    {"http://10.0.0.1:8080", false, "http://10.0.0.1:8080", ""},
    {"http://[2001:db8::1]:8080", false, "http://[2001:db8::1]:8080", ""},
    {"http://proxy:1", true, "http://proxy:1", ""},
    {"proxy.example.org:3128", true, "http://proxy.example.org:3128", ""},
    {"http://user:pass@proxy:1", true, "http://proxy:1", "Basic dXNlcjpwYXNz"},
    {"user:pass@proxy:1", true, "http://proxy:1", "Basic dXNlcjpwYXNz"},
    {"http://user@proxy:1/", true, "http://proxy:1", "Basic dXNlcjo="},
    {"http://us%65r:p%3Ass@proxy:1", true, "http://proxy:1", "Basic dXNlcjpwOnNz"},
    {"http://a:b@c@proxy:1", true, "http://proxy:1", "Basic YTpiQGM="},
};

static void url_is_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(valid); i++) {
        struct ck_upstream upstream;
        const char *reason = "";
        if (ck_upstream_parse(valid[i].text, valid[i].may_have_user, &upstream, &reason) != 0)
            fail_msg("'%s' was refused: it %s", valid[i].text, reason);
        assert_string_equal(upstream.text, valid[i].shown);
        assert_string_equal(upstream.authorization, valid[i].authorization);
        assert_int_not_equal(upstream.port, 0);
    }
}

static const struct invalid_row {
    const char *text;
    bool may_have_user;
    const char *reason;
} invalid[] = {
    {"proxy:1", false, "does not begin with http://"},
    {"https://proxy:1", true, "does not begin with http://"},
    {"socks5://proxy:1", true, "does not begin with http://"},
    {"http://user:pass@proxy:1", false, "has a user name"},
    {"http://proxy", true, "has no port"},
    {"http://proxy:", true, "has no valid port"},
    {"http://proxy:0", true, "has no valid port"},
    {"http://proxy:65536", true, "has no valid port"},
    {"http://proxy:1/path", true, "has no valid port"},
    {"http://[::1]", true, "has no port"},
    {"http://::1:80", true, "has an IPv6 address without brackets"},
    {"http://:80", true, NULL},
    {"http://127.1:80", true, NULL},
    {"http://a b:80", true, NULL},
    {"http://u:p%4@proxy:1", true, "has a '%'"},
    {"http://u:p%zz@proxy:1", true, "has a '%'"},
    {"http://u:p%0a@proxy:1", true, "has a control character"},
    {"", true, NULL},
    {"http://", true, NULL},
    {"@", true, NULL},
    {"/", true, NULL},
};

/* The reason must not repeat what may be a password. */
static void invalid_url_is_refused_without_being_quoted(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(invalid); i++) {
        struct ck_upstream upstream = {0};
        const char *reason = NULL;
        if (ck_upstream_parse(invalid[i].text, invalid[i].may_have_user, &upstream, &reason) != -EINVAL)
            fail_msg("'%s' was accepted", invalid[i].text);
        assert_non_null(reason);
        if (invalid[i].reason && strncmp(reason, invalid[i].reason, strlen(invalid[i].reason)) != 0)
            fail_msg("'%s': it %s", invalid[i].text, reason);
        assert_int_equal(upstream.port, 0);
    }
}

static void credentials_are_bounded_and_in_one_line(void **state)
{
    (void)state;
    struct ck_upstream upstream = {0};
    const char *reason;
    char text[CK_UPSTREAM_CREDENTIALS_MAX + 1];
    memset(text, 'x', sizeof(text));
    assert_int_equal(ck_upstream_set_credentials(&upstream, text, 8, &reason), -EINVAL); /* no colon */
    text[3] = ':';
    assert_int_equal(ck_upstream_set_credentials(&upstream, text, sizeof(text), &reason), -EINVAL);
    assert_int_equal(ck_upstream_set_credentials(&upstream, text, sizeof(text) - 1, &reason), 0);
    assert_int_equal(strlen(upstream.authorization), sizeof(upstream.authorization) - 1);
    assert_int_equal(ck_upstream_set_credentials(&upstream, "a:b\r\nX: y", 9, &reason), -EINVAL);
    assert_int_equal(ck_upstream_set_credentials(&upstream, "a:b\0c", 5, &reason), -EINVAL);
    assert_int_equal(ck_upstream_set_credentials(&upstream, "", 0, &reason), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(url_is_read),
        cmocka_unit_test(invalid_url_is_refused_without_being_quoted),
        cmocka_unit_test(credentials_are_bounded_and_in_one_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
