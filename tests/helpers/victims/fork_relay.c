/*
 * fork_relay.c - COUNT relays of processes: fork_relay COUNT MARKER
 *
 * Each process only forks the next and ends, so that a search finds a process that is already gone.
 * The tool itself stays. Each relay is a separate session.
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
