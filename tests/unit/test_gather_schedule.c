/* test_gather_schedule.c - globs, and which probe starts when. */
#include "gather/files.h"
#include "gather/schedule.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void globs_are_compared_byte_by_byte(void **state)
{
    static const struct {
        const char *glob, *path;
        bool matches;
    } rows[] = {
        {"Dockerfile", "Dockerfile", true},
        {"Dockerfile", "a/Dockerfile", false},
        {"Dockerfile", "Dockerfile2", false},
        {"Dockerfile", "dockerfile", false},
        {"*.ts", "a.ts", true},
        {"*.ts", ".ts", true},
        {"*.ts", "a/b.ts", false},
        {"**/*.ts", "a.ts", true},
        {"**/*.ts", "a/b/c.ts", true},
        {"**/*.ts", "a/b/c.tsx", false},
        {"**/a/b", "a/a/b", true},
        {"**/a/b", "xa/b", false},
        {"src/*/x", "src/a/x", true},
        {"src/*/x", "src/a/b/x", false},
        {"a*b*c", "aXbYbZc", true},
        {"a*b*c", "aXbYbZ", false},
        {"*", "", true},
        {"?", "", false},
        {"?", "/", false},
        {"a?c", "abc", true},
        {"[a-c]x", "bx", true},
        {"[a-c]x", "dx", false},
        {"[!a-c]x", "dx", true},
        {"[!a-c]x", "ax", false},
        {"[]]x", "]x", true},
        {"[a", "[a", true},
        {"a[/]b", "a/b", false},
        {"[!x]", "/", false},
        {"*", "\xff\xfe\n", true},
        {"[\xf0-\xff]", "\xfe", true},
        {"", "", true},
        {"", "a", false},
        {"a**", "abc", true},
    };
    (void)state;

    for (size_t i = 0; i < COUNT(rows); i++)
        if (ck_glob_match(rows[i].glob, rows[i].path) != rows[i].matches)
            fail_msg("row %zu: '%s' '%s'", i, rows[i].glob, rows[i].path);
}

/* A glob that would be tried again from every star is a second's work for each path. */
static void many_stars_do_not_take_long(void **state)
{
    static char path[4000];
    (void)state;
    memset(path, 'a', sizeof(path) - 1);
    assert_false(ck_glob_match("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", path));
}

static const char *const none[] = {NULL};
static const char *const first[] = {"first", NULL};
static const char *const second[] = {"second", NULL};

static const struct ck_probe probes[] = {
    {.name = "alone", .needs = none},
    {.name = "first", .needs = none},
    {.name = "second", .needs = first},
    {.name = "third", .needs = second},
};

struct world {
    struct ck_probe_report reports[COUNT(probes)];
};

static struct world begin(void)
{
    struct world world = {0};
    for (size_t i = 0; i < COUNT(probes); i++)
        world.reports[i].probe = &probes[i];
    return world;
}

static void what_others_need_comes_first(void **state)
{
    struct world world = begin();
    (void)state;

    assert_int_equal(ck_schedule_next(world.reports, 4, 2), 1);
    world.reports[1].state = CK_PROBE_STATE_RUNNING;
    assert_int_equal(ck_schedule_next(world.reports, 4, 2), 0);
    world.reports[0].state = CK_PROBE_STATE_RUNNING;
    assert_int_equal(ck_schedule_next(world.reports, 4, 2), -1);
    assert_int_equal(ck_schedule_next(world.reports, 4, 8), -1);
    world.reports[1].state = CK_PROBE_STATE_OK;
    assert_int_equal(ck_schedule_next(world.reports, 4, 1), -1);
    assert_int_equal(ck_schedule_next(world.reports, 4, 2), 2);
    assert_false(ck_schedule_over(world.reports, 4));
}

static void what_is_given_the_most_time_comes_before_the_rest(void **state)
{
    static const struct ck_probe timed[] = {
        {.name = "short", .needs = none, .timeout_s = 5},
        {.name = "long", .needs = none, .timeout_s = 900},
        {.name = "usual", .needs = none},
        {.name = "also_long", .needs = none, .timeout_s = 900},
    };
    struct ck_probe_report reports[COUNT(timed)] = {0};
    static const int order[] = {1, 3, 0, 2, -1};
    (void)state;

    for (size_t i = 0; i < COUNT(timed); i++)
        reports[i].probe = &timed[i];
    for (size_t i = 0; i < COUNT(order); i++) {
        assert_int_equal(ck_schedule_next(reports, COUNT(timed), 8), order[i]);
        if (order[i] >= 0)
            reports[order[i]].state = CK_PROBE_STATE_RUNNING;
    }
}

static void what_is_not_ok_blocks_those_that_need_it(void **state)
{
    static const enum ck_probe_state ends[] = {CK_PROBE_STATE_FAILED,       CK_PROBE_STATE_TIMEOUT,
                                               CK_PROBE_STATE_TOOL_MISSING, CK_PROBE_STATE_SKIPPED,
                                               CK_PROBE_STATE_REFUSED,      CK_PROBE_STATE_CANCELLED};
    (void)state;

    for (size_t i = 0; i < COUNT(ends); i++) {
        struct world world = begin();
        assert_null(ck_schedule_blocker(world.reports, 4, 2));
        world.reports[1].state = ends[i];
        assert_ptr_equal(ck_schedule_blocker(world.reports, 4, 2), &world.reports[1]);
        assert_null(ck_schedule_blocker(world.reports, 4, 3));
        world.reports[2].state = CK_PROBE_STATE_SKIPPED;
        assert_ptr_equal(ck_schedule_blocker(world.reports, 4, 3), &world.reports[2]);
        world.reports[3].state = CK_PROBE_STATE_SKIPPED;
        world.reports[0].state = CK_PROBE_STATE_OK;
        assert_true(ck_schedule_over(world.reports, 4));
    }
}

static void needs_reach_through_others(void **state)
{
    struct world world = begin();
    (void)state;

    assert_true(ck_schedule_needs(world.reports, 4, 3, 1));
    assert_true(ck_schedule_needs(world.reports, 4, 2, 1));
    assert_false(ck_schedule_needs(world.reports, 4, 1, 3));
    assert_false(ck_schedule_needs(world.reports, 4, 1, 1));
    assert_false(ck_schedule_needs(world.reports, 4, 3, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(globs_are_compared_byte_by_byte),
        cmocka_unit_test(many_stars_do_not_take_long),
        cmocka_unit_test(what_others_need_comes_first),
        cmocka_unit_test(what_is_not_ok_blocks_those_that_need_it),
        cmocka_unit_test(needs_reach_through_others),
        cmocka_unit_test(what_is_given_the_most_time_comes_before_the_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
