/*
 * context.h - the structs of the public names: the context, its jobs, and what the files of src/api
 * share.
 *
 * choke_start or choke_run creates a job. It is in the context's list until it is freed, and it
 * ends once: ck_job_ended fills the result. Then the job goes into the queue of choke_next, or, for
 * a blocking run, to the caller that waits.
 */
#ifndef CK_API_CONTEXT_H
#define CK_API_CONTEXT_H

#include "api/audit.h"
#include "api/machine.h"
#include "api/proof_memory.h"
#include "api/slices.h"
#include "base/denial.h"
#include "egress/proxy.h"
#include "policy/load.h"
#include "run/bwrap_plan.h"
#include "run/native_images.h"
#include "run/native_no_userns.h"
#include "run/watch.h"
#include "sys/digest.h"

#include <sys/types.h>

/* For `policy learn`; zero-filled: an ordinary context. */
struct ck_learning {
    bool session; /* every run is recorded as one of `policy learn`, and leaves the repository as it is */
    bool jail;    /* runs are in the learning jail */
    char *records;
    size_t bytes;
    uint64_t more;    /* events without a record */
    const char *tool; /* path of the tool in the jail; or NULL */
};

struct ck_guarded;

struct choke_context {
    pid_t owner;
    const struct ck_policy *policy;
    struct ck_policy *loaded; /* NULL: the embedded policy is used */
    bool from_file;
    struct ck_machine machine;
    struct ck_trusted policy_place;
    struct ck_binary_search search;
    struct ck_execs execs;
    struct ck_native_images native_images;
    struct ck_jails jails;
    struct ck_proof_memory proof_memory;
    struct ck_bwrap_state *bwrap_state; /* with the replaced ones after it */
    struct ck_native_no_userns_filters no_userns_filters;
    struct ck_watch watch;
    /* for runs with egress; nothing is opened before the first */
    struct ck_proxy proxy;
    struct ck_event_source event_source; /* the proxy in the watch, once it is open */
    bool proxy_watched;
    int null_fd;
    choke_event_fn on_event;
    void *event_data;
    enum choke_level least_level; /* of events; 0: all are made */
    struct choke_job *jobs;
    struct choke_job *done_first, *done_last; /* finished, not yet returned by choke_next */
    size_t done_count;
    struct choke_job *garbage; /* finished, after their owner freed them while they ran */
    struct ck_arena text;
    const char *policy_json;            /* NULL: not yet made */
    const char **installs;              /* how to install each tool of the policy */
    char policy_sha256[CK_DIGEST_SIZE]; /* if it is a file: of its text, or with `extends` or `catalog` of the result */
    struct ck_audit audit;
    const char *const *secret_files; /* of guard, absolute: no jail may show them; NULL: none */
    struct ck_caller caller;         /* with its authority everything here was opened and proven */
    uint64_t generation;             /* how often the authority has changed */
    bool git_reported;               /* that a git directory is not shown was reported */
    bool fds_closed;                 /* the program has closed our descriptors */
    struct ck_learning learn;
    struct ck_slices slices;
};

/* State of a job with egress, beyond its plan; zero-filled: no egress. */
struct ck_egress {
    struct ck_destination *rules;
    size_t rules_count;
    struct ck_gate_budget budget;
    struct ck_upstream *upstream; /* the proxy of the site; NULL: none */
    struct ck_gate *gate;         /* from the arrival of the listener to the end of the run */
    bool spent;                   /* a limit of the budget was reached */
    bool reports_attempts;        /* the jail reports direct attempts */
    int error;                    /* why there is no gate, and the run was ended: a positive errno */
};

struct ck_changes;
struct ck_changes_walk;

/* Listing and keeping the changes of a run that has ended; zero-filled: nothing to do. */
struct ck_collect {
    struct ck_changes_walk *walk; /* through what it wrote into an overlay; NULL: none */
    bool had_slice;               /* every job gets at least one slice */
    bool cut;                     /* it gets no more slices */
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
    uint64_t intent;               /* the seq of that record */
    struct ck_audit_guard *guard;  /* it is the program of a guard (audit.h); NULL: a tool */
    struct ck_plan *plan;          /* while it waits for its intent to be durable; else NULL */
    const char **requested_egress; /* meanwhile: the egress of the request, as written */
    bool withdrawn;                /* cancelled meanwhile */
    choke_output_fn on_output;     /* the caller's callback, if the audit hashes output before it */
    void *output_data;
    struct ck_stream_hashes *hashes; /* NULL before the first output */
    bool hashes_failed;              /* no memory for them */
    bool names_execs;                /* the jail names what it refuses */
    struct ck_egress egress;
    struct ck_collect collect;
    struct choke_guard *cage; /* of PROGRAM's job (api/guard.h); else NULL */
    const char *inside;       /* path of the tool in the jail; in the arena of the result; or NULL */
    struct ck_identity root;  /* of the request */
};

/* -EOWNERDEAD in a forked child, -EINVAL for NULL. */
int ck_context_check(const struct choke_context *context, struct choke_error *error);

/*
 * The same, for calls that plan, prove or wait for events: -EBADF if the program has closed our
 * descriptors. Not const: the first call that notices it sets fds_closed.
 */
int ck_context_check_fds(struct choke_context *context, struct choke_error *error);

/* One round of events and its consequences. 0 or a negative errno. */
int ck_context_round(struct choke_context *context, int timeout_ms);

struct ck_plan_sources ck_context_sources(struct choke_context *context);

