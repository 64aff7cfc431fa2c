/*
 * job.c - starts, waits for, cancels and frees jobs.
 *
 * The life of a job:
 *
 *   new_job       linked into the context, with an empty result
 *   begin         refused; or its intent is recorded, and it is launched or postponed
 *   postpone      only with CHOKE_AUDIT_SYNC_EVERY: waits until its intent is on the disk
 *   launch        the keeper gets the plan
 *   ck_job_ended  the tool has ended; slices list and keep its changes
 *   conclude      recorded; it may wait for the disk once more
 *   finish        in the queue of choke_next, left to choke_run, or garbage if its owner freed it
 *
 * A job is in at most one list of next_done at a time: the queue of choke_next, the two lists of
 * the audit, the slices, or the garbage.
 */
#include "api/context.h"
#include "api/guard.h"
#include "api/redact.h"
#include "api/versioned.h"

#include "base/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* At the front: the order of this list does not matter. */
static void link_job(struct choke_job *job)
{
    struct choke_context *context = job->context;
    job->next = context->jobs;
    if (job->next)
        job->next->previous = job;
    context->jobs = job;
}

static void unlink_job(struct choke_job *job)
{
    if (job->previous)
        job->previous->next = job->next;
    else
        job->context->jobs = job->next;
    if (job->next)
        job->next->previous = job->previous;
}

static void enqueue(struct choke_job *job)
{
    struct choke_context *context = job->context;
    if (context->done_last)
        context->done_last->next_done = job;
    else
        context->done_first = job;
    context->done_last = job;
    context->done_count++;
    job->queued = true;
}

/* Linear only for a job that is freed before choke_next returned it: choke_next takes the first. */
static void dequeue(struct choke_job *job)
{
    struct choke_context *context = job->context;
    struct choke_job *before = NULL;
    for (struct choke_job *at = context->done_first; at != job; at = at->next_done)
        before = at;
    if (before)
        before->next_done = job->next_done;
    else
        context->done_first = job->next_done;
    if (context->done_last == job)
        context->done_last = before;
    context->done_count--;
    job->next_done = NULL;
    job->queued = false;
}

/* Only a postponed job has a plan on the heap. */
static void drop_plan(struct choke_job *job)
{
    if (job->plan)
        ck_plan_done(job->plan);
    free(job->plan);
    job->plan = NULL;
}

/* Slices are dropped before the result is freed: they fill its list of changes. */
static void destroy(struct choke_job *job)
{
    if (job->queued)
        dequeue(job);
    unlink_job(job);
    if (job->cage)
        job->cage->job = NULL;
    ck_slices_drop(job);
    ck_run_done(&job->run);
    ck_egress_done(job);
    choke_result_free(job->result);
    drop_plan(job);
    free(job->hashes);
    free(job);
}

/*
 * A detached job is not freed here: callers up the stack still use it. The end of the round frees
 * it.
 */
static void finish(struct choke_job *job)
{
    job->finished = true;
    if (job->detached) {
        job->next_done = job->context->garbage;
        job->context->garbage = job;
    } else if (!job->blocking) {
        enqueue(job);
    }
}

/*
 * The event comes before the queue, so that a program sees the event before choke_next has the job.
 */
static void hand_out(struct choke_job *job)
{
    if (job->refused)
        ck_event_refused(job);
    else
        ck_event_ended(job);
    finish(job);
}

/*
 * The job has its result and is recorded. It may have to wait until the record is durable. A
 * refused job has no descriptor that becomes readable; so the context is woken for it, or a program
 * that waits for choke_fd would never see it.
 */
static void conclude(struct choke_job *job)
{
    struct choke_context *context = job->context;
    if (ck_audit_waits(context)) {
        job->next_done = context->audit.ended;
        context->audit.ended = job;
        context->audit.waiting_count++;
        ck_watch_wake(&context->watch);
        return;
    }
    hand_out(job);
    if (job->refused && !job->blocking)
        ck_watch_wake(&context->watch);
}

/* Called by the watch when the warden has reported, or is lost. */
void ck_job_ended(void *data, struct ck_run *run)
{
    struct choke_job *job = run->owner;
    /* The context, which the job has too. */
    (void)data;
    ck_result_end(job->result, run);
    /* Steps of the jail. A proof of another process is not believed any more. */
    if (run->report.stage == CK_STAGE_JAIL || run->report.stage == CK_STAGE_EGRESS ||
        run->report.stage == CK_STAGE_PRIVILEGES)
        ck_proof_memory_forget(job->context);
    ck_denied_end(job);
    ck_guard_ended(job);
    ck_egress_end(job);
    /*
     * Messages of the warden may quote paths. The request is gone, so only the text itself is
     * checked.
     */
    ck_redact_error(&job->result->error, NULL);
    if (!ck_slices_begin(job))
        ck_job_collected(job);
}

