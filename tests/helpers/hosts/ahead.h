/* ahead.h - for hosts that look at processes which the library creates before the next run needs them. */
#ifndef AHEAD_H
#define AHEAD_H

#include "host.h"

#define HOST_ALIVE "DRST"

/*
 * Whether it has that name and one of these states, and is below this process. A prepared init is
 * suspended by its vfork (D); one that runs a tool or is about to end is not.
 */
static inline bool host_is_below(int pid, const char *name, const char *states)
{
    for (int at = pid, first = 1; at > 1; first = 0) {
        char path[300], comm[64] = "", state = 0;
        int parent = 0;
        (void)snprintf(path, sizeof(path), "/proc/%d/stat", at);
        FILE *stream = fopen(path, "re");
        int got = stream ? fscanf(stream, "%*d (%63[^)]) %c %d", comm, &state, &parent) : 0;
        if (stream)
            (void)fclose(stream);
        if (got != 3 || (first && (strcmp(comm, name) != 0 || !strchr(states, state))))
            return false;
        at = parent;
        if (at == getpid())
            return true;
    }
    return false;
}

/* Those processes. Returns how many. */
static inline unsigned host_list_below(const char *name, const char *states, int *pids, unsigned most)
{
    unsigned count = 0;
    DIR *directory = opendir("/proc");
    CHECK(!!directory);
    for (struct dirent *entry = readdir(directory); entry && count < most; entry = readdir(directory))
        if (host_is_below(atoi(entry->d_name), name, states))
            pids[count++] = atoi(entry->d_name);
    (void)closedir(directory);
    return count;
}

/* The pid of such a process; 0: none. */
static inline int host_find_below(const char *name, const char *states)
{
    int pid;
    return host_list_below(name, states, &pid, 1) > 0 ? pid : 0;
}

static inline struct choke_result *host_run_to(struct choke_context *context, struct choke_request *request,
                                               enum choke_outcome outcome, uint64_t timeout_ms)
{
    request->timeout_ms = timeout_ms;
    struct choke_result *result = host_run(context, request);
    CHECK_SAYING(result->outcome == outcome, result->error.message);
    return result;
}

static inline void host_expect(struct choke_context *context, struct choke_request *request, const char *out)
{
    struct choke_result *result = host_run_to(context, request, CHOKE_EXITED, 20000);
    CHECK_SAYING(result->exit_code == 0, result->err.data);
    CHECK_SAYING(host_is(&result->out, out), result->out.data);
    choke_result_free(result);
}

#endif
