/*
 * probe_run.h - one probe and its calls.
 *
 *   1. ck_probe_run_begin   starts the first call, or ends the probe.
 *   2. ck_probe_run_take    a call has ended: starts the next one, or reads the answers.
 *      ck_probe_run_take_inside  the same for a probe without calls
 *   3. ck_probe_run_drop    no other probe needs the output any more.
 *   4. ck_probe_run_done
 *
 * A failure of a probe is not an error here: it is in the report. Only a failure that ends the
 * whole gather (out of memory) is.
 */
#ifndef CK_GATHER_PROBE_RUN_H
#define CK_GATHER_PROBE_RUN_H

#include "gather/files.h"
#include "gather/gather.h"
#include "gather/inside.h"
#include "gather/temporary.h"

/* Shared by all probe runs. */
struct ck_gather_state {
    struct choke_context *context;
    const char *root;      /* as resolved */
    const char *call_root; /* another name of it for the calls; NULL: root */
    enum choke_jail jail;  /* of the calls */
    bool require_jail;
    uint64_t timeout_ms;       /* for each call; CHOKE_TIMEOUT_FROM_POLICY: the probe's limit */
    size_t output_bytes;       /* the most that is kept of a stream */
    int keep_fd;               /* a directory for the output of the calls; -1: none */
    int keep_error;            /* the first negative errno of a write there */
    uint64_t start_us;         /* monotonic */
    int inside_fd;             /* an eventfd: a probe that needs no tool has ended; -1: there is none */
    bool cancelled;            /* by a signal: nothing new is started */
    struct ck_probe_run *runs; /* one per probe */
    size_t count;
};

struct ck_probe_run {
    struct ck_gather_state *gather_state;
    struct ck_probe_report *report;   /* owned by the gathering */
    const struct ck_matches *matches; /* the files that applies_when matched */
    /* Of the calls so far; freed when they are no longer read. */
    struct choke_job *jobs[CK_PROBE_CALLS_MAX];
    struct ck_temporary changes[CK_PROBE_CALLS_MAX]; /* what the calls wrote into their overlays */
    size_t left_out[CK_PROBE_CALLS_MAX];             /* files that a preparation left out of a call */
    size_t answered;                                 /* calls with an answer */
    void *prepared;                                  /* the state of the preparation */
    bool is_prepared;                                /* begun, and not ended */
    struct ck_inside_job *inside;                    /* while it runs; NULL */
};

void ck_probe_run_begin(struct ck_probe_run *run);
void ck_probe_run_take(struct ck_probe_run *run, struct choke_job *job);

/*
 * If the probe works inside and has ended: reads its evidence. If the gather is cancelled it is left
 * alone. True if the probe has ended by this.
 */
bool ck_probe_run_take_inside(struct ck_probe_run *run);
void ck_probe_run_drop(struct ck_probe_run *run);
void ck_probe_run_done(struct ck_probe_run *run); /* zero-filled is fine */

/* Ends the probe with a state and a reason. */
void ck_probe_run_end(struct ck_probe_run *run, enum ck_probe_state state, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Microseconds since the start of the gather. */
uint64_t ck_gather_elapsed_us(const struct ck_gather_state *gather_state);

#endif
