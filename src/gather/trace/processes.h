/*
 * processes.h - was every process of a trace seen to end? Pure.
 *
 * If a tracer is killed, the kernel detaches its tracees, and they run on unseen. So each process
 * that a call returned must have its last line. Lines of a process may come before the line of the
 * call that made it, as always with vfork.
 */
#ifndef CK_GATHER_TRACE_PROCESSES_H
#define CK_GATHER_TRACE_PROCESSES_H

#include "gather/trace/line.h"

#include <jansson.h>

/* Begin with a zero-filled struct. */
struct ck_trace_processes {
    /* By pid: number of beginnings minus number of ends; an entry of 0 is removed. */
    json_t *open;
    /* Calls that may have made a process: they were ended before they returned its pid. */
    size_t unknown;
    bool cut; /* there are too many */
};

/* Returns 0, or 1 when out of memory; call done in either case. */
int ck_trace_processes_init(struct ck_trace_processes *processes);
void ck_trace_processes_done(struct ck_trace_processes *processes);

void ck_trace_processes_began(struct ck_trace_processes *processes, unsigned long pid);
void ck_trace_processes_ended(struct ck_trace_processes *processes, unsigned long pid);

/* body: a call, or the beginning of one. */
bool ck_trace_processes_creates(struct ck_trace_span body);

/* A complete call of that kind. */
void ck_trace_processes_call(struct ck_trace_processes *processes, const struct ck_trace_call *call);

/*
 * A process that ended, but that no call returned, was made by a call that did not return. If there
 * are as many of these as of such calls, no process is left.
 */
bool ck_trace_processes_all_ended(const struct ck_trace_processes *processes);

#endif
