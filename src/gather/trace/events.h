/*
 * events.h - what the calls in a trace mean: which programs were executed, which files outside the
 * image were opened, which sockets were used. Pure.
 *
 * The image is mounted read-only in the container. So a file that was opened for reading and is not
 * on another mount belongs to the image: it is counted, not listed. The same holds for the paths
 * where a loader searches for libraries. Every listed file has a place:
 *
 *   kernel   /proc, /sys, /dev          scratch  /tmp and /run, which are empty at the start
 *   engine   what docker puts there     volume   what the image declares as one
 *   absent   it does not exist          image    a file of the image that was to be written, or
 *                                                that could not be read
 *
 * The witness's directory has another name in each run; it is listed as /.chokepoint. Everything is
 * listed once, however often it happened. Pids are left out: they differ from run to run.
 */
#ifndef CK_GATHER_TRACE_EVENTS_H
#define CK_GATHER_TRACE_EVENTS_H

#include "gather/trace/line.h"
#include "gather/trace/processes.h"

#include <jansson.h>

#define CK_TRACE_DIRECTORY_MAX 128

/* Begin with a zero-filled struct and set volumes. */
struct ck_trace_events {
    const json_t *volumes; /* an object with paths as keys; NULL: none */
    json_t *programs;      /* sets: a unique key, and the value for the document */
    json_t *files;
    json_t *own_files; /* of the image, only read */
    json_t *searched;  /* where a loader searched for a library and did not find it */
    json_t *sockets;
    json_t *attempts; /* on other processes */
    struct ck_trace_processes processes;
    /* From the first execution; "": not known yet. */
    char witness_directory[CK_TRACE_DIRECTORY_MAX];
    unsigned long first_pid; /* of the image's program */
    bool started;            /* it was executed: files and sockets count from then on */
    bool incomplete;         /* there was more than is kept, or something could not be read */
    int bad;                 /* out of memory */
};

/* 0, or out of memory; call done in either case. */
int ck_trace_events_init(struct ck_trace_events *events);
void ck_trace_events_call(struct ck_trace_events *events, unsigned long pid, struct ck_trace_span body);
void ck_trace_events_done(struct ck_trace_events *events); /* zero-filled is fine */

#endif
