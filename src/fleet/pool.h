/*
 * pool.h - repositories side by side: workers in threads, one queue, and a loop that listens for
 * signals, for `fleet cancel`, and draws the progress.
 *
 * What another process holds goes to the end of the queue. It is looked at again, less and less
 * often, until it has a result or its holder is gone.
 */
#ifndef CK_FLEET_POOL_H
#define CK_FLEET_POOL_H

#include "fleet/progress.h"
#include "fleet/worker.h"
#include "front/session.h"

#define CK_FLEET_WORKERS_MAX 256

struct ck_fleet_pool_options {
    const struct ck_fleet_task *task;
    const struct ck_fleet_entry *const *entries; /* what is pending */
    size_t count;
    unsigned jobs;              /* probes at once, of all workers together */
    bool wait;                  /* for what others hold; else it is left to them */
    struct ck_session *session; /* begun */
    struct ck_fleet_counts counts;
};

struct ck_fleet_pool_result {
    size_t done, failed, held; /* of entries */
    bool cancelled;            /* by `fleet cancel` */
    struct choke_error error;  /* outcome CHOKE_NONE, or why nothing more could be done */
    bool broken;
};

/* Returns 0 or a negative errno; then no worker could begin. */
int ck_fleet_pool_run(const struct ck_fleet_pool_options *options, struct ck_fleet_pool_result *ret_result,
                      struct choke_error *error);

#endif
