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

#if defined(__x86_64__)
#define OWN_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCH AUDIT_ARCH_AARCH64
#else
#error "the audit architecture of this machine is not known to create.c"
#endif
#define FOREIGN_BIT 0x40000000u /* the numbers of x32; no other system has calls up there */

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

long ck_create_caged(ck_create_child child, void *argument, bool own_net)
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
    uint64_t word = (uint64_t)key[1] << 32 | key[0];
    return result < 0 ? result : CK_RAW6(execveat, fd, "", argv, envp, AT_EMPTY_PATH, word);
}

long ck_create_execute(int fd, const char *path, char *const *argv, char *const *envp)
{
    if (path != NULL)
        return CK_RAW3(execve, path, argv, envp);
    return CK_RAW5(execveat, fd, "", argv, envp, AT_EMPTY_PATH);
}
