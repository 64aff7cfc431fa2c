/*
 * daemons.c - makes COUNT daemons: daemons COUNT MARKER
 *
 * Double fork, own session and name, no stream of the run. They ignore every signal that can be
 * ignored. "ready" is written when the last of them exists; then the tool itself exits with status
 * 0.
 */
#include "victim.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>

static void live_as_daemon(int ready_fd)
{
    int null_fd = open("/dev/null", O_RDWR);
    (void)setsid();
    (void)prctl(PR_SET_NAME, "harmless");
    if (null_fd < 0 || dup2(null_fd, 0) < 0 || dup2(null_fd, 1) < 0 || dup2(null_fd, 2) < 0 ||
        write(ready_fd, "x", 1) != 1) {
        _exit(96);
    }
    victim_live();
}

int main(int argc, char **argv)
{
    long count = argc > 2 ? strtol(argv[1], NULL, 10) : 0;
    int pair[2];
    char byte;
    victim_ignore_signals();
    (void)signal(SIGCHLD, SIG_DFL);
    if (pipe(pair) != 0) {
        return 2;
    }
    for (long i = 0; i < count; i++) {
        pid_t child = fork();
        if (child == 0) {
            pid_t daemon = fork();
            if (daemon == 0) {
                live_as_daemon(pair[1]);
            }
            _exit(daemon < 0 ? 1 : 0);
        }
        int status = 1;
        if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
            return 3;
        }
    }
    for (long i = 0; i < count; i++) {
        if (read(pair[0], &byte, 1) != 1) {
            return 4;
        }
    }
    victim_say("ready\n");
    return 0;
}
