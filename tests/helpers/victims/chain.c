/*
 * chain.c - a deep chain of forks: chain DEPTH stay|leave MARKER
 *
 * Each process forks the next; it then stays, or (all but the first) leaves; the last prints "deep"
 * and stays. From time to time a process executes itself, because the kernel's cost of a fork grows
 * with the number of forks since exec.
 */
#include "victim.h"

enum { FRESH_EVERY = 20 };

static void begin_anew(long depth, char *manner, char *marker)
{
    char text[32];
    (void)snprintf(text, sizeof(text), "%ld", depth);
    char name[] = "chain";
    char *argv[] = {name, text, manner, marker, NULL};
    (void)execv("/proc/self/exe", argv);
    _exit(97);
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        return 2;
    }
    victim_ignore_signals();
    long depth = strtol(argv[1], NULL, 10);
    int leave = strcmp(argv[2], "leave") == 0;
    int first = getsid(0) == getpid();
    for (; depth > 0; depth--) {
        pid_t child = fork();
        if (child < 0) {
            victim_say("no more processes\n");
            victim_live();
        }
        if (child > 0) {
            if (leave && !first) {
                _exit(0);
            }
            victim_live();
        }
        first = 0;
        if (depth % 10 == 3) {
            (void)setsid();
        }
        if (depth % FRESH_EVERY == 1 && depth > 1) {
            begin_anew(depth - 1, argv[2], argv[3]);
        }
    }
    victim_say("deep\n");
    victim_live();
}
