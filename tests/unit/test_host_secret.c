/* test_host_secret.c - which requests get a header, what of the tool's head is left out, and the file of authorities. */
#include "egress/authorities.h"
#include "egress/host_secret.h"
#include "egress/http.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct ck_host_secrets *make(const char *const *texts, size_t count)
{
    struct ck_host_secrets *secrets = ck_host_secrets_new();
    struct ck_host_secret parsed;
    const char *value, *reason;
    assert_non_null(secrets);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(ck_host_secret_parse(texts[i], &parsed, &value, &reason), 0);
        assert_int_equal(ck_host_secrets_add(secrets, &parsed, value, strlen(value), &reason), 0);
    }
    return secrets;
}

static void request_is_for_its_host_and_port_alone(void **state)
{
    static const char *const texts[] = {"a.org,X=v", "b.org:8443,Y=v", "b.org:80,Z=v"};
    static const struct {
        const char *host;
        uint16_t port, to; /* to 0: not for a secret */
    } rows[] = {{"a.org", 80, 443}, {"a.org", 443, 443}, {"a.org", 8080, 0}, {"A.ORG.", 80, 443},
                {"x.a.org", 80, 0}, {"aa.org", 80, 0},   {"b.org", 80, 80},  {"b.org", 8443, 8443},
                {"b.org", 443, 0},  {"127.0.0.1", 80, 0}};
    struct ck_host_secrets *secrets = make(texts, COUNT(texts));
    const char *reason;
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct ck_http_request request = {.port = rows[i].port};
        assert_int_equal(ck_destination_parse_host(rows[i].host, strlen(rows[i].host), &request.host, &reason), 0);
        ck_host_secrets_apply(secrets, &request);
        assert_int_equal(!!request.secrets, rows[i].to != 0);
        assert_int_equal(request.port, rows[i].to != 0 ? rows[i].to : rows[i].port);
    }
    struct ck_http_request tunnel = {.connect = true, .port = 443, .host = secrets->items[0].host};
    ck_host_secrets_apply(secrets, &tunnel);
    assert_null(tunnel.secrets);
    ck_host_secrets_release(secrets);
}

static void line_is_the_header_as_it_is_sent(void **state)
{
    static const char *const texts[] = {"a.org,Authorization=Bearer a b"};
    struct ck_host_secrets *secrets = make(texts, 1);
    char names[CK_HOST_SECRET_NAMES_SIZE];
    (void)state;
    assert_int_equal(secrets->items[0].length, strlen("Authorization: Bearer a b\r\n"));
    assert_memory_equal(secrets->items[0].line, "Authorization: Bearer a b\r\n", secrets->items[0].length);
    ck_host_secrets_names(secrets, &secrets->items[0].host, 443, names);
    assert_string_equal(names, "Authorization");
    ck_host_secrets_names(secrets, &secrets->items[0].host, 80, names);
    assert_string_equal(names, "");
    ck_host_secrets_release(secrets);
}

static void list_lives_until_its_last_holder(void **state)
{
    static const char *const texts[] = {"a.org,X=v"};
    struct ck_host_secrets *secrets = make(texts, 1);
    (void)state;
    assert_ptr_equal(ck_host_secrets_hold(secrets), secrets);
    ck_host_secrets_release(secrets);
    assert_string_equal(secrets->items[0].name, "X");
    ck_host_secrets_release(secrets);
    assert_null(ck_host_secrets_hold(NULL));
    ck_host_secrets_release(NULL);
}

static void more_than_the_most_are_refused(void **state)
{
    struct ck_host_secrets *secrets = ck_host_secrets_new();
    struct ck_host_secret parsed;
    const char *value, *reason;
    char text[] = "a.org,X-A=v";
    (void)state;
    for (size_t i = 0; i <= CK_HOST_SECRETS_MAX; i++) {
        text[8] = (char)('A' + i);
        assert_int_equal(ck_host_secret_parse(text, &parsed, &value, &reason), 0);
        assert_int_equal(ck_host_secrets_add(secrets, &parsed, value, 1, &reason),
                         i < CK_HOST_SECRETS_MAX ? 0 : -EINVAL);
    }
    assert_int_equal(secrets->count, CK_HOST_SECRETS_MAX);
    ck_host_secrets_release(secrets);
}

static void text_without_a_certificate_has_no_authorities(void **state)
{
    static const char *const texts[] = {"",
                                        "hello\n",
                                        "-----BEGIN CERTIFICATE-----\n",
                                        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
                                        "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
                                        "-----BEGIN CERTIFICATE-----\n!!!!\n-----END CERTIFICATE-----\n"};
    struct ck_authorities *authorities = NULL;
    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++)
        assert_int_equal(ck_authorities_read(texts[i], strlen(texts[i]), &authorities), -EINVAL);
    assert_null(authorities);
    ck_authorities_free(NULL);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(request_is_for_its_host_and_port_alone),
        cmocka_unit_test(line_is_the_header_as_it_is_sent),
        cmocka_unit_test(list_lives_until_its_last_holder),
        cmocka_unit_test(more_than_the_most_are_refused),
        cmocka_unit_test(text_without_a_certificate_has_no_authorities),
    };
    return cmocka_run_group_tests_name("host_secret", tests, NULL, NULL);
}
