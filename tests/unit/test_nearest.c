/* test_nearest.c - which name is near a wrong one. */
#include "base/nearest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The definition, without a table: for short texts only. */
static size_t model(const char *a, size_t n, const char *b, size_t m)
{
    if (n == 0 || m == 0)
        return n + m;
    size_t best = model(a, n - 1, b, m - 1) + (a[n - 1] == b[m - 1] ? 0 : 1);
    size_t removed = model(a, n - 1, b, m) + 1;
    size_t inserted = model(a, n, b, m - 1) + 1;
    best = removed < best ? removed : best;
    best = inserted < best ? inserted : best;
    if (n > 1 && m > 1 && a[n - 1] == b[m - 2] && a[n - 2] == b[m - 1]) {
        size_t exchanged = model(a, n - 2, b, m - 2) + 1;
        best = exchanged < best ? exchanged : best;
    }
    return best;
}

/* All texts of up to five of three letters, against some others. */
static void distance_is_that_of_the_definition(void **state)
{
    (void)state;
    static const char *const others[] = {"", "a", "ab", "abc", "cba", "abca", "acbac", "bbbbb"};
    for (unsigned code = 0; code < 1024; code++) {
        char text[6];
        size_t length = 0;
        for (unsigned rest = code; rest > 0 && length < 5; rest /= 4)
            text[length++] = (char)('a' + (rest % 4) % 3);
        for (size_t o = 0; o < COUNT(others); o++) {
            size_t m = strlen(others[o]);
            assert_int_equal(ck_nearest_distance(text, length, others[o], m), model(text, length, others[o], m));
            assert_int_equal(ck_nearest_distance(others[o], m, text, length), model(text, length, others[o], m));
        }
    }
}

static const char *const names[] = {"--oneline", "--max-count", "--stat", "-n", "-p", "status", "log", "show", "-"};

static const struct {
    const char *wrong;
    const char *right;
} rows[] = {
    {"--onelin", "--oneline"},
    {"--onleine", "--oneline"},
    {"-oneline", "--oneline"},
    {"--ONELINE", NULL},
    {"--max-c", "--max-count"},
    {"--max_count", "--max-count"},
    {"--n", "-n"},
    {"-x", NULL},
    {"--x", NULL},
    {"stauts", "status"},
    {"statuss", "status"},
    {"stat", "--stat"},
    {"lgo", "log"},
    {"lg", NULL},
    {"push", NULL},
    {"", NULL},
    {"-", NULL},
    {"--", NULL},
    {"---", NULL},
    {"--exec-path", NULL},
};

static void only_near_names_are_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct ck_nearest nearest;
        ck_nearest_begin(&nearest, rows[i].wrong, strlen(rows[i].wrong));
        for (size_t k = 0; k < COUNT(names); k++)
            ck_nearest_offer(&nearest, names[k]);
        if (nearest.best != rows[i].right &&
            (!nearest.best || !rows[i].right || strcmp(nearest.best, rows[i].right) != 0))
            fail_msg("'%s': %s", rows[i].wrong, nearest.best ? nearest.best : "none");
    }
}

static void long_names_are_near_nothing(void **state)
{
    (void)state;
    char text[CK_NEAREST_MAX + 2];
    memset(text, 'a', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    struct ck_nearest nearest;
    ck_nearest_begin(&nearest, text, CK_NEAREST_MAX + 1);
    ck_nearest_offer(&nearest, text);
    assert_null(nearest.best);
    ck_nearest_begin(&nearest, text, CK_NEAREST_MAX);
    ck_nearest_offer(&nearest, text);
    assert_null(nearest.best);
    ck_nearest_offer(&nearest, text + 1);
    assert_ptr_equal(nearest.best, text + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distance_is_that_of_the_definition),
        cmocka_unit_test(only_near_names_are_found),
        cmocka_unit_test(long_names_are_near_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
