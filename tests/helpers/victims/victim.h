/*
 * victim.h - shared by the victim programs.
 *
 * A victim misbehaves on purpose, so it limits its own life: if the code under test fails to kill
 * it, it ends after VICTIM_LIFE_S and cannot disturb the machine or a later test.
 */
#ifndef VICTIM_H
#define VICTIM_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define VICTIM_LIFE_S 100 /* longer than tests wait for its end: PATIENCE_S in tests/support/processes.py */

static inline double victim_now(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static inline void victim_say(const char *word)
{
    size_t length = strlen(word);
    if (write(STDOUT_FILENO, word, length) != (ssize_t)length) {
        _exit(99);
    }
}

static inline void victim_ignore_signals(void)
{
    for (int number = 1; number < NSIG; number++) {
        (void)signal(number, SIG_IGN);
    }
}

/* SIGCONT after SIGSTOP and other interruptions do not end it early. */
static inline void victim_live(void)
{
    double end = victim_now() + VICTIM_LIFE_S;
    while (victim_now() < end) {
        (void)usleep(100000);
    }
    _exit(98);
}

#endif
