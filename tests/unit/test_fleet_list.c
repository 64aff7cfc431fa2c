/* test_fleet_list.c - LIST: which lines are one repository, which are none, and what a document is named. */
#include "fleet/list.h"

#include "sandbox.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static int parse(const char *text, struct ck_fleet_list *ret_list, struct choke_error *error)
{
    char *copy = strdup(text);
    int r = ck_fleet_list_parse(copy, strlen(text), ret_list, error);
    free(copy);
    return r;
}

static void urls_have_one_form(void **state)
{
    static const struct {
        const char *line, *url, *host;
    } rows[] = {
        {"https://example.org/a/b", "https://example.org/a/b", "example.org"},
        {"HTTPS://EXAMPLE.org:443/a/b///", "https://example.org/a/b", "example.org"},
        {"https://example.org:8443/a", "https://example.org:8443/a", "example.org:8443"},
        {"https://[2001:DB8::1]/a", "https://[2001:db8::1]/a", "[2001:db8::1]"},
        {"https://example.org/~a/b.git", "https://example.org/~a/b.git", "example.org"},
        {"https://example.org/a@b:c", "https://example.org/a@b:c", "example.org"},
        {"https://example.org/a..b/c", "https://example.org/a..b/c", "example.org"},
    };
    (void)state;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct ck_fleet_list list;
        struct choke_error error = {0};
        char host[CK_FLEET_HOST_SIZE];
        assert_int_equal(parse(rows[i].line, &list, &error), 0);
        assert_int_equal(list.count, 1);
        assert_true(list.items[0].is_url);
        assert_string_equal(list.items[0].where, rows[i].url);
        ck_fleet_url_host(list.items[0].where, host);
        assert_string_equal(host, rows[i].host);
        ck_fleet_list_done(&list);
    }
}

static void urls_that_are_refused(void **state)
{
    static const char *const lines[] = {
        "http://example.org/a",
        "git://example.org/a",
        "ssh://git@example.org/a",
        "file:///a",
        "a+b-c.d://x",
        "https://user@example.org/a",
        "https://u:p@example.org/a",
        "https://:p@example.org/a",
        "https://@example.org/a",
        "https://example.org",
        "https://example.org/",
        "https://example.org///",
        "https:///a",
        "https://example.org:/a",
        "https://example.org:0/a",
        "https://example.org:65536/a",
        "https://example.org:443x/a",
        "https://[::1/a",
        "https://example.org/../a",
        "https://example.org/a/..",
        "https://example.org/a?b",
        "https://example.org/a#b",
        "https://example.org/a b",
        "https://example.org/a'b",
        "https://example.org/$(a)",
        "https://example.org/a\\b",
        "https://example.org/a\rb",
        "https://exa_mple\x01.org/a",
        "https://example.org/a\xff",
    };
    (void)state;

    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct ck_fleet_list list;
        struct choke_error error = {0};
        assert_true(parse(lines[i], &list, &error) < 0);
        assert_non_null(strstr(error.message, "line 1 of the list: "));
        /* It could have a password. */
        assert_null(strstr(error.message, "example"));
        ck_fleet_list_done(&list);
    }
}

static void a_url_that_is_too_long_is_refused(void **state)
{
    static char line[4096] = "https://example.org/";
    struct ck_fleet_list list;
    struct choke_error error = {0};

    (void)state;
    memset(line + strlen(line), 'a', sizeof(line) - 1 - strlen(line));
    assert_true(parse(line, &list, &error) < 0);
    ck_fleet_list_done(&list);
}

static void lines_that_lead_to_one_place_are_one(void **state)
{
    const struct sandbox *sandbox = *state;
    char text[8192], first[PATH_MAX], second[PATH_MAX];
    struct ck_fleet_list list;
    struct choke_error error = {0};

    (void)snprintf(text, sizeof(text),
                   "# words\n\n%1$s\n%1$s/\n%1$s/.\nhttps://a.b/c\n%1$s/gone\n%1$s/./gone///\nHTTPS://A.B/c/\n"
                   "%1$s/missing/too\n%1$s/gone/../gone\n",
                   sandbox->path);
    assert_int_equal(parse(text, &list, &error), 0);
    assert_int_equal(list.count, 5);
    assert_int_equal(list.repeated, 4);
    assert_non_null(realpath(sandbox->path, first));
    assert_string_equal(list.items[0].where, first);
    assert_string_equal(list.items[1].where, "https://a.b/c");
    (void)snprintf(second, sizeof(second), "%.4000s/gone", first);
    assert_string_equal(list.items[2].where, second);
    for (size_t i = 0; i < list.count; i++)
        assert_true(ck_fleet_name_is_valid(list.items[i].name));
    ck_fleet_list_done(&list);
}

static void paths_have_one_form(void **state)
{
    static const struct {
        const char *path, *form;
    } rows[] = {
        {"/", "/"},
        {"//", "/"},
        {"/..", "/"},
        {"/nowhere", "/nowhere"},
        {"/nowhere//", "/nowhere"},
        {"/./nowhere", "/nowhere"},
        {"/nowhere/..", "/nowhere/.."},
        {"/nowhere/at/all", "/nowhere/at/all"},
    };
    char directory[PATH_MAX], wanted[PATH_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char *form = ck_fleet_list_path(rows[i].path);
        assert_string_equal(form, rows[i].form);
        free(form);
    }
    assert_non_null(getcwd(directory, sizeof(directory)));
    (void)snprintf(wanted, sizeof(wanted), "%.4000s/nowhere", directory);
    char *form = ck_fleet_list_path("nowhere");
    assert_string_equal(form, wanted);
    free(form);
}

static void names_are_plain(void **state)
{
    static const char *const lines[] = {"/..hidden",  "/-rf",         "/a b/$(c)", "/\xff\xfe", "/.git",
                                        "/.git/.git", "/a/b/c/d.git", "/",         "/\x1b[31m"};
    (void)state;

    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct ck_fleet_list list = {0};
        assert_int_equal(ck_fleet_list_add(&list, strdup(lines[i]), false), 0);
        assert_true(ck_fleet_name_is_valid(list.items[0].name));
        ck_fleet_list_done(&list);
    }
    assert_false(ck_fleet_name_is_valid(""));
    assert_false(ck_fleet_name_is_valid("../0123456789abcdef0123456789abcdef"));
    assert_false(ck_fleet_name_is_valid(".a-0123456789abcdef0123456789abcdef"));
    assert_false(ck_fleet_name_is_valid("short"));
}

static void texts_that_are_no_list(void **state)
{
    struct ck_fleet_list list;
    struct choke_error error = {0};
    char nul[] = "a\0b\n";

    (void)state;
    assert_true(parse("", &list, &error) < 0);
    assert_true(parse("\n# a\n\n", &list, &error) < 0);
    assert_true(ck_fleet_list_parse(nul, sizeof(nul) - 1, &list, &error) < 0);
    assert_non_null(strstr(error.message, "NUL"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(urls_have_one_form),
        cmocka_unit_test(urls_that_are_refused),
        cmocka_unit_test(a_url_that_is_too_long_is_refused),
        cmocka_unit_test_setup_teardown(lines_that_lead_to_one_place_are_one, sandbox_new, sandbox_free),
        cmocka_unit_test(paths_have_one_form),
        cmocka_unit_test(names_are_plain),
        cmocka_unit_test(texts_that_are_no_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
