/*
 * host.h - shared by the host programs. A host is a customer of the library: it sees only the
 * public header.
 *
 * Every host is called as NAME POLICY ROOT [ARG]..., prints what it found on stdout, and exits with
 * 0. The first check that fails ends it with 1 and a line on stderr that names it.
 */
#ifndef HOST_H
#define HOST_H

#include "chokepoint.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHECK(condition) host_check((condition), #condition, __FILE__, __LINE__, "")
#define CHECK_SAYING(condition, text) host_check((condition), #condition, __FILE__, __LINE__, (text))

static inline void host_check(bool holds, const char *condition, const char *file, int line, const char *text)
{
    if (!holds) {
        (void)fprintf(stderr, "%s:%d: does not hold: %s %s\n", file, line, condition, text);
        (void)fflush(NULL);
        _exit(1);
    }
}

static inline double host_now(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Counts the open descriptors of this process, without the one that is used to count. */
static inline size_t host_descriptors(void)
{
    DIR *directory = opendir("/proc/self/fd");
    CHECK(!!directory);
    size_t count = 0;
    for (struct dirent *entry = readdir(directory); entry; entry = readdir(directory)) {
        count += entry->d_name[0] != '.';
    }
    (void)closedir(directory);
    return count - 1;
}

/*
 * Counts the children of a process, zombies included; *ret_zombies is the number of zombies, and
 * *ret_child the pid of one of them, or 0.
 */
static inline size_t host_children_of(int of, size_t *ret_zombies, int *ret_child)
{
    size_t count = 0;
    *ret_zombies = 0;
    *ret_child = 0;
    DIR *directory = opendir("/proc");
    CHECK(!!directory);
    for (struct dirent *entry = readdir(directory); entry; entry = readdir(directory)) {
        char path[300];
        char state = 0;
        int parent = 0;
        (void)snprintf(path, sizeof(path), "/proc/%s/stat", entry->d_name);
        FILE *stream = entry->d_name[0] >= '1' && entry->d_name[0] <= '9' ? fopen(path, "re") : NULL;
        if (!stream) {
            continue;
        }
        /* A process that ends between the two calls reads as empty. */
        if (fscanf(stream, "%*d (%*[^)]) %c %d", &state, &parent) == 2 && parent == of) {
            count++;
            *ret_child = atoi(entry->d_name);
            *ret_zombies += state == 'Z';
        }
        (void)fclose(stream);
    }
    (void)closedir(directory);
    return count;
}

/* Counts the children of this process. */
static inline size_t host_children(size_t *ret_zombies)
{
    int child;
    return host_children_of(getpid(), ret_zombies, &child);
}

static inline struct choke_context *host_context(const char *policy)
{
    struct choke_context *context = NULL;
    struct choke_error error = {0};
    int status = choke_context_new(&(struct choke_options){.policy_path = policy}, &context, &error);
    CHECK_SAYING(status == 0, error.message);
    CHECK(!!context);
    return context;
}

static inline struct choke_request host_request(const char *const *argv, const char *root)
{
    return (struct choke_request){.argv = argv, .root = root, .cwd = ".", .timeout_ms = 20000};
}

static inline enum choke_jail host_jail(const char *name)
{
    bool native = strcmp(name, "native") == 0, bwrap = strcmp(name, "bwrap") == 0;
    CHECK_SAYING(native || bwrap || strcmp(name, "none") == 0, name);
    return native ? CHOKE_JAIL_NATIVE : bwrap ? CHOKE_JAIL_BWRAP : CHOKE_JAIL_NONE;
}

static inline struct choke_result *host_run(struct choke_context *context, const struct choke_request *request)
{
    struct choke_result *result = NULL;
    struct choke_error error = {0};
    int status = choke_run(context, request, &result, &error);
    CHECK_SAYING(status == 0, error.message);
    CHECK(!!result);
    return result;
}

static inline struct choke_job *host_start(struct choke_context *context, const struct choke_request *request)
{
    struct choke_job *job = NULL;
    struct choke_error error = {0};
    int status = choke_start(context, request, &job, &error);
    CHECK_SAYING(status == 0, error.message);
    CHECK(!!job);
    return job;
}

/* Lets the context work until nothing runs any more; false if that takes longer than seconds. */
static inline bool host_drain(struct choke_context *context, double seconds)
{
    double end = host_now() + seconds;
    while (choke_running(context) > 0) {
        if (host_now() > end) {
            return false;
        }
        CHECK(choke_wait(context, 100, NULL) >= 0);
    }
    CHECK(choke_dispatch(context, NULL) >= 0);
    return true;
}

static inline bool host_is(const struct choke_capture *capture, const char *text)
{
    return capture->length == strlen(text) && memcmp(capture->data, text, capture->length) == 0;
}

#endif
