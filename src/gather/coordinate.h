/*
 * coordinate.h - runs all probes on one repository, in parallel, from one thread.
 *
 * Must: end on a signal, and end everything that it started; keep what was finished by then. Must
 * not: let anything in the repository choose what is run, how, or where something is written.
 */
#ifndef CK_GATHER_COORDINATE_H
#define CK_GATHER_COORDINATE_H

#include "gather/findings/baseline.h"
#include "gather/gather.h"

#define CK_COORDINATE_JOBS_MAX 64
#define CK_COORDINATE_OUTPUT_BYTES ((size_t)1 << 30)

/* How a gather is asked to stop. */
struct ck_coordinate_stop {
    int fd; /* readable: a request to stop may be pending */
    /* Takes what is pending. True: stop; then it has cancelled all jobs, and stays true. */
    bool (*take)(void *data, struct choke_context *context);
    void *data;
};

struct ck_coordinate_options {
    struct choke_context *context;
    struct ck_coordinate_stop stop;
    const struct ck_probes *probes;
    /* NULL-terminated names of probes; those that they need are added; NULL: all. */
    const char *const *only;
    const char *root; /* as resolved */
    int root_fd;
    const char *call_root; /* another name of the root for the calls, "/proc/self/fd/3"; NULL: root */
    enum choke_jail jail;  /* of the calls; CHOKE_JAIL_DEFAULT: by the routes of their tools */
    bool require_jail;
    unsigned jobs;                      /* 1 to CK_COORDINATE_JOBS_MAX */
    uint64_t timeout_ms;                /* for each call; CHOKE_TIMEOUT_FROM_POLICY: the probe's limit */
    size_t output_bytes;                /* kept of all calls that run at the same time; 0: CK_COORDINATE_OUTPUT_BYTES */
    bool is_one_of_many;                /* other gathers run in other threads of this process */
    int keep_fd;                        /* a directory for the output of the calls; -1: none */
    const struct ck_baseline *baseline; /* NULL: none */
    int table_fd;                       /* where the live table goes, if it is a terminal; -1: nowhere */
    /* May be NULL. Called after each round of events. */
    void (*on_round)(void *data, const struct ck_gathering *gathering);
    void *round_data;
};

/*
 * Returns 0 for any result of the probes, or a negative errno if there is nothing to report. Free
 * ret_gathering with ck_gather_done; its strings may belong to options.
 */
int ck_coordinate(const struct ck_coordinate_options *options, struct ck_gathering *ret_gathering,
                  struct choke_error *error);

#endif
