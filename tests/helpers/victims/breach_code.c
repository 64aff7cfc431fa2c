/*
 * breach_code.c - attacks that map a program as code.
 *
 * breach_code WAY LOADER PROGRAM [DIR] - has the loader map a program from where no file system keeps it from being code. See
 * breach.h. PROGRAM is copied to that place, and LOADER runs it there with the argument "ran" (which echo prints). What a
 * mount forbids to be executed it also forbids to be mapped as code; a file on no mount is not covered by that rule.
 *   memory     a memory file
 *   sealed     one that is sealed against execve
 *   huge       one of huge pages
 *   secret     one that the kernel itself does not see (memfd_secret)
 *   pipe       a pipe
 *   unnamed    a file without a name in DIR
 *   named      a file in DIR
 *   stdin      what is on stdin, if it is a program: PROGRAM is not copied
 */
#include "breach.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif
#define PROGRAM_MAX ((size_t)1 << 22)

static char content[PROGRAM_MAX];

static ssize_t load(const char *path)
{
    int fd = open(path, O_RDONLY);
    if (fd < 0) {
        return -1;
    }
    ssize_t length = read(fd, content, sizeof(content));
    (void)close(fd);
    return length;
}

/* The loader runs in a child, so that its status is available. */
static const char *run(const char *loader, int fd)
{
    char path[32];
    int status = 0;
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    pid_t pid = fork();
    if (pid == 0) {
        (void)execl(loader, loader, path, "ran", NULL);
        _exit(126);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid) {
        return "fork";
    }
    errno = EACCES;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? NULL : "map";
}

static const char *fill(int fd, char **arguments)
{
    ssize_t length = load(arguments[1]);
    if (length <= 0) {
        return "read";
    }
    return write(fd, content, (size_t)length) == length ? run(arguments[0], fd) : "write";
}

static const char *memory_of(unsigned options, char **arguments)
{
    int fd = memfd_create("code", options);
    return fd < 0 ? "memfd_create" : fill(fd, arguments);
}

static const char *memory(char **arguments)
{
    return memory_of(0, arguments);
}

static const char *sealed(char **arguments)
{
    return memory_of(MFD_NOEXEC_SEAL, arguments);
}

static const char *huge(char **arguments)
{
    return memory_of(MFD_HUGETLB | MFD_NOEXEC_SEAL, arguments);
}

static const char *secret(char **arguments)
{
    int fd = (int)syscall(SYS_memfd_secret, 0);
    return fd < 0 ? "memfd_secret" : run(arguments[0], fd);
}

/* The rest is not needed: the loader reads the head and then maps. */
static const char *through_pipe(char **arguments)
{
    int ends[2];
    ssize_t length = load(arguments[1]);
    if (length <= 0 || pipe(ends) < 0) {
        return "pipe";
    }
    (void)fcntl(ends[1], F_SETFL, O_NONBLOCK);
    return write(ends[1], content, (size_t)length) > 0 ? run(arguments[0], ends[0]) : "write";
}

static const char *unnamed(char **arguments)
{
    int fd = open(arguments[2], O_TMPFILE | O_RDWR, 0700);
    return fd < 0 ? "open" : fill(fd, arguments);
}

static const char *named(char **arguments)
{
    char path[4096];
    (void)snprintf(path, sizeof(path), "%s/code", arguments[2]);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0700);
    return fd < 0 ? "open" : fill(fd, arguments);
}

static const char *from_stdin(char **arguments)
{
    return run(arguments[0], STDIN_FILENO);
}

static const struct breach ways[] = {
    {"memory", 2, memory},     {"sealed", 2, sealed},   {"huge", 2, huge},   {"secret", 2, secret},
    {"pipe", 2, through_pipe}, {"unnamed", 3, unnamed}, {"named", 3, named}, {"stdin", 1, from_stdin},
};

int main(int argc, char **argv)
{
    return BREACH_MAIN(ways);
}
