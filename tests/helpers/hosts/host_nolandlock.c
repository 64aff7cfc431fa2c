/*
 * host_nolandlock.c - a kernel without Landlock.
 *
 * host_nolandlock POLICY ROOT ERRNO - answers every system call of Landlock's with ERRNO, as a kernel without it does, and
 * runs "true" (which has execs) and "cat" (which has none).
 */
#include "host.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* The three calls have successive numbers, the same on every machine. */
static void take_landlock_away(unsigned errnum)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, SYS_landlock_create_ruleset, 0, 2),
        BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, SYS_landlock_restrict_self, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | errnum),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {.len = sizeof(filter) / sizeof(filter[0]), .filter = filter};
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0);
}

int main(int argc, char **argv)
{
    CHECK(argc == 4);
    struct choke_context *context = host_context(argv[1]);
    take_landlock_away((unsigned)strtoul(argv[3], NULL, 10));
    struct choke_request request = host_request((const char *const[]){"true", NULL}, argv[2]);
    struct choke_result *result = host_run(context, &request);
    CHECK(result->outcome == CHOKE_JAIL_UNAVAILABLE && !result->jail && !result->layers[0]);
    CHECK(strcmp(result->rule, "tools.true.execs") == 0);
    printf("%s\n", result->error.message);
    choke_result_free(result);
    request = host_request((const char *const[]){"cat", NULL}, argv[2]);
    result = host_run(context, &request);
    CHECK_SAYING(result->outcome == CHOKE_EXITED && result->exit_code == 0, result->error.message);
    choke_result_free(result);
    choke_context_free(context);
    return 0;
}
