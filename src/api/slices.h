/*
 * slices.h - what is left to be done after a tool has ended, in slices (docs/adr/0044).
 *
 * A run with an overlay is listed and kept, one with a scratch directory has it removed. Each round of events does one
 * slice of that (sys/slice.h), for the jobs in turn. So no round takes longer because of what a tool left, and other jobs
 * move on. The job ends when it is done, or at the end of its time: then the list is cut and says so, and what remains to
 * be removed is removed in later rounds, as the layer itself is.
 */
#ifndef CK_API_SLICES_H
#define CK_API_SLICES_H

#include <stdbool.h>
#include <stddef.h>

struct choke_context;
struct choke_job;
struct ck_trash;

/* Zero-filled: nothing is to be done. */
struct ck_slices {
    struct choke_job *first, *last; /* by next_done; each gets its turn */
    size_t count;
    struct ck_trash *trash; /* what is removed when no job waits */
    unsigned rounds;
    bool closing; /* the context is being freed: nothing is collected any more */
};

/* The run of a job has ended. True: the job waits for its slices; ck_job_collected will be called. */
bool ck_slices_begin(struct choke_job *job);

/* One slice. Wakes the context if there is more. */
void ck_slices_run(struct choke_context *context);

/* Ends all collections now, and those of jobs that end later. */
void ck_slices_close(struct choke_context *context);

/* Removes for a tenth of a second at most, and lets go of the rest. In a fork of the owner nothing is removed. */
void ck_slices_done(struct choke_context *context, bool owner);

/* For a job that is freed while it waits: in a fork of the owner, or without its context's loop. */
void ck_slices_drop(struct choke_job *job);

#endif
