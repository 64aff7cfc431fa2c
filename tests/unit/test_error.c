/* test_error.c - one error, filled once. */
#include "base/error.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void set_fills_everything_and_returns_the_negative_errno(void **state)
{
    (void)state;
    struct choke_error error;
    memset(&error, 0xa5, sizeof error);
    assert_int_equal(ck_error_set(&error, CHOKE_CWD, ENOTDIR, "'%s' is no directory", "x"), -ENOTDIR);
    assert_int_equal(error.outcome, CHOKE_CWD);
    assert_int_equal(error.errnum, ENOTDIR);
    assert_int_equal(error.line, 0);
    assert_int_equal(error.column, 0);
    assert_string_equal(error.message, "'x' is no directory");
}

static void no_errno_returns_einval_and_stays_zero(void **state)
{
    (void)state;
    struct choke_error error;
    assert_int_equal(ck_error_set(&error, CHOKE_INVALID, 0, "bad"), -EINVAL);
    assert_int_equal(error.errnum, 0);
}

static void a_place_is_kept(void **state)
{
    (void)state;
    struct choke_error error;
    memset(&error, 0xa5, sizeof error);
    assert_int_equal(ck_error_at(&error, 6, 5, "unknown key '%s'", "foo"), -EINVAL);
    assert_int_equal(error.outcome, CHOKE_POLICY);
    assert_int_equal(error.line, 6);
    assert_int_equal(error.column, 5);
    assert_string_equal(error.message, "unknown key 'foo'");
}

static void nobody_need_listen(void **state)
{
    (void)state;
    assert_int_equal(ck_error_set(NULL, CHOKE_INVALID, EPERM, "x"), -EPERM);
    assert_int_equal(ck_error_at(NULL, 1, 1, "x"), -EINVAL);
    assert_int_equal(ck_error_oom(NULL), -ENOMEM);
}

static void no_memory_is_told(void **state)
{
    (void)state;
    struct choke_error error;
    assert_int_equal(ck_error_oom(&error), -ENOMEM);
    assert_int_equal(error.errnum, ENOMEM);
    assert_string_equal(error.message, "out of memory");
}

static void long_messages_are_cut(void **state)
{
    (void)state;
    static char words[2 * CHOKE_MESSAGE_MAX];
    memset(words, 'x', sizeof words - 1);
    struct choke_error error;
    assert_int_equal(ck_error_set(&error, CHOKE_INVALID, 0, "%s", words), -EINVAL);
    assert_int_equal(strlen(error.message), CHOKE_MESSAGE_MAX - 1);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(set_fills_everything_and_returns_the_negative_errno),
        cmocka_unit_test(no_errno_returns_einval_and_stays_zero),
        cmocka_unit_test(a_place_is_kept),
        cmocka_unit_test(nobody_need_listen),
        cmocka_unit_test(no_memory_is_told),
        cmocka_unit_test(long_messages_are_cut),
    };
    return cmocka_run_group_tests_name("error", tests, NULL, NULL);
}