/*
 * Fills *error for a failed ck_plan_make. result: what that returned, or 0 if memory ran out
 * afterwards. Negative.
 */
int ck_context_plan_failed(int r, struct choke_error *error);

/* ---- context_renew.c ---- */

/*
 * ck_context_check_fds, then a check who the caller is now. If its authority has changed, what was
 * opened and proven before is released, so that it is made again as the present caller. A negative
 * errno and *error on failure.
 */
int ck_context_renew(struct choke_context *context, struct choke_error *error);

/* ---- prove.c ---- */

/* For struct ck_jails; data is the context. */
void ck_prove_jail(void *data, const struct ck_jail *jail, struct ck_jail_form form, struct ck_jail_state *ret_state);

/* ---- result.c ---- */

/*
 * A result with the names of the plan; the rest is filled when the run has ended. NULL: no memory.
 */
struct choke_result *ck_result_new(const struct ck_plan *plan);
/* Fills what is known when the tool has started. */
void ck_result_started(struct choke_result *result, const struct ck_plan *plan);
void ck_result_fail(struct choke_result *result, const struct choke_error *error);
void ck_result_end(struct choke_result *result, struct ck_run *run);

/* The list of changes of a result, to be filled; and the call that ends filling. */
struct ck_changes *ck_result_changes(struct choke_result *result);
void ck_result_collected(struct choke_result *result, bool is_kept);

/* For texts that live as long as the result. */
struct ck_arena *ck_result_arena(struct choke_result *result);

/* What the proxy counted. spent: it reached a limit. */
void ck_result_egress(struct choke_result *result, const struct ck_proxy_gate_totals *totals, bool spent);

/* ---- denied.c ---- */

/* The run has ended: puts what its jail refused into the result. */
void ck_denied_end(struct choke_job *job);

/* The next record from *at on; ret_text: its path, followed by the program. False: there is none. */
bool ck_denied_next(const char **at, const char *end, struct ck_denial_record *ret_record, const char **ret_text);

/* Is it about something that the jail refused? text: its path. */
bool ck_denied_is_refusal(const struct ck_denial_record *record, const char *text);
const char *ck_denied_kind(uint32_t kind); /* as in the result */

/* Escaped, and without a credential. NULL: no memory. */
const char *ck_denied_show(struct ck_arena *arena, const char *text);

/* ---- learn.c ---- */

/* A learning run has ended: keeps the records of its jail. more: how many are missing. */
void ck_learn_keep(struct choke_job *job, const char *records, size_t bytes, uint64_t more);

/* ---- egress.c ---- */

/* Copies what the plan allows to be reached. -ENOMEM. */
int ck_egress_prepare(struct choke_job *job, const struct ck_plan *plan);

/* For struct ck_watch: the listener of a run has arrived. */
void ck_egress_open(void *data, struct ck_run *run, int listen_fd, int direct_attempts_fd);

/* The run has ended: closes the gate, and puts the totals into the result. */
void ck_egress_end(struct choke_job *job);

/* Frees everything. In a fork of the owner nothing is closed that the owner still uses. */
void ck_egress_done(struct choke_job *job);

/* ---- guard.c ---- */

/* The job is PROGRAM's. */
void ck_guard_own(struct choke_guard *guard, struct choke_job *job);

/* For struct ck_watch: a connection of a cage. */
void ck_guard_connected(void *data, struct ck_run *run, int fd, bool again);

/* The job has ended: if it is PROGRAM's, what became of the executions in its cage is put into its record. */
void ck_guard_ended(struct choke_job *job);

/* Replaces the policy of the context by one that is made of it, and lives as long. 0 or -ENOMEM. */
int ck_context_use_policy(struct choke_context *context, const struct ck_policy *policy, struct choke_error *error);

/* ---- event.c ---- */

void ck_event_egress(const struct choke_job *job, const struct ck_gate_event *event);

void ck_event_refused(const struct choke_job *job);
void ck_event_started(const struct choke_job *job, const char *const *egress, const struct ck_plan *plan);
void ck_event_noexec(const struct choke_job *job, const char *mount);
void ck_event_ended(const struct choke_job *job);
void ck_event_cut(const struct choke_job *job);
void ck_event_missing(const struct choke_context *context, const struct ck_tool *tool, const char *install);
void ck_event_repaired(const struct choke_context *context, uint64_t bytes);
void ck_event_unrotated(const struct choke_context *context, const char *message);
void ck_event_unrecorded(const struct choke_job *job, const char *message);

/* ---- job.c ---- */

/*
 * A job for a finished plan. The caller still calls ck_plan_done on the plan; it may be empty then,
 * because a launch that waits takes its content. A blocking job does not come out of choke_next:
 * its owner waits until it is finished. NULL: no memory.
 */
struct choke_job *ck_job_from_plan(struct choke_context *context, const struct choke_request *request,
                                   struct ck_plan *plan, bool blocking);
/* As choke_start, with what guard adds to a plan. */
int ck_job_start_guarded(struct choke_guard *guard, const struct choke_request *request,
                         const struct ck_guarded *guarded, struct choke_job **ret_job, struct choke_error *error);
/* One sync for all jobs that wait for the disk; then launches or returns them. */
void ck_job_sync_waiting(struct choke_context *context);
void ck_job_ended(void *data, struct ck_run *run);
/* What the run left is listed, kept and removed: the result is complete. */
void ck_job_collected(struct choke_job *job);
void ck_job_free_garbage(struct choke_context *context);
void ck_job_free_all(struct choke_context *context);

#endif
