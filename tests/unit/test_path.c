/* test_path.c - a path is beneath a root where the root's text ends at a slash. */
#include "base/path.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void the_rest_after_the_root_is_found(void **state)
{
    (void)state;
    static const struct {
        const char *root;
        const char *path;
        const char *rest;
    } rows[] = {
        {"/a", "/a", ""},     {"/a", "/a/", ""},    {"/a", "/a/b", "b"},  {"/a", "/a//b/c", "b/c"},
        {"/a", "/ab", NULL},  {"/a", "/", NULL},    {"/a/b", "/a", NULL}, {"/", "/", ""},
        {"/", "/a/b", "a/b"}, {"/a", "/b/a", NULL}, {"/a", "", NULL},     {"/", "a", NULL},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *rest = ck_path_beneath(rows[i].root, rows[i].path);
        assert_int_equal(!rest, !rows[i].rest);
        if (rest)
            assert_string_equal(rest, rows[i].rest);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_rest_after_the_root_is_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
