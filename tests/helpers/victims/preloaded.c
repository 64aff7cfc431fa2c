/*
 * preloaded.c - a library of a repository that the loader is asked to load: its constructor prints
 * "loaded".
 */
#include <unistd.h>

__attribute__((constructor)) static void report(void)
{
    (void)!write(STDOUT_FILENO, "loaded\n", sizeof("loaded\n") - 1);
}
