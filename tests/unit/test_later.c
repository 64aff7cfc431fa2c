/*
 * test_later.c - which changes will run by themselves, by their place, their beginning, their target, their text.
 */
#include "sys/later.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void places_that_run_are_known(void **state)
{
    static const char *const paths[][2] = {
        {".git/hooks/pre-commit", "git hook"},
        {"sub/.git/hooks/post-checkout", "git hook"},
        {".git/modules/x/hooks/update", "git hook"},
        {".husky/pre-push", "git hook"},
        {".git/config", "git settings"},
        {".GIT/Config", "git settings"},
        {".git/modules/x/config", "git settings"},
        {"bare.git/config", "git settings"},
        {".git", "git settings"},
        {"sub/.gitattributes", "git settings"},
        {".npmrc", "package settings"},
        {"node_modules/a/index.js", "installed package"},
        {"Makefile", "build file"},
        {"a/b/rules.mk", "build file"},
        {"vite.config.ts", "build file"},
        {"setup.py", "build file"},
        {"tests/conftest.py", "test settings"},
        {".github/workflows/ci.yml", "pipeline"},
        {".vscode/tasks.json", "editor task"},
        {".envrc", "shell settings"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        const char *why = ck_later_place(paths[i][0]);
        if (why == NULL)
            fail_msg("'%s' is not known to run", paths[i][0]);
        assert_string_equal(why, paths[i][1]);
    }
}

static void plain_places_do_not_run(void **state)
{
    static const char *const paths[] = {"README.md", "src/main.c", "githooks.txt",      "a/hooks", "Makefile.txt",
                                        ".mk",       "x.git",      "xnode_modules/a.b", ".",       "github/workflows"};
    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        if (ck_later_place(paths[i]) != NULL)
            fail_msg("'%s' is said to be a %s", paths[i], ck_later_place(paths[i]));
}

static void programs_and_scripts_run(void **state)
{
    (void)state;
    assert_string_equal(ck_later_content("#!/b", 4, false), "script");
    assert_string_equal(ck_later_content("\177ELF", 4, false), "program");
    assert_string_equal(ck_later_content("", 0, true), "executable");
    assert_null(ck_later_content("#", 1, false));
    assert_null(ck_later_content("text", 4, false));
}

static void links_that_lead_out_are_known(void **state)
{
    static const struct {
        const char *path, *target;
        bool out;
    } links[] = {
        {"a", "/etc/passwd", true}, {"a", "..", true},     {"a", "../x", true},        {"d/a", "../../x", true},
        {"d/a", "x/../y", true},    {"a", "./../x", true}, {"d/a", ".//..//..", true}, {"a", "/work/x", true},
        {"d/a", "../x", false},     {"a", "b", false},     {"a", "./b/c", false},      {"d/e/a", "../../b/...", false},
        {"d/a", "..x/y..", false},  {"a", ".", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof links / sizeof links[0]; i++)
        if ((ck_later_link(links[i].path, links[i].target) != NULL) != links[i].out)
            fail_msg("'%s' -> '%s'", links[i].path, links[i].target);
}

static const char *package(const char *before, const char *after)
{
    return ck_later_package(before, before != NULL ? strlen(before) : 0, after, strlen(after));
}

static void package_scripts_are_compared(void **state)
{
    (void)state;
    static const char was[] = "{\"version\": \"1\", \"scripts\": {\"test\": \"a\"}, \"dependencies\": {}}";
    assert_null(package(was, "{\"scripts\":{\"test\":\"a\"},\"dependencies\":{},\"version\":\"2\",\"author\":\"x\"}"));
    assert_string_equal(package(was, "{\"scripts\": {\"test\": \"b\"}, \"dependencies\": {}}"), "package script");
    assert_string_equal(package(was, "{\"dependencies\": {}}"), "package script");
    assert_string_equal(package(was, "{\"scripts\": {\"test\": \"a\"}, \"dependencies\": {\"x\": \"1\"}}"),
                        "package settings");
    assert_string_equal(package(was, "{\"scripts\": {\"test\": \"a\"}}"), "package settings");
    assert_string_equal(package(NULL, "{\"scripts\": {\"postinstall\": \"x\"}}"), "package script");
    assert_null(package(NULL, "{\"name\": \"x\"}"));
}

static void package_that_cannot_be_read_runs(void **state)
{
    (void)state;
    assert_string_equal(package("{}", "{"), "package script");
    assert_string_equal(package("no", "{}"), "package script");
    assert_string_equal(package("{}", "[]"), "package script");
    assert_string_equal(package("{}", "{\"name\": 1, \"name\": 2}"), "package script");
    assert_true(ck_later_is_package("a/package.json"));
    assert_false(ck_later_is_package("a/package.jsonx"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_that_run_are_known),    cmocka_unit_test(plain_places_do_not_run),
        cmocka_unit_test(programs_and_scripts_run),     cmocka_unit_test(links_that_lead_out_are_known),
        cmocka_unit_test(package_scripts_are_compared), cmocka_unit_test(package_that_cannot_be_read_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