/* The outcome is recorded after the changes are listed: the record has their number. */
void ck_job_collected(struct choke_job *job)
{
    ck_audit_outcome(job);
    conclude(job);
}

static struct choke_job *new_job(struct choke_context *context, const struct choke_request *request,
                                 const struct ck_plan *plan, bool blocking)
{
    struct choke_job *job = calloc(1, sizeof(*job));
    if (!job)
        return NULL;
    job->result = ck_result_new(plan);
    if (!job->result) {
        free(job);
        return NULL;
    }
    job->context = context;
    job->blocking = blocking;
    job->generation = context->generation;
    job->timeout_ms = plan->verdict.timeout_ms;
    job->data = request->job_data;
    /* No descriptor is 0: ck_run_done closes what is not -1, also for a job that never ran. */
    job->run = (struct ck_run){.out.fd = -1, .err.fd = -1, .overlay = CK_OVERLAY_NONE, .owner = job};
    job->run.on_output = request->on_output;
    job->run.output_data = request->output_data;
    /* A name that is not valid is not repeated in events and records. */
    if (request->probe && ck_judge_is_probe(request->probe))
        (void)snprintf(job->probe, sizeof(job->probe), "%s", request->probe);
    link_job(job);
    return job;
}

/* Nothing will run. A job with an intent gets an outcome, any other is recorded as refused. */
static void refuse(struct choke_job *job, const struct choke_error *error)
{
    struct choke_error shown = *error;
    ck_redact_error(&shown, NULL);
    /* Decides which event is sent: refused, not ended. */
    job->refused = true;
    ck_result_fail(job->result, &shown);
    ck_audit_outcome(job);
    conclude(job);
}

/*
 * The result has its error first, because the record of a refusal has it. A failed intent is
 * already reported as unrecorded; a second attempt to write would fail too.
 */
static void refuse_call(struct choke_job *job, const struct choke_request *request, struct ck_plan *plan,
                        const struct choke_error *error)
{
    struct choke_error shown = *error;
    ck_redact_error(&shown, request);
    ck_result_fail(job->result, &shown);
    if (!job->result->unrecorded)
        ck_audit_refused(job, request, plan);
    refuse(job, &shown);
}

/* On failure nothing has run. The intent that is in the log gets its outcome from refuse. */
static void launch(struct choke_job *job, const char *const *egress, const struct ck_plan *plan)
{
    struct choke_error error;
    int r = ck_egress_prepare(job, plan);
    if (r < 0)
        (void)ck_error_set(&error, CHOKE_SPAWN_FAILED, -r, "cannot prepare for egress: %s", strerror(-r));
    else
        r = ck_watch_start(&job->context->watch, &job->run, plan, &error);
    if (r < 0) {
        refuse(job, &error);
        return;
    }
    ck_result_started(job->result, plan);
    job->names_execs = plan->jail.names_execs;
    job->root = plan->root;
    /* Without memory for it, the tool's file is named and not its name in the policy. */
    job->inside = plan->inside ? ck_arena_strdup(ck_result_arena(job->result), plan->inside) : NULL;
    ck_event_started(job, egress, plan);
    if (plan->noexec_mount)
        ck_event_noexec(job, plan->noexec_mount);
}

/*
 * Waits for the next round of events, so that one sync serves all jobs that were started before it.
 */
static void postpone(struct choke_job *job, const struct choke_request *request, struct ck_plan *plan)
{
    struct choke_context *context = job->context;
    struct choke_error error;
    /*
     * Copied into the plan's arena, which moves with the plan: the request is the caller's and ends
     * with this call.
     */
    job->requested_egress = request->egress ? ck_arena_strv(&plan->arena, request->egress) : NULL;
    job->plan = !request->egress || job->requested_egress ? ck_plan_take(plan) : NULL;
    if (!job->plan) {
        (void)ck_error_oom(&error);
        /* The intent is recorded, so this is the outcome of a call and not an invalid request. */
        error.outcome = CHOKE_SPAWN_FAILED;
        refuse(job, &error);
        return;
    }
    job->next_done = context->audit.waiting;
    context->audit.waiting = job;
    context->audit.waiting_count++;
    ck_watch_wake(&context->watch);
}

