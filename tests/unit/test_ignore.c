/* test_ignore.c - patterns of .gitignore. tests/integration/test_lint_walk.py compares the same
 * code with Git itself. */
#include "lint/ignore.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct expectation {
    const char *patterns;
    const char *path; /* with a slash at the end: a directory */
    bool ignored;
};

static const struct expectation expectations[] = {
    /* names at any depth */
    {"a.py", "a.py", true},
    {"a.py", "x/y/a.py", true},
    {"a.py", "a.pyc", false},
    {"a.py", "ba.py", false},
    {"*.py", "x/a.py", true},
    {"*.py", ".py", true},
    {"a?c", "abc", true},
    {"a?c", "ac", false},
    {"a?c", "a/c", false},
    {"*", "x/y", true},
    {"**", "x/y", true},
    {"a*b*c", "aXbYbZc", true},
    {"a*b*c", "aXbYbZ", false},
    /* tied to a directory */
    {"/a.py", "a.py", true},
    {"/a.py", "x/a.py", false},
    {"x/a.py", "x/a.py", true},
    {"x/a.py", "y/x/a.py", false},
    {"x/*", "x/a", true},
    {"x/*", "x/y/a", false},
    {"x/*/a", "x/y/a", true},
    {"x/*/a", "x/a", false},
    /* directories only */
    {"build/", "build/", true},
    {"build/", "build", false},
    {"build/", "x/build/", true},
    {"/build/", "x/build/", false},
    {"*/", "x/", true},
    {"*/", "x", false},
    /* two stars */
    {"**/a", "a", true},
    {"**/a", "x/y/a", true},
    {"**/a", "x/ya", false},
    {"a/**", "a/", false},
    {"a/**", "a/b", true},
    {"a/**", "a/b/c", true},
    {"a/**/b", "a/b", true},
    {"a/**/b", "a/x/y/b", true},
    {"a/**/b", "a/x/y/c", false},
    {"a/**/b/**/c", "a/b/x/b/c", true},
    {"a**b", "a/b", false},
    {"x/a**b", "x/aYYb", true},
    {"**/x/**/y", "1/x/2/3/y", true},
    /* the last one decides */
    {"*.py\n!a.py", "a.py", false},
    {"!a.py\n*.py", "a.py", true},
    {"*.py\n!a.py", "b.py", true},
    {"*.py\n!x/a.py\nx/a.py", "x/a.py", true},
    /* sets */
    {"[ab].c", "a.c", true},
    {"[ab].c", "c.c", false},
    {"[!ab].c", "c.c", true},
    {"[^ab].c", "a.c", false},
    {"[a-c]", "b", true},
    {"[a-c]", "d", false},
    {"[]]", "]", true},
    {"[]-a]", "^", true},
    {"[a-]", "-", true},
    {"[\\]]", "]", true},
    {"[[:digit:]]", "7", true},
    {"[[:digit:]]", "x", false},
    {"[![:digit:]x]", "y", true},
    {"[[:nothing:]]", "n", false},
    {"[a", "[a", false},
    {"[a", "a", false},
    {"x[/]y", "x/y", false},
    /* backslashes, blanks and comments */
    {"\\#a", "#a", true},
    {"#a", "#a", false},
    {"\\!a", "!a", true},
    {"a ", "a", true},
    {"a\\ ", "a ", true},
    {"a\\ ", "a", false},
    {"a\\*", "a*", true},
    {"a\\*", "ab", false},
    {"a\\", "a", false},
    {"a\r\n", "a", true},
    {"\xef\xbb\xbf"
     "a",
     "a", true},
    {"\n\n\na", "a", true},
    {"", "a", false},
    {"/", "a", false},
    {"!", "a", false},
    {"\xff", "\xff", true},
    {"?", "\xc3\xa4", false}, /* bytes */
    {"??", "\xc3\xa4", true},
};

static bool decide(const char *patterns, const char *path)
{
    struct ck_arena arena = {0};
    const struct ck_ignore *ignore = NULL;
    char name[128];
    size_t length = strlen(path);
    bool directory = path[length - 1] == '/';
    (void)snprintf(name, sizeof(name), "%.*s", (int)(length - directory), path);
    assert_int_equal(ck_ignore_parse(&arena, NULL, 0, patterns, strlen(patterns), &ignore), 0);
    bool ignored = ck_ignore_matches(ignore, name, directory);
    ck_arena_done(&arena);
    return ignored;
}

