/*
 * peers.c - the bare ways of making a process.
 *
 * These calls bypass the library on purpose: its cost is compared with them. Only the bench links
 * this file.
 */
#include "worker.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* posix_spawn and execve take pointers to char that they never write through. */
static char *const *unconst(const char *const *strings)
{
    union {
        const char *const *in;
        char *const *out;
    } pun = {.in = strings};
    return pun.out;
}

static void add_dup(posix_spawn_file_actions_t *actions, int fd, int target_fd)
{
    if (fd < 0) {
        return;
    }
    int r = posix_spawn_file_actions_adddup2(actions, fd, target_fd);
    if (r != 0) {
        fail_errno("posix_spawn_file_actions_adddup2", r);
    }
}

pid_t peer_posix_spawn(const struct choke_decision *decision, int in_fd, int out_fd, int err_fd)
{
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    add_dup(&actions, in_fd, STDIN_FILENO);
    add_dup(&actions, out_fd, STDOUT_FILENO);
    add_dup(&actions, err_fd, STDERR_FILENO);

    pid_t pid = -1;
    int r = posix_spawn(&pid, decision->tool_path, &actions, NULL, unconst(decision->argv), unconst(decision->env));
    posix_spawn_file_actions_destroy(&actions);
    if (r != 0) {
        fail_errno("posix_spawn", r);
    }
    return pid;
}

/* Without the worker's own pipes: node would make its stdin non-blocking for the worker, too. */
pid_t peer_command(const char *path, const char *const *argv, const char *const *env)
{
    pid_t pid = -1;
    posix_spawn_file_actions_t actions;
    int r = posix_spawn_file_actions_init(&actions);
    for (int fd = 0; fd <= 1 && r == 0; fd++) {
        r = posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
    }
    if (r == 0) {
        r = posix_spawn(&pid, path, &actions, NULL, unconst(argv), unconst(env));
    }
    posix_spawn_file_actions_destroy(&actions);
    if (r != 0) {
        fail_errno(path, r);
    }
    return pid;
}

pid_t peer_fork_exec(const struct choke_decision *decision)
{
    pid_t pid = fork();
    if (pid < 0) {
        fail_errno("fork", errno);
    }
    if (pid == 0) {
        execve(decision->tool_path, unconst(decision->argv), unconst(decision->env));
        _exit(127);
    }
    return pid;
}

static uint64_t timeval_ns(struct timeval time)
{
    return (uint64_t)time.tv_sec * 1000000000U + (uint64_t)time.tv_usec * 1000U;
}

pid_t peer_reap(pid_t pid, struct tally *tally)
{
    int status = 0;
    struct rusage usage;
    pid_t reaped = wait4(pid, &status, 0, &usage);
    if (reaped < 0) {
        fail_errno("wait4", errno);
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fail("a tool failed", "started by a peer");
    }
    tally->runs++;
    tally->tool_cpu_ns += timeval_ns(usage.ru_utime) + timeval_ns(usage.ru_stime);
    return reaped;
}
