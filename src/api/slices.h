/*
 * slices.h - the work that remains after a tool has ended, done in slices (docs/adr/0044).
 *
 * The changes of a run with an overlay are listed and kept; a scratch directory is removed. Each
 * round of events does one slice of that (sys/slice.h), for one job after the other. So no round
 * takes longer because of what a tool left, and other jobs continue. The job ends when its work is
 * done, or at the end of its time. Then the list is cut and says so. What remains is removed in
 * later rounds, as the overlay itself is.
 */
#ifndef CK_API_SLICES_H
#define CK_API_SLICES_H

#include <stdbool.h>
#include <stddef.h>

struct choke_context;
struct choke_job;
struct ck_trash;

/* Zero-filled: nothing to do. */
struct ck_slices {
    struct choke_job *first, *last; /* by next_done; served one after the other */
    size_t count;
    struct ck_trash *trash; /* to be removed; after the jobs, or every few rounds */
    unsigned rounds;
    bool closing; /* the context is being freed: nothing is listed or kept any more */
};

/*
 * The run of a job has ended. True: the job waits for its slices; ck_job_collected will be called.
 */
bool ck_slices_begin(struct choke_job *job);

/* One slice. Wakes the context if there is more. */
void ck_slices_run(struct choke_context *context);

/* Stops all listing and keeping now, also of jobs that end later. */
void ck_slices_close(struct choke_context *context);

/*
 * Removes for at most a tenth of a second, and leaves the rest. In a fork of the owner nothing is
 * removed.
 */
void ck_slices_done(struct choke_context *context, bool owner);

/* For a job that is freed while it waits: in a fork of the owner, or without its context's loop. */
void ck_slices_drop(struct choke_job *job);

#endif
