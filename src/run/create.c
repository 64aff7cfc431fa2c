/*
 * create.c - see create.h.
 *
 * The legacy clone call is the usual way, because seccomp profiles of container engines answer clone3 with ENOSYS.
 * clone3 is used only to be born in a cgroup, which nothing else can do without a window in which the child stands
 * outside.
 */
#include "run/create.h"

#include "run/raw.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stddef.h>

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

long ck_create_caged(ck_create_child child, void *argument)
{
    long pid = CK_RAW5(clone, CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | SIGCHLD, 0, 0, 0, 0);
    if (pid == 0)
        child(argument);
    return pid;
}

long ck_create_execute(int fd, const char *path, char *const *argv, char *const *envp)
{
    if (path != NULL)
        return CK_RAW3(execve, path, argv, envp);
    return CK_RAW5(execveat, fd, "", argv, envp, AT_EMPTY_PATH);
}
