/*
 * hog.c - takes as much of one resource as it gets.
 *
 * hog WHAT [NUMBER [PATH]] - takes as much of one thing as NUMBER says, or as it gets.
 *
 *   memory MIB      private memory, and writes to all of it       shared MIB     the same, shared and without a name
 *   family MIB      four children with MIB each
 *   processes N     children, all alive at the same time          threads N      the same within one process
 *   cpu             one process that burns CPU time               burners N      N children that do, while it waits
 *   ignore_signals  as cpu, with every signal ignored
 *   file MIB PATH   bytes in one file                             files N        descriptors
 *
 * Prints "full" if it got all, else the amount that it got, and exits with 0; nothing if it is killed.
 */
#include "victim.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define MIB ((size_t)1 << 20)

static int say_number(long got, long wanted)
{
    char text[32];
    (void)snprintf(text, sizeof(text), "%ld\n", got);
    victim_say(got == wanted ? "full\n" : text);
    return 0;
}

static long take_memory(long wanted, int sharing)
{
    long got = 0;
    for (; got < wanted; got++) {
        char *piece = mmap(NULL, MIB, PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS, -1, 0);
        if (piece == MAP_FAILED) {
            break;
        }
        memset(piece, (int)got | 1, MIB);
    }
    return got;
}

static int memory(long wanted, const char *path)
{
    (void)path;
    return say_number(take_memory(wanted, MAP_PRIVATE), wanted);
}

static int shared(long wanted, const char *path)
{
    (void)path;
    return say_number(take_memory(wanted, MAP_SHARED), wanted);
}

/* Prints how many of the four got what they wanted; they hold it until all have it or are gone. */
static int family(long wanted, const char *path)
{
    (void)path;
    int got = 0;
    int ready[2];
    if (pipe(ready) < 0) {
        return 2;
    }
    pid_t children[4];
    for (int i = 0; i < 4; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            (void)close(ready[0]);
            if (take_memory(wanted, MAP_PRIVATE) == wanted && write(ready[1], "x", 1) == 1) {
                (void)close(ready[1]);
                victim_live();
            }
            _exit(1);
        }
    }
    (void)close(ready[1]);
    for (char byte; read(ready[0], &byte, 1) == 1;) {
        got++;
    }
    for (int i = 0; i < 4; i++) {
        (void)kill(children[i], SIGKILL);
    }
    return say_number(got, 4);
}

static int processes(long wanted, const char *path)
{
    (void)path;
    long got = 0;
    for (; got < wanted; got++) {
        pid_t child = fork();
        if (child < 0) {
            break;
        }
        if (child == 0) {
            victim_live();
        }
    }
    return say_number(got, wanted);
}

static void *idle(void *data)
{
    (void)data;
    victim_live();
    return NULL;
}

static int threads(long wanted, const char *path)
{
    (void)path;
    long got = 0;
    pthread_t thread;
    while (got < wanted && pthread_create(&thread, NULL, idle, NULL) == 0) {
        got++;
    }
    return say_number(got, wanted);
}

static void burn(void)
{
    double end = victim_now() + VICTIM_LIFE_S;
    while (victim_now() < end) {
    }
    _exit(98);
}

static int cpu(long wanted, const char *path)
{
    (void)wanted;
    (void)path;
    burn();
    return 0;
}

static int ignore_signals(long wanted, const char *path)
{
    victim_ignore_signals();
    return cpu(wanted, path);
}

static int burners(long wanted, const char *path)
{
    (void)path;
    for (long i = 0; i < wanted; i++) {
        if (fork() == 0) {
            burn();
        }
    }
    while (wait(NULL) > 0) {
    }
    return 0;
}

static int file(long wanted, const char *path)
{
    static char block[4096];
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    long got = 0;
    while (fd >= 0 && got < wanted * 256 && write(fd, block, sizeof(block)) == (ssize_t)sizeof(block)) {
        got++;
    }
    return say_number(got, wanted * 256);
}

static int files(long wanted, const char *path)
{
    (void)path;
    long got = 0;
    while (got < wanted && open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0) {
        got++;
    }
    return say_number(got, wanted);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*take)(long wanted, const char *path);
    } all[] = {{"memory", memory},
               {"shared", shared},
               {"family", family},
               {"processes", processes},
               {"threads", threads},
               {"cpu", cpu},
               {"ignore_signals", ignore_signals},
               {"burners", burners},
               {"file", file},
               {"files", files}};
    for (size_t i = 0; argc > 1 && i < sizeof(all) / sizeof(all[0]); i++) {
        if (strcmp(argv[1], all[i].name) == 0) {
            return all[i].take(argc > 2 ? strtol(argv[2], NULL, 10) : 0, argc > 3 ? argv[3] : "hogged");
        }
    }
    return 2;
}
