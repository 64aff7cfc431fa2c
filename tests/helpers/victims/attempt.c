/*
 * attempt.c - executes a file in one of the known ways.
 *
 * attempt WAY PATH [ARG]... - executes PATH in one of the ways there are, with PATH and the ARGs as its arguments.
 *   plain     execve
 *   child     execve in a grandchild, in its own session
 *   thread    execve in a thread that is not the first
 *   procfd    open, then execve of /proc/self/fd/N
 *   execveat  open, then execveat of the descriptor
 *   copy      copied to the working directory, then execve of the copy
 *   hardlink  linked into the working directory, then execve of that name
 *   symlink   the same with a symbolic link
 *   memory    copied to a memory file, then execveat of that
 *   sealed    the same with a memory file that asks to be not executable
 *   numbers   open, at each number that a descriptor may have, then execveat of each
 *   opath     opened without any right to its content, then execveat of the descriptor
 *   home      copied to $HOME, then execve of the copy
 *   mapped    mapped as code, which is what a loader does
 *   protected mapped to be read, then made code
 *   rename    copied to the working directory, which is then renamed over PATH; execve of PATH
 * Where it is refused, it says "refused: " and the errno's name, and ends with status 113.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define REFUSED 113
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

static char *nothing[] = {NULL};

static void give_up(const char *what)
{
    (void)fprintf(stdout, "refused: %s (%s)\n", strerrorname_np(errno), what);
    (void)fflush(stdout);
    _exit(REFUSED);
}

static int open_source(const char *path)
{
    int fd = open(path, O_RDONLY);
    if (fd < 0) {
        give_up("open");
    }
    return fd;
}

static void copy_to(int target_fd, const char *path)
{
    int fd = open_source(path);
    struct stat status;
    if (fstat(fd, &status) < 0) {
        give_up("fstat");
    }
    for (off_t at = 0; at < status.st_size;) {
        if (sendfile(target_fd, fd, &at, (size_t)(status.st_size - at)) <= 0) {
            give_up("sendfile");
        }
    }
    (void)close(fd);
}

static void copy_here(const char *path)
{
    int fd = open("copied", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
    if (fd < 0) {
        give_up("create");
    }
    copy_to(fd, path);
    (void)close(fd);
}

static void plain(const char *path, char **argv)
{
    (void)execve(path, argv, nothing);
}

static void child(const char *path, char **argv)
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        (void)setsid();
        pid = fork();
        if (pid == 0) {
            plain(path, argv);
            give_up("execve");
        }
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid) {
        give_up("fork");
    }
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 99);
}

static void *in_thread(void *argument)
{
    char **argv = argument;
    plain(argv[0], argv);
    give_up("execve");
    return NULL;
}

static void thread(const char *path, char **argv)
{
    pthread_t other;
    (void)path;
    if (pthread_create(&other, NULL, in_thread, argv) == 0) {
        (void)pthread_join(other, NULL);
    }
}

static void procfd(const char *path, char **argv)
{
    char name[64];
    (void)snprintf(name, sizeof(name), "/proc/self/fd/%d", open_source(path));
    (void)execve(name, argv, nothing);
}

static void by_descriptor(const char *path, char **argv)
{
    (void)syscall(SYS_execveat, open_source(path), "", argv, nothing, AT_EMPTY_PATH);
}

/* The process that executed us may have left an open descriptor with the right to it. */
static void numbers(const char *path, char **argv)
{
    int fd = open_source(path);
    for (int number = 3; number < 256; number++) {
        if (number != fd && dup2(fd, number) == number) {
            (void)syscall(SYS_execveat, number, "", argv, nothing, AT_EMPTY_PATH);
        }
    }
    (void)syscall(SYS_execveat, fd, "", argv, nothing, AT_EMPTY_PATH);
}

static void copy(const char *path, char **argv)
{
    copy_here(path);
    (void)execve("./copied", argv, nothing);
}

static void hardlink(const char *path, char **argv)
{
    if (link(path, "linked") < 0) {
        give_up("link");
    }
    (void)execve("./linked", argv, nothing);
}

static void symbolic(const char *path, char **argv)
{
    if (symlink(path, "linked") < 0) {
        give_up("symlink");
    }
    (void)execve("./linked", argv, nothing);
}

static void in_memory(const char *path, char **argv, unsigned flags)
{
    int fd = memfd_create("copied", flags);
    if (fd < 0) {
        give_up("memfd_create");
    }
    copy_to(fd, path);
    (void)syscall(SYS_execveat, fd, "", argv, nothing, AT_EMPTY_PATH);
}

static void memory(const char *path, char **argv)
{
    in_memory(path, argv, 0);
}

static void sealed(const char *path, char **argv)
{
    in_memory(path, argv, MFD_NOEXEC_SEAL);
}

static void by_name_only(const char *path, char **argv)
{
    int fd = open(path, O_PATH);
    if (fd < 0) {
        give_up("open");
    }
    (void)syscall(SYS_execveat, fd, "", argv, nothing, AT_EMPTY_PATH);
}

static void home(const char *path, char **argv)
{
    const char *directory = getenv("HOME");
    if (!directory || chdir(directory) < 0) {
        give_up("chdir");
    }
    copy(path, argv);
}

static void map(const char *path, int first, int then)
{
    void *memory_at = mmap(NULL, 4096, first, MAP_PRIVATE, open_source(path), 0);
    if (memory_at == MAP_FAILED || (then != first && mprotect(memory_at, 4096, then) < 0)) {
        give_up("map");
    }
    (void)puts("mapped");
    exit(0);
}

static void mapped(const char *path, char **argv)
{
    (void)argv;
    map(path, PROT_READ | PROT_EXEC, PROT_READ | PROT_EXEC);
}

static void protected(const char *path, char **argv)
{
    (void)argv;
    map(path, PROT_READ, PROT_READ | PROT_EXEC);
}

static void renamed(const char *path, char **argv)
{
    copy_here("/bin/true");
    if (rename("copied", path) < 0) {
        give_up("rename");
    }
    (void)execve(path, argv, nothing);
}

static const struct {
    const char *name;
    void (*act)(const char *path, char **argv);
} ways[] = {
    {"plain", plain},
    {"child", child},
    {"thread", thread},
    {"procfd", procfd},
    {"execveat", by_descriptor},
    {"copy", copy},
    {"hardlink", hardlink},
    {"symlink", symbolic},
    {"memory", memory},
    {"rename", renamed},
    {"sealed", sealed},
    {"numbers", numbers},
    {"opath", by_name_only},
    {"home", home},
    {"mapped", mapped},
    {"protected", protected},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 2 && i < sizeof(ways) / sizeof(ways[0]); i++) {
        if (strcmp(argv[1], ways[i].name) == 0) {
            ways[i].act(argv[2], argv + 2);
            give_up("execute");
        }
    }
    return 2;
}
