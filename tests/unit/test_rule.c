/* test_rule.c - which rule of a gate lists a host. */
#include "egress/rule.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct ck_rule_list list_of(const char *const *texts, size_t count)
{
    struct ck_destination rules[8] = {0};
    struct ck_rule_list list;
    const char *why = NULL;
    for (size_t i = 0; i < count; i++)
        assert_int_equal(ck_destination_parse(texts[i], &rules[i], &why), 0);
    assert_int_equal(ck_rule_list_copy(rules, count, &list), 0);
    return list;
}

static const char *find(const struct ck_rule_list *list, const char *name, uint16_t port, char *buffer)
{
    struct ck_hostname host;
    const char *why = NULL;
    assert_int_equal(ck_destination_parse_host(name, strlen(name), &host, &why), 0);
    const struct ck_destination *found = ck_rule_find(list, &host, port);
    return found ? ck_destination_text(found, buffer) : "";
}

static void the_rule_that_lists_a_host_is_found(void **state)
{
    static const char *const texts[] = {"a.org:443", "*.a.org", "b.org", "b.org:8080 opaque", "10.0.0.0/8:80"};
    static const struct {
        const char *host;
        uint16_t port;
        const char *rule;
    } rows[] = {
        {"a.org", 443, "a.org:443"},
        {"A.ORG.", 443, "a.org:443"},
        {"a.org", 80, ""},
        {"x.a.org", 80, "*.a.org"},
        {"xa.org", 443, ""},
        {"b.org", 80, "b.org"},
        {"b.org", 8080, "b.org:8080 opaque"},
        {"10.9.8.7", 80, "10.0.0.0/8:80"},
        {"10.9.8.7", 81, ""},
        {"[::ffff:10.9.8.7]", 80, ""},
        {"c.org", 443, ""},
        {"b.org", 0, ""},
    };
    (void)state;
    struct ck_rule_list list = list_of(texts, COUNT(texts));
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[CK_DESTINATION_TEXT_SIZE];
        assert_string_equal(find(&list, rows[i].host, rows[i].port, text), rows[i].rule);
    }
    ck_rule_list_done(&list);
}

static void nothing_is_in_an_empty_list(void **state)
{
    (void)state;
    struct ck_rule_list list = list_of(NULL, 0);
    char text[CK_DESTINATION_TEXT_SIZE];
    assert_string_equal(find(&list, "a.org", 443, text), "");
    assert_string_equal(find(&list, "127.0.0.1", 443, text), "");
    ck_rule_list_done(&list);
    ck_rule_list_done(&list);
}

static void a_list_has_a_bound(void **state)
{
    (void)state;
    static struct ck_destination rules[CK_RULES_MAX + 1];
    struct ck_rule_list list;
    assert_int_equal(ck_rule_list_copy(rules, COUNT(rules), &list), -E2BIG);
    assert_int_equal(ck_rule_list_copy(rules, CK_RULES_MAX, &list), 0);
    ck_rule_list_done(&list);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rule_that_lists_a_host_is_found),
        cmocka_unit_test(nothing_is_in_an_empty_list),
        cmocka_unit_test(a_list_has_a_bound),
    };
    return cmocka_run_group_tests_name("rule", tests, NULL, NULL);
}
