/*
 * breach_processes.c - attacks on other processes.
 *
 * breach_processes WAY [ARG]... - reaches into other processes, by pid, by descriptor and by /proc. See breach.h.
 *   kill PID SIGNAL        a signal to a process of the host's, by the number it has there
 *   parent SIGNAL          a signal to whoever is the parent
 *   everyone               SIGKILL to all that can be reached but itself
 *   trace WHO, write WHO, descriptor WHO
 *                          traces, writes into the memory of, or takes a descriptor from WHO: a PID, "sibling" for a child
 *                          that another process of this run made, or "init" for the first process of the run
 *   rewrite PATH           writes the content of the file to it again
 *   open_to_write PATH     opens the file for writing only, and writes nothing
 *   replace PROGRAM        has PROGRAM (dd) overwrite the first byte of this tool's own file, by /proc/self/exe
 *   descriptors            reads from a descriptor beyond 2
 *   init_descriptors       opens a file that the first process has open
 *   enter PATH             joins the namespace
 */
#include "breach.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#define WORD "a secret of the other process"

static char secret[] = WORD;

static const char *kill_it(char **arguments)
{
    return kill((pid_t)strtol(arguments[0], NULL, 10), (int)strtol(arguments[1], NULL, 10)) < 0 ? "kill" : NULL;
}

static const char *parent(char **arguments)
{
    return kill(getppid(), (int)strtol(arguments[0], NULL, 10)) < 0 ? "kill" : NULL;
}

static const char *everyone(char **arguments)
{
    (void)arguments;
    return kill(-1, SIGKILL) < 0 ? "kill" : NULL;
}

/* A process that is not a descendant of this one: its parent was a child that has ended. */
static pid_t make_sibling(void)
{
    int pair[2];
    pid_t sibling = -1;
    if (pipe(pair) < 0) {
        exit(BREACH_MISUSED);
    }
    pid_t child = fork();
    if (child == 0) {
        sibling = fork();
        if (sibling == 0) {
            (void)alarm(20);
            (void)pause();
            _exit(0);
        }
        _exit(write(pair[1], &sibling, sizeof(sibling)) == sizeof(sibling) ? 0 : 1);
    }
    if (waitpid(child, NULL, 0) != child || read(pair[0], &sibling, sizeof(sibling)) != sizeof(sibling)) {
        exit(BREACH_MISUSED);
    }
    return sibling;
}

static pid_t find(const char *who)
{
    if (strcmp(who, "sibling") == 0) {
        return make_sibling();
    }
    return strcmp(who, "init") == 0 ? 1 : (pid_t)strtol(who, NULL, 10);
}

static const char *trace(char **arguments)
{
    pid_t pid = find(arguments[0]);
    if (ptrace(PTRACE_ATTACH, pid, NULL, NULL) < 0) {
        return "ptrace";
    }
    (void)waitpid(pid, NULL, __WALL);
    (void)ptrace(PTRACE_DETACH, pid, NULL, NULL);
    return NULL;
}

/* A sibling has its memory at the same addresses; for another process the call itself is the
 * attack. */
static const char *write_memory(char **arguments)
{
    char other[] = "X";
    struct iovec from = {.iov_base = other, .iov_len = 1}, to = {.iov_base = secret, .iov_len = 1};
    ssize_t written = process_vm_writev(find(arguments[0]), &from, 1, &to, 1, 0);
    return written == 1 || (written < 0 && errno == EFAULT) ? NULL : "process_vm_writev";
}

static const char *take_descriptor(char **arguments)
{
    int pid_fd = (int)syscall(SYS_pidfd_open, find(arguments[0]), 0);
    if (pid_fd < 0) {
        return "pidfd_open";
    }
    return syscall(SYS_pidfd_getfd, pid_fd, 1, 0) < 0 ? "pidfd_getfd" : NULL;
}

static const char *rewrite(char **arguments)
{
    char text[4096];
    int fd = open(arguments[0], O_RDWR);
    if (fd < 0) {
        return "open";
    }
    ssize_t length = read(fd, text, sizeof(text));
    if (length <= 0) {
        return "read";
    }
    fd = open(arguments[0], O_WRONLY);
    return write(fd, text, (size_t)length) == length ? NULL : "write";
}

static const char *open_to_write(char **arguments)
{
    int fd = open(arguments[0], O_WRONLY);
    if (fd < 0) {
        return "open";
    }
    (void)close(fd);
    return NULL;
}

/* The file of a running program cannot be written (ETXTBSY): so this process executes another
 * program, which still has it open. */
static const char *replace(char **arguments)
{
    char name[64];
    int fd = open("/proc/self/exe", O_PATH);
    if (fd < 0) {
        return "open";
    }
    (void)snprintf(name, sizeof(name), "of=/proc/self/fd/%d", fd);
    const char *const dd_argv[] = {arguments[0], "if=/dev/zero", name,          "conv=notrunc",
                                   "bs=1",       "count=1",      "status=none", NULL};
    (void)execv(arguments[0], (char **)(uintptr_t)dd_argv);
    return "execv";
}

static const char *descriptors(char **arguments)
{
    char byte;
    (void)arguments;
    for (int fd = 3; fd < 1024; fd++) {
        struct stat status;
        if (fstat(fd, &status) == 0 && (S_ISDIR(status.st_mode) || pread(fd, &byte, 1, 0) == 1)) {
            return NULL;
        }
    }
    errno = EBADF;
    return "descriptors";
}

/* Each link leads to its target if it can be followed. */
static const char *init_descriptors(char **arguments)
{
    char name[64];
    (void)arguments;
    for (int fd = 0; fd < 1024; fd++) {
        (void)snprintf(name, sizeof(name), "/proc/1/fd/%d", fd);
        if (open(name, O_PATH) >= 0) {
            return NULL;
        }
    }
    return "open";
}

static const char *enter(char **arguments)
{
    int fd = open(arguments[0], O_RDONLY);
    if (fd < 0) {
        return "open";
    }
    return setns(fd, 0) < 0 ? "setns" : NULL;
}

static const struct breach ways[] = {
    {"kill", 2, kill_it},       {"parent", 1, parent},
    {"everyone", 0, everyone},  {"trace", 1, trace},
    {"write", 1, write_memory}, {"descriptor", 1, take_descriptor},
    {"rewrite", 1, rewrite},    {"open_to_write", 1, open_to_write},
    {"replace", 1, replace},    {"descriptors", 0, descriptors},
    {"enter", 1, enter},        {"init_descriptors", 0, init_descriptors},
};

int main(int argc, char **argv)
{
    return BREACH_MAIN(ways);
}
