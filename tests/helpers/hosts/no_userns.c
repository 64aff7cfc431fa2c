/*
 * no_userns.c - a command on a machine without user namespaces.
 *
 * no_userns UID GID COMMAND [ARG]... - executes COMMAND as that user, where no user namespace can be made.
 *
 * The switch (sysctl user.max_user_namespaces) belongs to the user namespace that it is set in, so it is set in a new one,
 * and nobody else is touched. All users are the same in it as outside. Must be started by root.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CANNOT 111

static void fail(const char *what)
{
    (void)fprintf(stderr, "nouserns: %s: %s\n", what, strerror(errno));
    _exit(CANNOT);
}

static void write_to(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text)) {
        fail(path);
    }
    (void)close(fd);
}

static void map(const char *name, pid_t pid)
{
    char path[64];
    (void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
    write_to(path, "0 0 4294967295\n");
}

/* A child that stays outside writes the user map, after a byte says that the namespace exists. */
static void enter(void)
{
    int ready_pipe[2];
    char byte = 0;
    pid_t self = getpid();
    if (pipe2(ready_pipe, O_CLOEXEC) < 0) {
        fail("pipe");
    }
    pid_t mapper = fork();
    if (mapper == 0) {
        (void)close(ready_pipe[1]);
        if (read(ready_pipe[0], &byte, 1) != 1) {
            _exit(CANNOT);
        }
        map("uid_map", self);
        map("gid_map", self);
        _exit(0);
    }
    int status = 0;
    if (mapper < 0 || unshare(CLONE_NEWUSER) < 0 || write(ready_pipe[1], &byte, 1) != 1) {
        fail("unshare");
    }
    if (waitpid(mapper, &status, 0) != mapper || status != 0) {
        _exit(CANNOT);
    }
    (void)close(ready_pipe[0]);
    (void)close(ready_pipe[1]);
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        return CANNOT;
    }
    gid_t gid = (gid_t)strtoul(argv[2], NULL, 10);
    uid_t uid = (uid_t)strtoul(argv[1], NULL, 10);
    enter();
    write_to("/proc/sys/user/max_user_namespaces", "0\n");
    if (setgroups(0, NULL) < 0 || setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0) {
        fail("set the user");
    }
    (void)execv(argv[3], argv + 3);
    fail(argv[3]);
}
