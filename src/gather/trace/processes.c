/* processes.c - counts the beginnings and ends of processes in a trace; see processes.h. */
#include "gather/trace/processes.h"

#include <stdio.h>

#define OPEN_MAX 20000 /* a container has at most 512 at a time */

/* A JSON object is the map from a pid to its count: jansson is linked anyway. */
int ck_trace_processes_init(struct ck_trace_processes *processes)
{
    processes->open = json_object();
    return !processes->open;
}

void ck_trace_processes_done(struct ck_trace_processes *processes)
{
    json_decref(processes->open);
    *processes = (struct ck_trace_processes){0};
}

/*
 * A process may end before the call that made it is seen, so a count may be below 0 for a while. A
 * pid that is used again after its end counts anew.
 */
static void count(struct ck_trace_processes *processes, unsigned long pid, int step)
{
    char key[24];
    (void)snprintf(key, sizeof(key), "%lu", pid);
    json_int_t value = json_integer_value(json_object_get(processes->open, key)) + step;
    /* Removed, so that only processes that are open or unexplained use memory. */
    if (value == 0)
        (void)json_object_del(processes->open, key);
    else if (json_object_size(processes->open) >= OPEN_MAX ||
             json_object_set_new_nocheck(processes->open, key, json_integer(value)) < 0)
        /* With a count lost, ck_trace_processes_all_ended can only say no. */
        processes->cut = true;
}

void ck_trace_processes_began(struct ck_trace_processes *processes, unsigned long pid)
{
    count(processes, pid, 1);
}

void ck_trace_processes_ended(struct ck_trace_processes *processes, unsigned long pid)
{
    count(processes, pid, -1);
}

/* "clone" is also the beginning of clone3. */
bool ck_trace_processes_creates(struct ck_trace_span body)
{
    return ck_trace_span_begins(body, "clone") || ck_trace_span_begins(body, "fork") ||
           ck_trace_span_begins(body, "vfork");
}

void ck_trace_processes_call(struct ck_trace_processes *processes, const struct ck_trace_call *call)
{
    /* The result of clone, fork and vfork is the pid of the child. */
    unsigned long pid = ck_trace_span_number(call->result);
    if (ck_trace_span_begins(call->result, "-1 ") || ck_trace_span_begins(call->result, "? ERESTART"))
        return; /* no process was made, or the call is restarted */
    /* "?": the caller ended before strace saw the result, so the pid of the child is not known. */
    if (pid == 0)
        processes->unknown++;
    else
        ck_trace_processes_began(processes, pid);
}

bool ck_trace_processes_all_ended(const struct ck_trace_processes *processes)
{
    const char *pid;
    const json_t *value;
    size_t unexplained = 0;
    json_object_foreach(processes->open, pid, value)
    {
        /* It began and did not end: it may still run, unseen. */
        if (json_integer_value(value) > 0)
            return false;
        /* It ended without a known beginning. */
        unexplained += (size_t)-json_integer_value(value);
    }
    return !processes->cut && unexplained == processes->unknown;
}