static void patterns_decide_as_git_does(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(expectations); i++)
        if (decide(expectations[i].patterns, expectations[i].path) != expectations[i].ignored)
            fail_msg("'%s' and '%s': %s was expected", expectations[i].patterns, expectations[i].path,
                     expectations[i].ignored ? "ignored" : "not ignored");
}

static void nearer_patterns_come_before_those_further_up(void **state)
{
    struct ck_arena arena = {0};
    const struct ck_ignore *top = NULL, *inner = NULL;
    (void)state;
    assert_int_equal(ck_ignore_parse(&arena, NULL, 0, "*.py\nsub/kept.c", 15, &top), 0);
    assert_int_equal(ck_ignore_parse(&arena, top, strlen("sub/"), "!a.py\n/only", 11, &inner), 0);
    assert_false(ck_ignore_matches(inner, "sub/a.py", false));
    assert_true(ck_ignore_matches(inner, "sub/b.py", false));
    assert_true(ck_ignore_matches(inner, "sub/kept.c", false));
    assert_true(ck_ignore_matches(inner, "sub/only", false));
    assert_false(ck_ignore_matches(inner, "sub/x/only", false));
    assert_int_equal(inner->total, 4);
    ck_arena_done(&arena);
}

static void a_directory_above_takes_what_is_in_it_along(void **state)
{
    struct ck_arena arena = {0};
    const struct ck_ignore *ignore = NULL;
    (void)state;
    assert_int_equal(ck_ignore_parse(&arena, NULL, 0, "tests/", 6, &ignore), 0);
    assert_true(ck_ignore_matches_within(ignore, "tests/a/b.py", false));
    assert_true(ck_ignore_matches_within(ignore, "x/tests/b.py", false));
    assert_false(ck_ignore_matches_within(ignore, "tests", false));
    assert_true(ck_ignore_matches_within(ignore, "tests", true));
    assert_false(ck_ignore_matches_within(NULL, "tests/a", false));
    ck_arena_done(&arena);
}

/* Each of these takes a naive matcher longer than the age of anything. */
static void no_pattern_makes_the_time_explode(void **state)
{
    char stars[256], names[256], deep[600], segments[600];
    (void)state;
    for (size_t i = 0; i + 1 < sizeof(stars); i++) {
        stars[i] = i % 2 == 0 ? '*' : 'a';
        names[i] = 'a';
    }
    stars[sizeof(stars) - 1] = names[sizeof(names) - 1] = '\0';
    stars[sizeof(stars) - 2] = 'b';
    deep[0] = segments[0] = '\0';
    size_t at = 0;
    for (int i = 0; i < 60; i++)
        at += (size_t)snprintf(deep + at, sizeof(deep) - at, "**/a/");
    (void)snprintf(deep + at, sizeof(deep) - at, "b");
    at = 0;
    for (int i = 0; i < 250; i++)
        at += (size_t)snprintf(segments + at, sizeof(segments) - at, "a/");
    (void)snprintf(segments + at, sizeof(segments) - at, "c");
    clock_t before = clock();
    struct ck_arena arena = {0};
    const struct ck_ignore *ignore = NULL;
    assert_int_equal(ck_ignore_parse(&arena, NULL, 0, stars, strlen(stars), &ignore), 0);
    assert_false(ck_ignore_matches(ignore, names, false));
    assert_int_equal(ck_ignore_parse(&arena, NULL, 0, deep, strlen(deep), &ignore), 0);
    assert_false(ck_ignore_matches(ignore, segments, false));
    ck_arena_done(&arena);
    assert_true(clock() - before < 5 * CLOCKS_PER_SEC);
}

static void too_many_patterns_are_refused(void **state)
{
    struct ck_arena arena = {0};
    const struct ck_ignore *ignore = NULL;
    size_t length = 2 * CK_IGNORE_MAX_PATTERNS + 2;
    char *text = malloc(length);
    (void)state;
    assert_non_null(text);
    for (size_t i = 0; i < length; i++)
        text[i] = i % 2 == 0 ? 'a' : '\n';
    assert_int_equal(ck_ignore_parse(&arena, NULL, 0, text, length, &ignore), -E2BIG);
    assert_null(ignore);
    free(text);
    ck_arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_decide_as_git_does),
        cmocka_unit_test(nearer_patterns_come_before_those_further_up),
        cmocka_unit_test(a_directory_above_takes_what_is_in_it_along),
        cmocka_unit_test(no_pattern_makes_the_time_explode),
        cmocka_unit_test(too_many_patterns_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
