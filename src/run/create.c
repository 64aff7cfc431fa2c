/*
 * create.c - see create.h.
 *
 * The legacy clone call is the usual way, because seccomp profiles of container engines answer clone3 with ENOSYS.
 * clone3 is used only to be born in a cgroup, which nothing else can do without a window in which the child stands
 * outside.
 */
#include "run/create.h"

#include "run/raw.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>

/* OTHER_: of the calls of 32 bits on the same processor. clone and prctl have the same numbers on both. */
#if defined(__x86_64__)
#define OWN_ARCH AUDIT_ARCH_X86_64
#define OTHER_ARCH AUDIT_ARCH_I386
#define OTHER_UNSHARE 310
#elif defined(__aarch64__)
#define OWN_ARCH AUDIT_ARCH_AARCH64
#define OTHER_ARCH AUDIT_ARCH_ARM
#define OTHER_UNSHARE 337
#else
#error "the audit architecture of this machine is not known to create.c"
#endif
#define FOREIGN_BIT 0x40000000u /* the numbers of x32; no other system has calls up there */
#define OTHER_CLONE 120
#define OTHER_PRCTL 172

/*
 * The child comes back from the system call in this same frame and calls child() below it, so nothing above the stack
 * pointer changes while the parent waits. noinline keeps the frame to what is written here.
 */
__attribute__((noinline)) long ck_create_borrowed(ck_create_child child, void *argument, int *ret_pidfd)
{
    uint64_t flags = CLONE_VM | CLONE_VFORK | (ret_pidfd != NULL ? (uint64_t)CLONE_PIDFD : 0);
    long pid = CK_RAW5(clone, flags | SIGCHLD, 0, ret_pidfd, 0, 0);
    if (pid == 0)
        child(argument);
    return pid;
}

__attribute__((noinline)) long ck_create_borrowed_in(ck_create_child child, void *argument, int cgroup_fd)
{
    struct clone_args args = {
        .flags = CLONE_VM | CLONE_VFORK | CLONE_INTO_CGROUP, .exit_signal = SIGCHLD, .cgroup = (unsigned)cgroup_fd};
    long pid = CK_RAW2(clone3, &args, sizeof args);
    if (pid == 0)
        child(argument);
    return pid;
}

long ck_create_copied(ck_create_child child, void *argument, int cgroup_fd)
{
    long pid;
    if (cgroup_fd >= 0) {
        struct clone_args args = {.flags = CLONE_INTO_CGROUP, .exit_signal = SIGCHLD, .cgroup = (unsigned)cgroup_fd};
        pid = CK_RAW2(clone3, &args, sizeof args);
    } else {
        pid = CK_RAW5(clone, SIGCHLD, 0, 0, 0, 0);
    }
    if (pid == 0)
        child(argument);
    return pid;
}

long ck_create_in_namespaces(ck_create_child child, void *argument, bool own_net)
{
    uint64_t flags = CLONE_NEWPID | CLONE_NEWIPC | (own_net ? (uint64_t)CLONE_NEWNET : 0);
    long pid = CK_RAW5(clone, flags | SIGCHLD, 0, 0, 0, 0);
    if (pid == 0)
        child(argument);
    return pid;
}

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, field))
#define LOAD_NEXT(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, field) + 4)
#define GO_ON_IF(value, skip) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(value), 0, skip)

/*
 * A rule of Landlock names a file, and the tool's own file and its loader must be among them for the tool to start. Both
 * are many programs: git is whatever its name says, a loader runs what it is given. So where the entry lists no helper
 * there is one execution more, which this filter knows by a random number in the sixth argument. The kernel does not
 * look at that argument; a filter cannot be read; and the execution clears the registers and leaves this memory.
 */
