/*
 * bomb.c - a fork bomb: bomb COUNT MARKER
 *
 * Every process forks while fewer than COUNT were made, whatever became of them; all ignore
 * SIGTERM.
 */
#include "victim.h"

#include <stdatomic.h>
#include <sys/mman.h>

int main(int argc, char **argv)
{
    if (argc < 3) {
        return 2;
    }
    int limit = (int)strtol(argv[1], NULL, 10);
    atomic_int *made = mmap(NULL, sizeof(*made), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED) {
        return 2;
    }
    victim_ignore_signals();
    int number = 0;
    while ((number = atomic_fetch_add(made, 1) + 1) < limit) {
        if (fork() < 0) {
            break;
        }
        if (number % 7 == 0) {
            (void)setsid();
        }
    }
    if (number == limit) {
        victim_say("full\n");
    }
    victim_live();
}
