/*
 * context.h - what is behind the public names: the context, its jobs, their results.
 *
 * A job is born by choke_start or choke_run, sits in the context's list until it is freed, and ends once: job_ended
 * fills the result and either puts the job into the queue of choke_next or, for a blocking run, leaves it to the
 * caller that waits.
 */
#ifndef CK_API_CONTEXT_H
#define CK_API_CONTEXT_H

#include "api/audit.h"
#include "api/slices.h"
#include "egress/proxy.h"
#include "policy/load.h"
#include "run/bwrap_plan.h"
#include "run/native_images.h"
#include "run/native_no_userns.h"
#include "run/watch.h"
#include "sys/digest.h"

#include <sys/types.h>

struct choke_context {
    pid_t owner;
    const struct ck_policy *policy;
    struct ck_policy *loaded; /* NULL: the policy is the one that is built in */
    bool from_file;
    struct ck_trusted policy_place;
    struct ck_binary_search search;
    struct ck_execs execs;
    struct ck_native_images native_images;
    struct ck_jails jails;
    struct ck_bwrap_state *bwrap_state; /* and after it those that were replaced */
    struct ck_native_no_userns_filters no_userns_filters;
    struct ck_watch watch;
    struct ck_proxy proxy;               /* of the runs with egress; nothing is made before there is one */
    struct ck_event_source event_source; /* the proxy in the watch, once it is there */
    bool proxy_watched;
    int null_fd;
    choke_event_fn on_event;
    void *event_data;
    struct choke_job *jobs;
    struct choke_job *done_first, *done_last; /* finished, not yet taken */
    size_t done_count;
    struct choke_job *garbage; /* finished, and freed by their owner while they ran */
    struct ck_arena text;
    const char **installs;              /* how to install each tool of the policy */
    char policy_sha256[CK_DIGEST_SIZE]; /* of its text, where it came from a file */
    struct ck_audit audit;
    struct ck_caller caller; /* whose authority everything was opened and proven with */
    uint64_t generation;     /* counts how often that has changed */
    bool fds_closed;         /* the program has closed our descriptors */
    struct ck_slices slices;
};

/* What a job with egress needs beyond its plan; zero-filled: it has none. */
struct ck_egress {
    struct ck_destination *rules;
    size_t rules_count;
    struct ck_gate_budget budget;
    struct ck_gate *gate;  /* from the coming of the listener to the end of the run */
    bool spent;            /* a bound of the budget was come up against */
    bool reports_attempts; /* the jail tells who tries another way */
    int error;             /* why there is no gate, and the run was ended: a positive errno */
};

struct ck_changes;
struct ck_changes_walk;

/* What is done with a run that has ended; zero-filled: nothing. */
struct ck_collect {
    struct ck_changes_walk *walk; /* through what it wrote into an overlay; NULL: none */
    bool had_slice;               /* it has had a slice */
    bool cut;                     /* it gets no more */
    int error;                    /* why its list was cut, a positive errno; 0: it was not */
};

struct choke_job {
    struct choke_context *context;
    struct choke_job *next, *previous; /* in the context's list */
    struct choke_job *next_done;
    struct ck_run run;
    bool finished;
    bool queued;
    bool blocking; /* choke_run waits for it: it does not go through choke_next */
    bool detached; /* freed by its owner while it ran */
    uint64_t timeout_ms;
    char probe[65];
    void *data;
    struct choke_result *result;

    uint64_t generation;           /* of the context, when it was planned */
    bool refused;                  /* nothing ran */
    bool has_intent;               /* it is in the audit log as an intent */
    uint64_t intent;               /* the number of that record */
    struct ck_plan *plan;          /* while it waits for its intent to be durable; else NULL */
    const char **requested_egress; /* the same: the egress of the request, as it was written */
    bool withdrawn;                /* cancelled meanwhile */
    choke_output_fn on_output;     /* the caller's, where the audit stands in front of it */
    void *output_data;
    struct ck_stream_hashes *hashes; /* NULL before the first output */
    bool hashes_failed;              /* there was no memory for them */
    struct ck_egress egress;
    struct ck_collect collect;
};

