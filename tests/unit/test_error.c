/* test_error.c - one error, filled once. */
#include "base/error.h"

#include "base/errkind.h"

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
    memset(&error, 0xa5, sizeof(error));
    assert_int_equal(ck_error_set(&error, CHOKE_CWD, ENOTDIR, "'%s' is not a directory", "x"), -ENOTDIR);
    assert_int_equal(error.outcome, CHOKE_CWD);
    assert_int_equal(error.errnum, ENOTDIR);
    assert_int_equal(error.line, 0);
    assert_int_equal(error.column, 0);
    assert_string_equal(error.message, "'x' is not a directory");
}

static void no_errno_returns_einval_and_stays_zero(void **state)
{
    (void)state;
    struct choke_error error;
    assert_int_equal(ck_error_set(&error, CHOKE_INVALID, 0, "bad"), -EINVAL);
    assert_int_equal(error.errnum, 0);
}

static void a_location_is_kept(void **state)
{
    (void)state;
    struct choke_error error;
    memset(&error, 0xa5, sizeof(error));
    assert_int_equal(ck_error_at(&error, 6, 5, "unknown key '%s'", "foo"), -EINVAL);
    assert_int_equal(error.outcome, CHOKE_POLICY);
    assert_int_equal(error.line, 6);
    assert_int_equal(error.column, 5);
    assert_string_equal(error.message, "unknown key 'foo'");
}

static void a_listener_is_optional(void **state)
{
    (void)state;
    assert_int_equal(ck_error_set(NULL, CHOKE_INVALID, EPERM, "x"), -EPERM);
    assert_int_equal(ck_error_at(NULL, 1, 1, "x"), -EINVAL);
    assert_int_equal(ck_error_oom(NULL), -ENOMEM);
}

static void no_memory_is_reported(void **state)
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
    static char long_text[2 * CHOKE_MESSAGE_MAX];
    memset(long_text, 'x', sizeof(long_text) - 1);
    struct choke_error error;
    assert_int_equal(ck_error_set(&error, CHOKE_INVALID, 0, "%s", long_text), -EINVAL);
    assert_int_equal(strlen(error.message), CHOKE_MESSAGE_MAX - 1);
}

/* Only a final answer of the kernel may decide something that lasts; an unknown errno is not final. */
static void an_errno_is_final_or_temporary(void **state)
{
    static const struct {
        int errnum;
        enum ck_errkind kind;
    } cases[] = {
        {EPERM, CK_ERRKIND_REFUSED},      {EACCES, CK_ERRKIND_REFUSED},      {ENOSYS, CK_ERRKIND_REFUSED},
        {EOPNOTSUPP, CK_ERRKIND_REFUSED}, {EINVAL, CK_ERRKIND_REFUSED},      {EROFS, CK_ERRKIND_REFUSED},
        {ENODEV, CK_ERRKIND_REFUSED},     {E2BIG, CK_ERRKIND_REFUSED},       {EPROTO, CK_ERRKIND_REFUSED},
        {ENOENT, CK_ERRKIND_ABSENT},      {ENOTDIR, CK_ERRKIND_ABSENT},      {EAGAIN, CK_ERRKIND_TRANSIENT},
        {ENOMEM, CK_ERRKIND_TRANSIENT},   {ENOSPC, CK_ERRKIND_TRANSIENT},    {EMFILE, CK_ERRKIND_TRANSIENT},
        {ENFILE, CK_ERRKIND_TRANSIENT},   {EINTR, CK_ERRKIND_TRANSIENT},     {ECONNRESET, CK_ERRKIND_TRANSIENT},
        {EPIPE, CK_ERRKIND_TRANSIENT},    {ETIMEDOUT, CK_ERRKIND_TRANSIENT}, {EBUSY, CK_ERRKIND_TRANSIENT},
        {EDQUOT, CK_ERRKIND_TRANSIENT},   {ENOBUFS, CK_ERRKIND_TRANSIENT},   {EUSERS, CK_ERRKIND_TRANSIENT},
        {ESTALE, CK_ERRKIND_TRANSIENT},   {EIO, CK_ERRKIND_TRANSIENT},       {4000, CK_ERRKIND_TRANSIENT},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(ck_errkind_of(cases[i].errnum), cases[i].kind);
        assert_int_equal(ck_error_is_transient(cases[i].errnum), cases[i].kind == CK_ERRKIND_TRANSIENT);
    }
    assert_false(ck_error_is_transient(0));
}

static void a_hint_is_whole_whatever_the_message(void **state)
{
    (void)state;
    struct choke_error error;
    (void)ck_error_set(&error, CHOKE_SPAWN_FAILED, EAGAIN, "cannot");
    ck_error_add_hint(&error);
    assert_string_equal(error.message, "cannot; this may be temporary: try again");
    memset(error.message, 'x', sizeof(error.message) - 1);
    ck_error_add_hint(&error);
    assert_string_equal(error.message + strlen(error.message) - 9, "try again");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_errno_is_final_or_temporary),
        cmocka_unit_test(a_hint_is_whole_whatever_the_message),
        cmocka_unit_test(set_fills_everything_and_returns_the_negative_errno),
        cmocka_unit_test(no_errno_returns_einval_and_stays_zero),
        cmocka_unit_test(a_location_is_kept),
        cmocka_unit_test(a_listener_is_optional),
        cmocka_unit_test(no_memory_is_reported),
        cmocka_unit_test(long_messages_are_cut),
    };
    return cmocka_run_group_tests_name("error", tests, NULL, NULL);
}
