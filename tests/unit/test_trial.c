/* test_trial.c - the trials return, succeed if this machine is known to have the layer, and leave
 * nothing. */
#include "run/trial.h"

#include "base/fd.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static struct ck_wire_tried tried[CK_TRIALS];

static void take(void)
{
    struct ck_launcher launcher;
    CK_FD epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    ck_launcher_init(&launcher, epoll_fd);
    assert_int_equal(ck_trial_all(&launcher, tried), 0);
    ck_launcher_done(&launcher);
}

static void every_trial_answers(void **state)
{
    (void)state;
    take();
    for (uint32_t i = 1; i < CK_TRIALS; i++) {
        assert_int_equal(tried[i].trial, i);
        if (tried[i].error == ETIMEDOUT || tried[i].error == ECONNRESET || tried[i].error == EINVAL)
            fail_msg("trial %u: %s", i, strerror(tried[i].error));
    }
}

/* The library cannot work without these, so they succeed wherever this test runs. */
static void what_the_library_itself_needs_holds(void **state)
{
    static const enum ck_trial needed[] = {CK_TRIAL_NO_NEW_PRIVS, CK_TRIAL_SUBREAPER, CK_TRIAL_PIDFD, CK_TRIAL_OPENAT2};
    (void)state;
    take();
    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
        assert_int_equal(tried[needed[i]].error, 0);
}

static void the_caller_is_not_restricted(void **state)
{
    char before[256], after[256];
    int privileges = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
    (void)state;
    assert_int_equal(gethostname(before, sizeof(before)), 0);
    take();
    assert_int_equal(gethostname(after, sizeof(after)), 0);
    assert_string_equal(before, after);
    assert_int_equal(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), privileges);
    assert_int_equal(access("/", R_OK), 0);
}

static void no_child_is_left(void **state)
{
    (void)state;
    take();
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_trial_answers),
        cmocka_unit_test(what_the_library_itself_needs_holds),
        cmocka_unit_test(the_caller_is_not_restricted),
        cmocka_unit_test(no_child_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
