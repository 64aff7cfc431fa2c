/*
 * main.c - one attempt to break out of a jail, as a program.
 *
 * chokepoint-attack SET WAY [ARG]... - one attempt to break out of a jail, for "chokepoint doctor --attack".
 *
 * SET is the name of a victim (tests/helpers/SET.c); WAY and ARG are the arguments of the victim, and the exit statuses are the victim's (tests/helpers/victims/breach.h).
 */
#include "attack_sets.h"
#include "breach.h"

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} sets[] = {
    {"attempt", attempt_main},
    {"breach_calls", breach_calls_main},
    {"breach_code", breach_code_main},
    {"breach_files", breach_files_main},
    {"breach_metadata", breach_metadata_main},
    {"breach_mounts", breach_mounts_main},
    {"breach_net", breach_net_main},
    {"breach_processes", breach_processes_main},
    {"escape", escape_main},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof(sets) / sizeof(sets[0]); i++) {
        if (strcmp(argv[1], sets[i].name) == 0) {
            return sets[i].run(argc - 1, argv + 1);
        }
    }
    (void)fputs("chokepoint-attack is started by 'chokepoint doctor --attack'\n", stderr);
    return BREACH_MISUSED;
}