/* No record, no run: the intent comes before anything that creates a process. */
static void begin(struct choke_job *job, const struct choke_request *request, struct ck_plan *plan)
{
    struct choke_error error;
    if (plan->verdict.outcome != CHOKE_NONE) {
        refuse_call(job, request, plan, &plan->verdict.error);
    } else if (ck_proof_memory_check(job->context, plan, &error) < 0) {
        refuse_call(job, request, plan, &error);
    } else if (ck_audit_intent(job, request, plan, &error) < 0) {
        job->result->rule = "audit";
        refuse_call(job, request, plan, &error);
    } else if (ck_audit_waits(job->context)) {
        postpone(job, request, plan);
    } else {
        launch(job, request->egress, plan);
    }
}

/* The list in the order of starting; jobs are added at its front. */
static struct choke_job *reverse(struct choke_job *list)
{
    struct choke_job *first = NULL;
    for (struct choke_job *next; list; list = next) {
        next = list->next_done;
        list->next_done = first;
        first = list;
    }
    return first;
}

/* The caller may have changed, or cancelled, while the job waited. */
static void launch_waiting(struct choke_job *job, const struct choke_error *unsynced)
{
    struct choke_error error;
    if (job->withdrawn) {
        (void)ck_error_set(&error, CHOKE_CANCELLED, ECANCELED, "'%s' was cancelled", job->result->tool_name);
        refuse(job, &error);
    } else if (unsynced) {
        job->result->rule = "audit";
        refuse(job, unsynced);
    } else if (ck_context_renew(job->context, &error) < 0 || job->generation != job->context->generation) {
        /*
         * The plan was made with an authority that the caller does not have any more, or did not
         * have then.
         */
        if (job->generation != job->context->generation)
            (void)ck_error_set(&error, CHOKE_SPAWN_FAILED, ESTALE,
                               "the program changed its user, root or namespaces after it requested '%s'",
                               job->result->tool_name);
        error.outcome = CHOKE_SPAWN_FAILED;
        refuse(job, &error);
    } else {
        launch(job, (const char *const *)job->requested_egress, job->plan);
    }
    job->requested_egress = NULL;
    drop_plan(job);
}

void ck_job_sync_waiting(struct choke_context *context)
{
    struct ck_audit *audit = &context->audit;
    struct choke_error error;
    if (!audit->waiting && !audit->ended)
        return;
    /*
     * The lists are taken first: a job that is refused below waits for a sync again, in a new list.
     */
    struct choke_job *waiting = reverse(audit->waiting);
    struct choke_job *ended = reverse(audit->ended);
    audit->waiting = audit->ended = NULL;
    audit->waiting_count = 0;
    bool unsynced = ck_audit_sync(context, &error) < 0;
    for (struct choke_job *job = waiting, *next; job; job = next) {
        next = job->next_done;
        job->next_done = NULL;
        launch_waiting(job, unsynced ? &error : NULL);
    }
    for (struct choke_job *job = ended, *next; job; job = next) {
        next = job->next_done;
        job->next_done = NULL;
        if (unsynced)
            ck_audit_unrecorded(job, &error);
        hand_out(job);
    }
}

struct choke_job *ck_job_from_plan(struct choke_context *context, const struct choke_request *request,
                                   struct ck_plan *plan, bool blocking)
{
    struct choke_job *job = new_job(context, request, plan, blocking);
    if (job)
        begin(job, request, plan);
    return job;
}

static void work_ahead(void *data, const struct ck_plan *plan)
{
    struct choke_context *context = data;
    ck_watch_work_ahead(&context->watch, plan);
}

/*
 * 0 and a job, also for a refused call: its result says why. Negative: there is no job, and *error
 * says why.
 */
static int start_known(struct choke_context *context, const struct choke_request *known,
                       const struct ck_guarded *guarded, bool blocking, struct choke_job **ret_job,
                       struct choke_error *error)
{
    struct ck_plan_sources sources = ck_context_sources(context);
    sources.guarded = guarded;
    sources.ahead = work_ahead;
    sources.data = context;
    struct ck_plan plan;
    int r = ck_plan_make(&sources, known, &plan);
    struct choke_job *job = r < 0 ? NULL : new_job(context, known, &plan, blocking);
    if (job && guarded && guarded->program)
        ck_guard_own(guarded->guard, job);
    if (job)
        begin(job, known, &plan);
    /* In any case: a launch has sent its descriptors, and postpone has left it empty. */
    ck_plan_done(&plan);
    if (!job)
        return ck_context_plan_failed(r, error);
    *ret_job = job;
    return 0;
}

