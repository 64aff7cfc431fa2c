/* slices.c - the queue of ended jobs, and one slice of their work per round. See slices.h. */
#include "api/slices.h"

#include "api/context.h"
#include "base/clock.h"
#include "base/fd.h"
#include "overlay/changes.h"

#include <errno.h>
#include <stdlib.h>

#define ORDER_NS UINT64_C(4000)         /* time to sort one entry, after the list is cut */
#define CLEANUP_NS (100 * CK_NS_PER_MS) /* at the end of a context */
/* In every fourth round the trash comes before the jobs, or it would grow while there are jobs. */
#define TRASH_ROUNDS 4

/*
 * A scratch directory that could not be removed in time, or the overlay of a run that was listed.
 */
struct ck_trash {
    struct ck_trash *next;
    struct ck_scratch scratch;   /* scratch_pool NULL: none */
    int overlay_fd;              /* -1: none */
    struct ck_clearing clearing; /* how far the overlay is removed */
};

/* ---- trash ------------------------------------------------------------------------------- */

/*
 * What is left of a scratch directory stays for a sweep. The kernel frees an overlay with its last
 * descriptor.
 */
static void free_trash(struct ck_trash *trash)
{
    ck_clear_done(&trash->clearing);
    ck_fd_close(&trash->overlay_fd);
    ck_scratch_release(&trash->scratch);
    free(trash);
}

/*
 * Takes what the run still holds. Without memory the kernel frees the overlay now, and a sweep
 * finds the directory.
 */
static void discard(struct choke_job *job)
{
    struct ck_slices *slices = &job->context->slices;
    struct ck_run *run = &job->run;
    if (run->overlay.upper_fd < 0 && !run->scratch.scratch_pool)
        return;
    struct ck_trash *trash = malloc(sizeof(*trash));
    if (!trash) {
        ck_fd_close(&run->overlay.upper_fd);
        ck_scratch_release(&run->scratch);
        return;
    }
    *trash = (struct ck_trash){.next = slices->trash, .scratch = run->scratch, .overlay_fd = run->overlay.upper_fd};
    /* The trash owns them now; ck_run_done must not remove them. */
    run->scratch = (struct ck_scratch){.fd = -1};
    run->overlay.upper_fd = -1;
    if (trash->overlay_fd >= 0)
        ck_clear_init(&trash->clearing, trash->overlay_fd);
    slices->trash = trash;
}

/*
 * The sweep comes last: it looks for directories that dead processes left, which no one waits for.
 */
static void empty_trash(struct choke_context *context, struct ck_slice *slice)
{
    struct ck_slices *slices = &context->slices;
    while (slices->trash) {
        struct ck_trash *trash = slices->trash;
        /* Also for an empty directory, so that a long list of them ends the slice too. */
        ck_slice_spend_entries(slice, 1);
        if ((trash->overlay_fd >= 0 && !ck_clear_step(&trash->clearing, slice)) ||
            !ck_scratch_remove_step(&trash->scratch, slice))
            return;
        slices->trash = trash->next;
        free_trash(trash);
    }
    (void)ck_scratch_pool_sweep(&context->bwrap_state->scratch_pool, slice);
}

/* ---- the queue --------------------------------------------------------------------------- */

/* At the end: the others get their slice first. */
static void append(struct choke_job *job)
{
    struct ck_slices *slices = &job->context->slices;
    job->next_done = NULL;
    if (slices->last)
        slices->last->next_done = job;
    else
        slices->first = job;
    slices->last = job;
    slices->count++;
}

/* Linear, but only a job that ends or is freed is taken out. */
static void take_out(struct choke_job *job)
{
    struct ck_slices *slices = &job->context->slices;
    struct choke_job *before = NULL;
    for (struct choke_job *at = slices->first; at != job; at = at->next_done)
        before = at;
    if (before)
        before->next_done = job->next_done;
    else
        slices->first = job->next_done;
    if (slices->last == job)
        slices->last = before;
    slices->count--;
    job->next_done = NULL;
}

/* A job with its time over comes first: only little is left to do for it. */
static struct choke_job *choose(const struct ck_slices *slices)
{
    for (struct choke_job *job = slices->first; job; job = job->next_done)
        if (job->collect.cut)
            return job;
    return slices->first;
}

/* ---- one job ----------------------------------------------------------------------------- */

/* What is listed and kept so far is the result; the rest is removed in later rounds. */
static void cut(struct choke_job *job, int error)
{
    job->collect.cut = true;
    if (job->collect.walk && ck_changes_stop_early(job->collect.walk, error))
        job->collect.error = error;
    if (job->run.scratch.scratch_pool)
        discard(job);
}

/* Every job gets one slice, however late it is. */
static void cut_late(struct choke_job *job, uint64_t now_ns)
{
    /* The list is sorted at the end; a job must be cut early enough to have time for that. */
    uint64_t order_ns = ck_result_changes(job->result)->count * ORDER_NS;
    /* cut is done once. */
    if (job->collect.cut || !job->collect.had_slice)
        return;
    if (job->run.cancelled)
        cut(job, ECANCELED);
    else if (now_ns + order_ns >= job->run.collect_until_ns)
        cut(job, ETIMEDOUT);
}

