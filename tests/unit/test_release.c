/* test_release.c - the version is found in the real output of tools, and no control byte passes. */
#include "ready/release.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct {
    const char *said;
    const char *version; /* NULL: none */
} cases[] = {
    {"git version 2.39.5\n", "2.39.5"},
    {"git version 2.39.5 (Apple Git-154)\n", "2.39.5"},
    {"v18.19.0\n", "18.19.0"},
    {"jq-1.6\n", "1.6"},
    {"Docker version 20.10.24+dfsg1, build 297e128\n", "20.10.24+dfsg1"},
    {"strace -- version 6.1\nCopyright (c) 1991-2022 The strace developers\n", "6.1"},
    {"ripgrep 13.0.0\n-SIMD -AVX (compiled)\n", "13.0.0"},
    {"Application:     syft\nVersion:         1.4.1\nBuildDate: 2024-05-08T15:10:00Z\n", "1.4.1"},
    {"tree-sitter 0.20.8 (c8b9f1e)\n", "0.20.8"},
    {"bubblewrap 0.8.0\n", "0.8.0"},
    {"1.2.3-rc.1\n", "1.2.3-rc.1"},
    {"tool 1.2.\n", "1.2"},
    {"sha1.2 is no version, 3.4 is\n", "3.4"},
    {"libfoo.so.1.2 then 3.4\n", "3.4"},
    {"\n\n  unreleased \r\nmore\n", "unreleased"},
    {"dev\033[31m\n", "dev\\x1b[31m"},
    {"", NULL},
    {" \n\t\r\n", NULL},
};

static void versions_are_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char release[CK_RELEASE_MAX] = "";
        bool found = ck_release_find(cases[i].said, strlen(cases[i].said), release);
        assert_int_equal(found, !!cases[i].version);
        if (found)
            assert_string_equal(release, cases[i].version);
    }
}

static void a_long_one_is_cut(void **state)
{
    char text[4096], release[CK_RELEASE_MAX];
    (void)state;
    memset(text, '1', sizeof(text));
    text[1] = '.';
    assert_true(ck_release_find(text, sizeof(text), release));
    assert_int_equal(strlen(release), CK_RELEASE_MAX - 1);
}

static void a_nul_ends_nothing_else(void **state)
{
    static const char text[] = "\0\0 4.5\0";
    char release[CK_RELEASE_MAX];
    (void)state;
    assert_true(ck_release_find(text, sizeof(text), release));
    assert_string_equal(release, "4.5");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions_are_found),
        cmocka_unit_test(a_long_one_is_cut),
        cmocka_unit_test(a_nul_ends_nothing_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