static int start(struct choke_context *context, const struct choke_request *request, bool blocking,
                 struct choke_job **ret_job, struct choke_error *error)
{
    /* Before the plan: it opens files with the authority that the caller has now. */
    int r = ck_context_renew(context, error);
    if (r < 0)
        return r;
    if (!request || !ret_job)
        return ck_error_set(error, CHOKE_INVALID, EINVAL, "a request and a pointer for its result are required");
    struct choke_request known;
    r = ck_versioned_read(CK_VERSIONED(choke_request), request, request->struct_size, &known, error);
    return r < 0 ? r : start_known(context, &known, NULL, blocking, ret_job, error);
}

int ck_job_start_guarded(struct choke_guard *guard, const struct choke_request *request,
                         const struct ck_guarded *guarded, struct choke_job **ret_job, struct choke_error *error)
{
    return start_known(guard->context, request, guarded, false, ret_job, error);
}

int choke_start(struct choke_context *context, const struct choke_request *request, struct choke_job **ret_job,
                struct choke_error *error)
{
    return start(context, request, false, ret_job, error);
}

int choke_run(struct choke_context *context, const struct choke_request *request, struct choke_result **ret_result,
              struct choke_error *error)
{
    struct choke_job *job = NULL;
    if (!ret_result)
        return ck_error_set(error, CHOKE_INVALID, EINVAL, "a pointer for the result is required");
    int r = start(context, request, true, &job, error);
    if (!job)
        return r;
    while (!job->finished) {
        r = ck_context_round(context, -1);
        if (r < 0 && !job->finished) {
            /* Only the result is lost: the job ends later as garbage, its run is not forgotten. */
            job->detached = true;
            return ck_error_set(error, CHOKE_SPAWN_FAILED, -r, "cannot wait for events: %s", strerror(-r));
        }
    }
    /* The caller owns the result from here on; destroy must not free it. */
    *ret_result = job->result;
    job->result = NULL;
    destroy(job);
    return 0;
}

/* The caller owns the job, and frees it with choke_job_free. */
struct choke_job *choke_next(struct choke_context *context)
{
    struct choke_job *job = context->done_first;
    if (job)
        dequeue(job);
    return job;
}

void choke_cancel(struct choke_job *job)
{
    if (!job || job->finished || ck_context_check(job->context, NULL) < 0)
        return;
    /* Not launched yet: launch_waiting refuses it. */
    if (job->plan)
        job->withdrawn = true;
    else if (job->run.warden)
        ck_watch_cancel(&job->context->watch, &job->run);
    else
        /* the tool has ended: the next round stops listing and keeping */
        job->run.cancelled = true;
}

void choke_cancel_all(struct choke_context *context)
{
    if (ck_context_check(context, NULL) < 0)
        return;
    /* The three places where an unfinished job can be. */
    for (struct ck_run *run = context->watch.running; run; run = run->next)
        ck_watch_cancel(&context->watch, run);
    for (struct choke_job *job = context->audit.waiting; job; job = job->next_done)
        job->withdrawn = true;
    for (struct choke_job *job = context->slices.first; job; job = job->next_done)
        job->run.cancelled = true;
}

void choke_pause(struct choke_job *job, unsigned streams)
{
    if (job && !job->finished && ck_context_check(job->context, NULL) == 0)
        ck_watch_pause(&job->context->watch, &job->run, streams);
}

void choke_resume(struct choke_job *job, unsigned streams)
{
    if (job && !job->finished && ck_context_check(job->context, NULL) == 0)
        ck_watch_resume(&job->context->watch, &job->run, streams);
}

const struct choke_result *choke_job_result(const struct choke_job *job)
{
    return job->finished ? job->result : NULL;
}

uint64_t choke_job_timeout_ms(const struct choke_job *job)
{
    return job->timeout_ms;
}

void choke_job_set_data(struct choke_job *job, void *data)
{
    job->data = data;
}

void *choke_job_data(const struct choke_job *job)
{
    return job->data;
}

void choke_job_free(struct choke_job *job)
{
    if (!job)
        return;
    if (job->finished) {
        destroy(job);
        return;
    }
    /* Freed by the round in which it ends: its process must be reaped and its end recorded. */
    job->detached = true;
    choke_cancel(job);
}

void ck_job_free_garbage(struct choke_context *context)
{
    while (context->garbage) {
        struct choke_job *job = context->garbage;
        context->garbage = job->next_done;
        destroy(job);
    }
}

/* At the end of the context: the wardens have ended, so nothing is waited for. */
void ck_job_free_all(struct choke_context *context)
{
    for (struct choke_job *job = context->jobs, *next; job; job = next) {
        next = job->next;
        destroy(job);
    }
}
