/*
 * fork_relay COUNT MARKER - COUNT lines of processes, each of which does nothing but fork the next and end, so that
 * whoever looks for it finds a process that is already gone. The tool itself stays. Each line is a session of its
 * own.
 */
#include "victim.h"

static void relay_forks(double end)
{
    (void)setsid();
    while (victim_now() < end) {
        pid_t child = fork();
        if (child > 0) {
            _exit(0);
        }
    }
    _exit(98);
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        return 2;
    }
    double end = victim_now() + VICTIM_LIFE_S;
    (void)signal(SIGTERM, SIG_IGN);
    (void)signal(SIGCHLD, SIG_IGN);
    for (long i = strtol(argv[1], NULL, 10); i > 0; i--) {
        if (fork() == 0) {
            relay_forks(end);
        }
    }
    victim_say("ready\n");
    victim_live();
}
