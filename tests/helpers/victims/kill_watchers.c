/*
 * kill_watchers.c - kills the processes that watch it: kill_watchers SIGNAL
 * LEVEL[,LEVEL]...|everyone MARKER
 *
 * Sends SIGNAL to its ancestors of the given LEVELs, 1 the parent, 2 the grandparent, in that
 * order; or to every process of its user, which it refuses to do as root. A child in another
 * session that ignores SIGTERM shows who outlives whom. The ancestors are looked up before the
 * first signal.
 */
#include "victim.h"

#include <fcntl.h>

enum { MAX_LEVEL = 3 };

static pid_t parent_of(pid_t pid)
{
    char path[64];
    char text[512];
    (void)snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    int fd = open(path, O_RDONLY);
    ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    if (length <= 0) {
        _exit(3);
    }
    text[length] = '\0';
    const char *after_name = strrchr(text, ')');
    if (!after_name || strlen(after_name) < 5) {
        _exit(3);
    }
    (void)close(fd);
    return (pid_t)strtol(after_name + 4, NULL, 10);
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        return 2;
    }
    victim_ignore_signals();
    if (fork() == 0) {
        (void)setsid();
        victim_live();
    }
    pid_t ancestors[MAX_LEVEL + 1] = {getpid()};
    for (int level = 1; level <= MAX_LEVEL && ancestors[level - 1] > 1; level++) {
        ancestors[level] = parent_of(ancestors[level - 1]);
    }
    victim_say("ready\n");
    int signal_number = (int)strtol(argv[1], NULL, 10);
    if (strcmp(argv[2], "everyone") == 0) {
        (void)kill(geteuid() != 0 ? -1 : getpid(), signal_number);
        victim_live();
    }
    for (const char *level = argv[2]; *level != '\0'; level++) {
        if (*level >= '1' && *level <= '0' + MAX_LEVEL && ancestors[*level - '0'] > 1) {
            (void)kill(ancestors[*level - '0'], signal_number);
        }
    }
    victim_live();
}