/* -EOWNERDEAD in a forked child, -EINVAL for NULL. */
int ck_context_check(const struct choke_context *context, struct choke_error *error);

/*
 * The same for what plans or proves, and for what waits for events: -EBADF where the program has closed our descriptors. Not
 * const: the first who notices notes it.
 */
int ck_context_check_fds(struct choke_context *context, struct choke_error *error);

/* One round of events, and what follows from it. 0 or a negative errno. */
int ck_context_round(struct choke_context *context, int timeout_ms);

struct ck_plan_sources ck_context_sources(struct choke_context *context);

/* Why there is no plan, or nothing made of it: result of ck_plan_make, or 0 where memory ran out afterwards. Negative. */
int ck_context_plan_failed(int result, struct choke_error *error);

/* ---- context_renew.c ---- */

/*
 * ck_context_check_fds, and a look at who the caller is now. What was opened, proven and made by another is let go of, so that
 * what follows is made by this one. A negative errno and *error where that cannot be done.
 */
int ck_context_renew(struct choke_context *context, struct choke_error *error);

/* ---- prove.c ---- */

/* For struct ck_jails; data is the context. */
void ck_prove_jail(void *data, const struct ck_jail *jail, bool egress, struct ck_jail_state *ret_state);

/* ---- result.c ---- */

/* A result with the names of the plan; the rest follows when the run has ended. NULL: no memory. */
struct choke_result *ck_result_new(const struct ck_plan *plan);
/* What holds from now on. */
void ck_result_started(struct choke_result *result, const struct ck_plan *plan);
void ck_result_fail(struct choke_result *result, const struct choke_error *error);
void ck_result_end(struct choke_result *result, struct ck_run *run);

/* The list of changes of a result, while it is made; and that it is made. */
struct ck_changes *ck_result_changes(struct choke_result *result);
void ck_result_collected(struct choke_result *result, bool is_kept);

/* What the proxy counted, and what of it was a limit. */
void ck_result_egress(struct choke_result *result, const struct ck_proxy_gate_totals *totals, bool spent);

/* ---- egress.c ---- */

/* Notes what the plan lets be reached. -ENOMEM. */
int ck_egress_prepare(struct choke_job *job, const struct ck_plan *plan);

/* For struct ck_watch: the listener of a run is here. */
void ck_egress_open(void *data, struct ck_run *run, int listen_fd, int direct_attempts_fd);

/* The run has ended: nothing passes any more, and the result has what passed. */
void ck_egress_end(struct choke_job *job);

/* Frees all; in a fork of the owner nothing is closed that the owner still uses. */
void ck_egress_done(struct choke_job *job);

/* ---- event.c ---- */

void ck_event_egress(const struct choke_job *job, const struct ck_gate_event *event);

void ck_event_refused(const struct choke_job *job);
void ck_event_started(const struct choke_job *job, const char *const *egress, const struct ck_jail_choice *jail);
void ck_event_ended(const struct choke_job *job);
void ck_event_cut(const struct choke_job *job);
void ck_event_repaired(const struct choke_context *context, uint64_t bytes);
void ck_event_unrotated(const struct choke_context *context, const char *message);
void ck_event_unrecorded(const struct choke_job *job, const char *message);

/* ---- job.c ---- */

/*
 * A job for a plan that is made already. It stays the caller's to be done with, but may be empty then: where the launch
 * waits, what is in it is taken. A blocking job does not come out of choke_next: its owner waits until it is finished.
 * NULL: no memory.
 */
struct choke_job *ck_job_from_plan(struct choke_context *context, const struct choke_request *request,
                                   struct ck_plan *plan, bool blocking);
/* Launches and hands out what waits for the disk, after one sync for all. */
void ck_job_sync_waiting(struct choke_context *context);
void ck_job_ended(void *data, struct ck_run *run);
/* What its run left is dealt with: the result is whole. */
void ck_job_collected(struct choke_job *job);
void ck_job_free_garbage(struct choke_context *context);
void ck_job_free_all(struct choke_context *context);

#endif