static long seal(const uint32_t key[2])
{
    struct sock_filter code[] = {
        LOAD(arch),
        GO_ON_IF(OWN_ARCH, 9),
        LOAD(nr),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, FOREIGN_BIT, 7, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_execve, 6, 0),
        GO_ON_IF(__NR_execveat, 4),
        LOAD(args[5]),
        GO_ON_IF(key[0], 3),
        LOAD_NEXT(args[5]),
        GO_ON_IF(key[1], 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
    };
    const struct sock_fprog program = {.len = sizeof code / sizeof code[0], .filter = code};
    return CK_RAW5(prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

/* Both machines keep the lower half of a number first. */
long ck_create_execute_last(int fd, char *const *argv, char *const *envp)
{
    uint32_t key[2] = {0};
    long result = CK_RAW3(getrandom, key, sizeof key, 0);
    if (result != (long)sizeof key)
        return result < 0 ? result : -EIO;
    result = seal(key);
    uint64_t key_argument = (uint64_t)key[1] << 32 | key[0];
    return result < 0 ? result : CK_RAW6(execveat, fd, "", argv, envp, AT_EMPTY_PATH, key_argument);
}

/* ---- what a tracer can follow ---- */

#define IF(test, value, yes, no) BPF_JUMP(BPF_JMP | BPF_K | (test), (uint32_t)(value), yes, no)
#define REFUSE(errnum) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (errnum))
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/*
 *   clone        with CLONE_UNTRACED: a tracer is not told of such a process. With CLONE_NEWUSER, and unshare with it: in
 *                the pid namespace that needs one, what clone returns is no number that the tracer knows.
 *   prctl        PR_SET_DUMPABLE to anything but 1: a tracer without a capability could not read its memory.
 *   clone3       its flags stand in memory, which a filter cannot read. C libraries use clone then.
 *   io_uring_*   the kernel opens and connects on behalf of the process, and no call of the process is seen.
 *
 * Of an argument of 64 bits the lower half is read: it comes first on both systems, and all the flags are in it. Since
 * Linux 5.1 a new call has the same number everywhere.
 */
#define CALLS_OF(clone_nr, unshare_nr, prctl_nr) \
    LOAD(nr), IF(BPF_JGE, FOREIGN_BIT, 0, 1), REFUSE(ENOSYS), IF(BPF_JEQ, clone_nr, 0, 4), LOAD(args[0]), \
        IF(BPF_JSET, CLONE_UNTRACED | CLONE_NEWUSER, 0, 1), REFUSE(EPERM), ALLOW, IF(BPF_JEQ, unshare_nr, 0, 4), \
        LOAD(args[0]), IF(BPF_JSET, CLONE_NEWUSER, 0, 1), REFUSE(EPERM), ALLOW, IF(BPF_JEQ, prctl_nr, 0, 6), \
        LOAD(args[0]), IF(BPF_JEQ, PR_SET_DUMPABLE, 0, 3), LOAD(args[1]), IF(BPF_JEQ, 1, 1, 0), REFUSE(EPERM), ALLOW, \
        IF(BPF_JEQ, __NR_clone3, 0, 1), REFUSE(ENOSYS), IF(BPF_JGE, __NR_io_uring_setup, 0, 2), \
        IF(BPF_JGT, __NR_io_uring_register, 1, 0), REFUSE(ENOSYS), ALLOW
#define CALLS_LENGTH 26

long ck_create_keep_traceable(void)
{
    struct sock_filter code[] = {
        LOAD(arch),
        IF(BPF_JEQ, OWN_ARCH, 0, CALLS_LENGTH),
        CALLS_OF(__NR_clone, __NR_unshare, __NR_prctl),
        IF(BPF_JEQ, OTHER_ARCH, 0, CALLS_LENGTH),
        CALLS_OF(OTHER_CLONE, OTHER_UNSHARE, OTHER_PRCTL),
        REFUSE(ENOSYS),
    };
    const unsigned short length = sizeof code / sizeof code[0];
    _Static_assert(sizeof code / sizeof code[0] == 2 * CALLS_LENGTH + 4,
                   "a jump over the calls of a system leads behind");
    const struct sock_fprog program = {.len = length, .filter = code};
    return CK_RAW5(prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

long ck_create_execute(int fd, const char *path, char *const *argv, char *const *envp)
{
    if (path != NULL)
        return CK_RAW3(execve, path, argv, envp);
    return CK_RAW5(execveat, fd, "", argv, envp, AT_EMPTY_PATH);
}
