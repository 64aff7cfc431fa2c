/*
 * fake_kernel.c - a kernel with a fault, simulated by a seccomp filter.
 *
 * fake_kernel WHAT COMMAND [ARG]... - executes COMMAND on a simulated faulty kernel.
 *   landlock    landlock_restrict_self succeeds, and does nothing
 *   seccomp     installing a filter succeeds, by prctl or seccomp, and does nothing
 *   capset      capset succeeds, and does nothing
 *   nolandlock  Landlock is missing
 *   unasked     no filter can have a listener, as under a filter that has one
 *   container   no user namespace can be made, and clone3 is missing, as under a container engine
 *
 * A seccomp filter answers with errno 0 instead of the kernel.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CANNOT 111
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define SKIP_UNLESS(value, count) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (count))
#define ANSWER(errnum) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (errnum))
#define GO_ON BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static struct sock_filter landlock[] = {LOAD(nr), SKIP_UNLESS(SYS_landlock_restrict_self, 1), ANSWER(0), GO_ON};

static struct sock_filter nolandlock[] = {LOAD(nr), SKIP_UNLESS(SYS_landlock_create_ruleset, 1), ANSWER(ENOSYS), GO_ON};

static struct sock_filter capset_call[] = {LOAD(nr), SKIP_UNLESS(SYS_capset, 1), ANSWER(0), GO_ON};

/* Calls of seccomp that install no filter are queries of a library for features. */
static struct sock_filter seccomp_calls[] = {
    LOAD(nr),      SKIP_UNLESS(SYS_seccomp, 5),
    LOAD(args[0]), SKIP_UNLESS(SECCOMP_SET_MODE_FILTER, 7),
    LOAD(args[2]), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 5, 0),
    ANSWER(0),     SKIP_UNLESS(SYS_prctl, 3),
    LOAD(args[0]), SKIP_UNLESS(PR_SET_SECCOMP, 1),
    ANSWER(0),     GO_ON,
};

static struct sock_filter unasked[] = {
    LOAD(nr),      SKIP_UNLESS(SYS_seccomp, 5),
    LOAD(args[1]), BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, SECCOMP_FILTER_FLAG_NEW_LISTENER, 0, 3),
    LOAD(args[2]), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0),
    ANSWER(EBUSY), GO_ON,
};

static struct sock_filter container[] = {
    LOAD(nr),
    SKIP_UNLESS(SYS_clone3, 1),
    ANSWER(ENOSYS),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 1, 0),
    SKIP_UNLESS(SYS_unshare, 3),
    LOAD(args[0]),
    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_NEWUSER, 0, 1),
    ANSWER(EPERM),
    GO_ON,
};

#define FAULT(name, filter) \
    { \
        name, filter, sizeof(filter) / sizeof((filter)[0]) \
    }

static const struct {
    const char *name;
    struct sock_filter *filter;
    unsigned short count;
} faults[] = {FAULT("landlock", landlock),     FAULT("seccomp", seccomp_calls), FAULT("capset", capset_call),
              FAULT("nolandlock", nolandlock), FAULT("unasked", unasked),       FAULT("container", container)};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 2 && i < sizeof(faults) / sizeof(faults[0]); i++) {
        if (strcmp(argv[1], faults[i].name) != 0) {
            continue;
        }
        const struct sock_fprog program = {.len = faults[i].count, .filter = faults[i].filter};
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
            prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0) {
            break;
        }
        (void)execv(argv[2], argv + 2);
        break;
    }
    perror("fake_kernel");
    return CANNOT;
}
