/* test_clock.c - the units of one clock agree, and it is the monotonic one. */
#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void units_are_of_one_monotonic_clock(void **state)
{
    (void)state;
    struct timespec before, after;
    assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &before), 0);
    uint64_t ns = ck_clock_now_ns(), us = ck_clock_now_us(), ms = ck_clock_now_ms();
    assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &after), 0);
    assert_true(ns >= (uint64_t)before.tv_sec * CK_NS_PER_S + (uint64_t)before.tv_nsec);
    assert_true(us >= ns / CK_NS_PER_US && ms >= ns / CK_NS_PER_MS);
    assert_true(ms * CK_NS_PER_MS <= (uint64_t)after.tv_sec * CK_NS_PER_S + (uint64_t)after.tv_nsec);
    assert_true(us / 1000 <= ms);
}

static void the_time_of_day_is_that_of_the_system(void **state)
{
    (void)state;
    time_t before = time(NULL);
    struct timespec now = ck_clock_real_time();
    assert_true(now.tv_sec >= before && now.tv_sec <= time(NULL) + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_are_of_one_monotonic_clock),
        cmocka_unit_test(the_time_of_day_is_that_of_the_system),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
