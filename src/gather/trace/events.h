/*
 * events.h - what the calls in a trace mean: the programs that were executed, the files that are not the image's, the
 * sockets that were tried. Pure.
 *
 * The image is mounted read-only in the container. So what was opened for reading, and is not on a mount of somebody
 * else's, is the image's own: it is counted, not listed. So are the places where a loader looks for libraries. What is
 * listed has a place:
 *
 *   kernel   /proc, /sys, /dev          scratch  /tmp and /run, which are empty at the start
 *   engine   what docker puts there     volume   what the image declares as one
 *   absent   it is not there            image    it is the image's, and was to be written or may not be read
 *
 * The witness's directory has another name each time; it is listed as /.chokepoint. Everything is listed once, however often it happened, and numbers of processes are left out: they differ from run to run.
 */
#ifndef CK_GATHER_TRACE_EVENTS_H
#define CK_GATHER_TRACE_EVENTS_H

#include "gather/trace/line.h"
#include "gather/trace/processes.h"

#include <jansson.h>

#define CK_TRACE_DIRECTORY_MAX 128

/* Made zero-filled, with volumes set. */
struct ck_trace_events {
    const json_t *volumes; /* an object whose names are paths; NULL: none */
    json_t *programs;      /* sets: a key that tells one from another, and its value in the document */
    json_t *files;
    json_t *own_files; /* of the image, only read */
    json_t *searched;  /* where the loader of a program looked for a library, and did not find it */
    json_t *sockets;
    json_t *attempts; /* on other processes */
    struct ck_trace_processes processes;
    char witness_directory
        [CK_TRACE_DIRECTORY_MAX]; /* the directory of the witness, by the first execution; empty: not known yet */
    unsigned long first_pid;      /* of the image's own program */
    bool started;                 /* it was executed: from then on files and sockets count */
    bool incomplete;              /* there was more than is kept, or something that could not be read */
    int bad;                      /* out of memory */
};

int ck_trace_events_init(struct ck_trace_events *events); /* 0, or out of memory; done in any case */
void ck_trace_events_call(struct ck_trace_events *events, unsigned long pid, struct ck_trace_span body);
void ck_trace_events_done(struct ck_trace_events *events); /* zero-filled is fine */

#endif
