/*
 * caller.c - a program that executes others and measures it: outside, and in the cage of guard (bench/guarded.py).
 *
 * It reads lines "run N PROGRAM [ARG]..." and executes each N times, one after the other, searching PATH.
 */
#include "reply.h"

#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define LINE_MAX_BYTES 4096
#define WORDS_MAX 64

static size_t split(char *line, char **words)
{
    size_t count = 0;
    char *rest = NULL;
    for (char *word = strtok_r(line, " \n", &rest); word && count < WORDS_MAX; word = strtok_r(NULL, " \n", &rest)) {
        words[count++] = word;
    }
    words[count] = NULL;
    return count;
}

static uint64_t children_cpu_ns(void)
{
    struct rusage usage;
    (void)getrusage(RUSAGE_CHILDREN, &usage);
    return ((uint64_t)usage.ru_utime.tv_sec + (uint64_t)usage.ru_stime.tv_sec) * 1000000000U +
           ((uint64_t)usage.ru_utime.tv_usec + (uint64_t)usage.ru_stime.tv_usec) * 1000U;
}

static void execute(char *const *argv, const posix_spawn_file_actions_t *streams)
{
    pid_t pid = 0;
    int status = 0;
    int r = posix_spawnp(&pid, argv[0], streams, NULL, argv, environ);
    if (r != 0) {
        fail(argv[0], strerror(r));
    }
    if (waitpid(pid, &status, 0) != pid || status != 0) {
        fail(argv[0], "it failed");
    }
}

int main(void)
{
    char line[LINE_MAX_BYTES];
    char *words[WORDS_MAX + 1];
    posix_spawn_file_actions_t streams;
    (void)posix_spawn_file_actions_init(&streams);
    (void)posix_spawn_file_actions_addopen(&streams, 0, "/dev/null", O_RDONLY, 0);
    (void)posix_spawn_file_actions_addopen(&streams, 1, "/dev/null", O_WRONLY, 0);
    (void)printf("{\"ready\": true}\n");
    (void)fflush(stdout);
    while (fgets(line, sizeof(line), stdin)) {
        size_t count = split(line, words);
        if (count < 3) {
            fail("a command", "run N PROGRAM [ARG]...");
        }
        uint64_t runs = strtoull(words[1], NULL, 10);
        uint64_t cpu = children_cpu_ns();
        uint64_t start = now_ns();
        for (uint64_t i = 0; i < runs; i++) {
            execute(words + 2, &streams);
        }
        uint64_t wall = now_ns() - start;
        (void)printf("{\"runs\": %" PRIu64 ", \"wall_ns\": %" PRIu64 ", \"tool_cpu_ns\": %" PRIu64 "}\n", runs, wall,
                     children_cpu_ns() - cpu);
        (void)fflush(stdout);
    }
    return 0;
}
