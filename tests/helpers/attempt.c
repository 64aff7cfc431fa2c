/*
 * attempt WAY PATH [ARG]... - executes PATH in one of the ways there are, with PATH and the ARGs as its arguments.
 *   plain     execve
 *   child     execve in a grandchild, in a session of its own
 *   thread    execve in a thread that is not the first
 *   procfd    open, then execve of /proc/self/fd/N
 *   execveat  open, then execveat of the descriptor
 *   copy      copied to the working directory, then execve of the copy
 *   hardlink  linked into the working directory, then execve of that name
 *   symlink   the same with a symbolic link
 *   memory    copied to a memory file, then execveat of that
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
    (void)snprintf(name, sizeof name, "/proc/self/fd/%d", open_source(path));
    (void)execve(name, argv, nothing);
}

static void by_descriptor(const char *path, char **argv)
{
    (void)syscall(SYS_execveat, open_source(path), "", argv, nothing, AT_EMPTY_PATH);
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

static void memory(const char *path, char **argv)
{
    int fd = memfd_create("copied", 0);
    if (fd < 0) {
        give_up("memfd_create");
    }
    copy_to(fd, path);
    (void)syscall(SYS_execveat, fd, "", argv, nothing, AT_EMPTY_PATH);
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
    {"plain", plain}, {"child", child},       {"thread", thread},    {"procfd", procfd}, {"execveat", by_descriptor},
    {"copy", copy},   {"hardlink", hardlink}, {"symlink", symbolic}, {"memory", memory}, {"rename", renamed},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 2 && i < sizeof ways / sizeof ways[0]; i++) {
        if (strcmp(argv[1], ways[i].name) == 0) {
            ways[i].act(argv[2], argv + 2);
            give_up("execute");
        }
    }
    return 2;
}