/* True when the job has nothing left to do. */
static bool run_slice(struct choke_job *job, struct ck_slice *slice)
{
    job->collect.had_slice = true;
    ck_slice_spend_entries(slice, 1);
    if (job->collect.walk && !ck_changes_step(job->collect.walk, slice))
        return false;
    return ck_scratch_remove_step(&job->run.scratch, slice);
}

/*
 * The job leaves the slices: its list is complete or cut, and what is left on the disk becomes
 * trash.
 */
static void finish(struct choke_job *job)
{
    struct ck_overlay *overlay = &job->run.overlay;
    ck_changes_end(job->collect.walk);
    job->collect.walk = NULL;
    /* A stage: the tool did not start, and the result has no list at all. */
    if (overlay->wanted && job->run.report.stage == CK_STAGE_NONE)
        ck_result_collected(job->result, overlay->keep_fd >= 0);
    discard(job);
    ck_fd_close(&overlay->lower_fd);
    ck_fd_close(&overlay->keep_fd);
    /* After ck_result_collected: the event has the number of changes. */
    if (job->collect.error != 0)
        ck_event_cut(job);
}

bool ck_slices_begin(struct choke_job *job)
{
    const struct ck_overlay *overlay = &job->run.overlay;
    if (overlay->wanted && job->run.report.stage == CK_STAGE_NONE) {
        const struct ck_changes_dirs where = {
            .upper_fd = overlay->upper_fd, .lower_fd = overlay->lower_fd, .keep_fd = overlay->keep_fd};
        struct ck_changes *changes = ck_result_changes(job->result);
        if (overlay->upper_fd >= 0)
            job->collect.walk = ck_changes_begin(changes, &where);
        /* If the overlay was lost with the warden, so was the list. */
        changes->incomplete = changes->incomplete || !job->collect.walk;
    }
    if (job->context->slices.closing)
        cut(job, ECANCELED);
    else if (job->collect.walk || job->run.scratch.scratch_pool) {
        append(job);
        ck_watch_wake(&job->context->watch);
        return true;
    }
    finish(job);
    return false;
}

/* ---- all jobs ------------------------------------------------------------------------- */

/*
 * Nothing to do, so that a round costs no system call. A scratch pool that was never used has
 * nothing to sweep.
 */
static bool is_idle(const struct choke_context *context)
{
    const struct ck_scratch_pool *scratch_pool = &context->bwrap_state->scratch_pool;
    return context->slices.count == 0 && !context->slices.trash &&
           (scratch_pool->parent_fd < 0 || !scratch_pool->leftover);
}

void ck_slices_run(struct choke_context *context)
{
    struct ck_slices *slices = &context->slices;
    struct ck_slice slice = CK_SLICE_WHOLE;
    if (is_idle(context))
        return;
    uint64_t now_ns = ck_clock_now_ns();
    slice.until_ns = now_ns + CK_SLICE_NS;
    if (slices->rounds++ % TRASH_ROUNDS == 0)
        empty_trash(context, &slice);
    for (struct choke_job *job = slices->first; job; job = job->next_done)
        cut_late(job, now_ns);
    while (slices->count > 0 && !ck_slice_spent(&slice)) {
        struct choke_job *job = choose(slices);
        /* Out of the queue while it works: it goes to its end again, and jobs take turns. */
        take_out(job);
        if (run_slice(job, &slice)) {
            finish(job);
            ck_job_collected(job);
        } else {
            append(job);
        }
    }
    if (!ck_slice_spent(&slice))
        empty_trash(context, &slice);
    if (!is_idle(context))
        ck_watch_wake(&context->watch);
}

void ck_slices_close(struct choke_context *context)
{
    struct ck_slices *slices = &context->slices;
    slices->closing = true;
    while (slices->first) {
        struct choke_job *job = slices->first;
        take_out(job);
        cut(job, ECANCELED);
        finish(job);
        ck_job_collected(job);
    }
}

void ck_slices_drop(struct choke_job *job)
{
    ck_changes_end(job->collect.walk);
    job->collect.walk = NULL;
}

void ck_slices_done(struct choke_context *context, bool owner)
{
    struct ck_slices *slices = &context->slices;
    uint64_t deadline_ns = ck_clock_now_ns() + CLEANUP_NS;
    struct ck_trash *next;
    for (struct ck_trash *trash = slices->trash; trash; trash = next) {
        next = trash->next;
        bool gone = !owner || trash->overlay_fd >= 0; /* the kernel frees an overlay by itself */
        while (!gone && ck_clock_now_ns() < deadline_ns) {
            struct ck_slice slice = CK_SLICE_WHOLE;
            gone = ck_scratch_remove_step(&trash->scratch, &slice);
        }
        free_trash(trash);
    }
    slices->trash = NULL;
}
