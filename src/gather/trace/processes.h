/*
 * processes.h - whether every process of a trace was seen to end. Pure.
 *
 * A tracer that is ended lets go of what it traces, and that runs on unseen. So each process that a call returned has to
 * have its last line; lines of one may stand before the line of the call that made it, as with vfork always.
 */
#ifndef CK_GATHER_TRACE_PROCESSES_H
#define CK_GATHER_TRACE_PROCESSES_H

#include "gather/trace/line.h"

#include <jansson.h>

/* Made zero-filled. */
struct ck_trace_processes {
    json_t *open;   /* by number: how often it began, less how often it ended; what is 0 is not kept */
    size_t unknown; /* calls that made one, or none: they were ended before they returned its number */
    bool cut;       /* there are too many */
};

/* 0, or out of memory; done in any case. */
int ck_trace_processes_init(struct ck_trace_processes *processes);
void ck_trace_processes_done(struct ck_trace_processes *processes);

void ck_trace_processes_began(struct ck_trace_processes *processes, unsigned long pid);
void ck_trace_processes_ended(struct ck_trace_processes *processes, unsigned long pid);

/* body: of a call, or the beginning of one. */
bool ck_trace_processes_creates(struct ck_trace_span body);

/* A whole call of that kind. */
void ck_trace_processes_call(struct ck_trace_processes *processes, const struct ck_trace_call *call);

/*
 * Who ended and was returned by no call was made by one that did not return. Where there are as many of these as of such
 * calls, nobody is left.
 */
bool ck_trace_processes_all_ended(const struct ck_trace_processes *processes);

#endif
