/* test_fleet_claim.c - who may work on a repository: one holder, whoever died before. */
#include "fleet/claim.h"

#include "base/fd.h"
#include "sandbox.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define NAME "repository-0123456789abcdef0123456789abcdef"

static struct ck_claims open_claims(const struct sandbox *sandbox, const char *kind, const char *task,
                                    const char *process)
{
    struct ck_claims claims = {.fd = open(sandbox->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};

    assert_true(claims.fd >= 0);
    if (strcmp(kind, "local") == 0)
        ck_claim_self_local(claims.self);
    else
        ck_claim_self_task(claims.self, kind, "7", task, process);
    return claims;
}

static unsigned count_claims(const struct ck_claims *claims)
{
    char name[128], text[CK_CLAIM_HOLDER_SIZE];
    unsigned count = 0;

    do
        (void)snprintf(name, sizeof(name), NAME "~%u", ++count);
    while (readlinkat(claims->fd, name, text, sizeof(text)) > 0);
    return count - 1;
}

static void one_of_two_gets_it(void **state)
{
    struct ck_claims one = open_claims(*state, "slurm", "1", "0"), two = open_claims(*state, "slurm", "2", "0");
    char holder[CK_CLAIM_HOLDER_SIZE];
    unsigned lost = 9;

    assert_false(ck_claim_any_live(&one));
    assert_int_equal(ck_claim_take(&one, NAME, &lost), CK_CLAIM_TAKEN);
    assert_int_equal(lost, 0);
    assert_int_equal(ck_claim_take(&two, NAME, &lost), CK_CLAIM_HELD);
    assert_true(ck_claim_holder(&two, NAME, holder));
    assert_string_equal(holder, "slurm 7 1 0");
    assert_true(ck_claim_any_live(&two));
    ck_claim_release(&one, NAME);
    assert_false(ck_claim_holder(&two, NAME, holder));
    assert_int_equal(ck_claim_take(&two, NAME, &lost), CK_CLAIM_TAKEN);
    ck_fd_close(&one.fd);
    ck_fd_close(&two.fd);
}

/* The same task, started again: its earlier processes are gone, and each of them counts. */
static void a_successor_takes_over_and_counts_the_lost(void **state)
{
    static const char *const processes[] = {"0", "1", "2", "3"};
    unsigned lost = 9;

    for (unsigned i = 0; i < sizeof(processes) / sizeof(processes[0]); i++) {
        struct ck_claims claims = open_claims(*state, "index", "1", processes[i]);
        assert_int_equal(ck_claim_take(&claims, NAME, &lost), CK_CLAIM_TAKEN);
        assert_int_equal(lost, i);
        assert_int_equal(count_claims(&claims), i + 1);
        /* A request that is made twice, as NFS may, gets what it has. */
        assert_int_equal(ck_claim_take(&claims, NAME, &lost), CK_CLAIM_TAKEN);
        assert_int_equal(count_claims(&claims), i + 1);
        if (i == 3)
            ck_claim_release(&claims, NAME);
        assert_int_equal(count_claims(&claims), i == 3 ? 0 : i + 1);
        ck_fd_close(&claims.fd);
    }
}

/* The process is gone: of a child that has ended, and of one that has another start time. */
static void a_process_that_has_ended_is_taken_over(void **state)
{
    struct ck_claims claims = open_claims(*state, "local", "", "");
    unsigned lost = 9;
    int status;
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        ck_claim_self_local(claims.self);
        _exit(ck_claim_take(&claims, NAME, NULL) == CK_CLAIM_TAKEN ? 0 : 1);
    }
    /* A zombie has ended: nobody has waited for it yet. */
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    assert_int_equal(info.si_status, 0);
    assert_false(ck_claim_any_live(&claims));
    assert_int_equal(ck_claim_take(&claims, NAME, &lost), CK_CLAIM_TAKEN);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    /* Whoever kills a process knows why; only tasks count. */
    assert_int_equal(lost, 0);
    assert_true(ck_claim_any_live(&claims));

    /* Its pid, and another start. */
    struct ck_claims other = claims;
    *strrchr(other.self, ' ') = '\0';
    (void)snprintf(other.self + strlen(other.self), 4, " 1");
    assert_true(ck_claim_is_live(&claims, claims.self));
    assert_false(ck_claim_is_live(&claims, other.self));
    ck_fd_close(&claims.fd);
}

static void what_cannot_be_judged_is_held(void **state)
{
    static const char *const holders[] = {
        "slurm 7 2 0",
        "index monday 0 abc",
        "unknown",
        "local",
        "local a b c",
        "local x/y b c 1 1",
        " ",
        "\n\n\n",
        "of a later version of all this",
        "a b c d e f g h",
    };
    struct ck_claims claims = open_claims(*state, "slurm", "1", "0");

    for (size_t i = 0; i < sizeof(holders) / sizeof(holders[0]); i++) {
        assert_int_equal(symlinkat(holders[i], claims.fd, NAME "~1"), 0);
        assert_int_equal(ck_claim_take(&claims, NAME, NULL), CK_CLAIM_HELD);
        assert_true(ck_claim_any_live(&claims));
        assert_int_equal(unlinkat(claims.fd, NAME "~1", 0), 0);
    }
    /* What is no symlink has the name, too. */
    CK_FD file_fd = openat(claims.fd, NAME "~1", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(file_fd >= 0);
    assert_int_equal(ck_claim_take(&claims, NAME, NULL), CK_CLAIM_HELD);
    ck_fd_close(&claims.fd);
}

static bool is_gone(void *data, const char *holder)
{
    return strcmp(data, holder) == 0;
}

static void what_is_known_to_be_gone_is_taken_over(void **state)
{
    struct ck_claims claims = open_claims(*state, "slurm", "1", "0");
    char gone[] = "slurm 6 1 0";
    unsigned lost = 9;

    assert_int_equal(symlinkat(gone, claims.fd, NAME "~1"), 0);
    assert_int_equal(ck_claim_take(&claims, NAME, &lost), CK_CLAIM_HELD);
    claims.is_gone = is_gone;
    claims.data = gone;
    assert_false(ck_claim_any_live(&claims));
    assert_int_equal(ck_claim_take(&claims, NAME, &lost), CK_CLAIM_TAKEN);
    assert_int_equal(lost, 1);
    ck_claim_release(&claims, NAME);
    assert_int_equal(count_claims(&claims), 0);
    ck_fd_close(&claims.fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_of_two_gets_it, sandbox_new, sandbox_free),
        cmocka_unit_test_setup_teardown(a_successor_takes_over_and_counts_the_lost, sandbox_new, sandbox_free),
        cmocka_unit_test_setup_teardown(a_process_that_has_ended_is_taken_over, sandbox_new, sandbox_free),
        cmocka_unit_test_setup_teardown(what_cannot_be_judged_is_held, sandbox_new, sandbox_free),
        cmocka_unit_test_setup_teardown(what_is_known_to_be_gone_is_taken_over, sandbox_new, sandbox_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
