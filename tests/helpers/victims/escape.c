/*
 * escape.c - leaves its process group.
 *
 * escape KIND MARKER - leaves its process group in one of the usual ways.
 *   setsid   a child in its own session; the tool itself stays
 *   double   fork, setsid, fork: a daemon without a living parent; the tool ends with status 0
 *   holder   a grandchild that keeps stdout and stderr open; the tool ends with status 0
 *   groups   ten children, each in its own process group, each with a child in another; the tool stays
 * All ignore SIGTERM. "ready" is written once the last of them exists.
 */
#include "victim.h"

#include <fcntl.h>

static void wait_for(int read_fd)
{
    char byte;
    if (read(read_fd, &byte, 1) != 1) {
        _exit(97);
    }
}

static void drop_streams(void)
{
    int null_fd = open("/dev/null", O_RDWR);
    if (null_fd < 0 || dup2(null_fd, 0) < 0 || dup2(null_fd, 1) < 0 || dup2(null_fd, 2) < 0) {
        _exit(96);
    }
}

static void settle(int write_fd)
{
    if (write(write_fd, "x", 1) != 1) {
        _exit(95);
    }
    victim_live();
}

static void become_daemon(int write_fd)
{
    if (fork() == 0) {
        (void)setsid();
        if (fork() == 0) {
            drop_streams();
            settle(write_fd);
        }
        _exit(0);
    }
}

static void spread(int write_fd)
{
    for (int i = 0; i < 10; i++) {
        if (fork() == 0) {
            (void)setpgid(0, 0);
            if (fork() == 0) {
                (void)setpgid(0, 0);
                settle(write_fd);
            }
            victim_live();
        }
    }
}

int main(int argc, char **argv)
{
    int pair[2];
    const char *kind = argc > 2 ? argv[1] : "";
    victim_ignore_signals();
    if (pipe(pair) != 0) {
        return 2;
    }
    int expected = 1;
    if (strcmp(kind, "double") == 0) {
        become_daemon(pair[1]);
    } else if (strcmp(kind, "groups") == 0) {
        spread(pair[1]);
        expected = 10;
    } else if (fork() == 0) {
        (void)setsid();
        if (strcmp(kind, "setsid") == 0) {
            drop_streams();
        }
        settle(pair[1]);
    }
    for (int i = 0; i < expected; i++) {
        wait_for(pair[0]);
    }
    victim_say("ready\n");
    if (strcmp(kind, "setsid") == 0 || strcmp(kind, "groups") == 0) {
        victim_live();
    }
    return 0;
}
