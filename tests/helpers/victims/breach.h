/*
 * breach.h - shared by the programs that try to break out.
 *
 * Each is called as NAME WAY [ARG]... A way is one attack. If it succeeds the program prints "done"
 * and exits with 0. If the system refuses it the program prints "refused: ERRNO (what)" and exits
 * with BREACH_REFUSED.
 */
#ifndef BREACH_H
#define BREACH_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BREACH_REFUSED 113
#define BREACH_MISUSED 112

struct breach {
    const char *name;
    int arguments;
    const char *(*act)(char **arguments); /* NULL on success, else what was refused, with errno */
};

static inline int breach_end(const char *refused)
{
    if (!refused) {
        (void)puts("done");
        return 0;
    }
    (void)printf("refused: %s (%s)\n", strerrorname_np(errno), refused);
    return BREACH_REFUSED;
}

static inline int breach_main(int argc, char **argv, const struct breach *ways, size_t count)
{
    for (size_t i = 0; argc > 1 && i < count; i++) {
        if (strcmp(argv[1], ways[i].name) == 0 && argc - 2 == ways[i].arguments) {
            return breach_end(ways[i].act(argv + 2));
        }
    }
    return BREACH_MISUSED;
}

#define BREACH_MAIN(ways) breach_main(argc, argv, (ways), sizeof(ways) / sizeof((ways)[0]))

#endif
