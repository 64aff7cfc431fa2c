/*
 * probe_run.h - one probe on its way through its calls.
 *
 *   1. ck_probe_run_begin   the probe's first call is started, or the probe has ended already.
 *   2. ck_probe_run_take    a call of it has ended: the next one is started, or the answers are read.
 *   3. ck_probe_run_drop    what it printed is wanted by no other probe any more.
 *   4. ck_probe_run_done
 *
 * Nothing that becomes of a probe is an error here: it is in the report. Only what ends everything (no memory) is.
 */
#ifndef CK_GATHER_PROBE_RUN_H
#define CK_GATHER_PROBE_RUN_H

#include "gather/files.h"
#include "gather/gather.h"
#include "gather/temporary.h"

/* What all courses share. */
struct ck_gather_state {
    struct choke_context *context;
    const char *root;
    uint64_t timeout_ms; /* for each call; CHOKE_TIMEOUT_FROM_POLICY: what the probe says */
    size_t output_bytes; /* no stream is kept beyond it */
    int keep_fd;         /* a directory for what the calls printed; -1: none */
    int keep_error;      /* of the first that could not be written there, negative */
    uint64_t start_us;   /* monotonic */
    bool cancelled;
    struct ck_probe_run *runs; /* one for each probe */
    size_t count;
};

struct ck_probe_run {
    struct ck_gather_state *gather_state;
    struct ck_probe_report *report;
    const struct ck_matches *matches;
    struct choke_job *jobs[CK_PROBE_CALLS_MAX];      /* of the calls so far; freed once nobody reads them */
    struct ck_temporary changes[CK_PROBE_CALLS_MAX]; /* what they wrote into their overlays */
    size_t answered;                                 /* calls that gave an answer */
    void *prepared;
    bool is_prepared; /* begun, and not ended */
};

void ck_probe_run_begin(struct ck_probe_run *run);
void ck_probe_run_take(struct ck_probe_run *run, struct choke_job *job);
void ck_probe_run_drop(struct ck_probe_run *run);
void ck_probe_run_done(struct ck_probe_run *run); /* zero-filled is fine */

/* Ends the probe with a state and a reason. */
void ck_probe_run_end(struct ck_probe_run *run, enum ck_probe_state state, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Microseconds since the start of all. */
uint64_t ck_gather_elapsed_us(const struct ck_gather_state *gather_state);

#endif
