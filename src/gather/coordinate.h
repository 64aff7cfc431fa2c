/*
 * coordinate.h - all probes on one repository, side by side, from one thread.
 *
 * Must: end when told to, by a signal, with all that it started ended; keep what was finished by then.
 * Must not: let anything in the repository choose what is run, how, or where something is written.
 */
#ifndef CK_GATHER_COORDINATE_H
#define CK_GATHER_COORDINATE_H

#include "front/session.h"
#include "gather/gather.h"

#define CK_COORDINATE_JOBS_MAX 64

struct ck_coordinate_options {
    struct choke_context *context;
    struct ck_session *session; /* begun */
    const struct ck_probes *probes;
    const char *const *only; /* NULL-terminated names of probes; what they need comes along; NULL: all */
    const char *root;        /* as resolved */
    int root_fd;
    unsigned jobs;       /* 1 to CK_COORDINATE_JOBS_MAX */
    uint64_t timeout_ms; /* for each call; CHOKE_TIMEOUT_FROM_POLICY: what the probes say */
    int keep_fd;         /* a directory for what the calls print; -1: none */
    int table_fd;        /* where the live table goes, if it is a terminal */
};

/*
 * 0, whatever became of the probes; a negative errno where there is nothing to tell. ret_gathering is done with
 * ck_gather_done; its strings may be those of how.
 */
int ck_coordinate(const struct ck_coordinate_options *options, struct ck_gathering *ret_gathering,
                  struct choke_error *error);

#endif
