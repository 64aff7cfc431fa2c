/*
 * slurm.h - the engine slurm: submits what has no result as arrays, and watches.
 *
 * Must: leave everything to files and to Slurm, so that this process may be killed at any moment.
 */
#ifndef CK_FLEET_SLURM_H
#define CK_FLEET_SLURM_H

#include "fleet/slurm_call.h"
#include "fleet/worker.h"

struct ck_slurm_run {
    const struct ck_fleet_task *task;
    const struct ck_fleet_list *list;
    const struct ck_fleet_entry *const *pending;
    size_t pending_count;
    size_t total, done, failed; /* at the beginning */
    struct ck_session *session; /* begun */
    struct ck_slurm_limits limits;
    unsigned chunk;      /* repositories of a task; 0: chosen */
    const char *command; /* on the nodes; NULL: the path of this program */
    const char *more;    /* options of `fleet work`, quoted for a shell; "" for none */
};

/* Are the commands of Slurm in the policy? Before anything is begun. */
int ck_slurm_run_check(const struct choke_options *options, struct choke_error *error);

/*
 * Returns 0 when every repository has a result, or the watch was ended by a signal; else a negative errno. *ret_begun: the
 * controller has answered, so there may be jobs.
 */
int ck_slurm_run(const struct ck_slurm_run *run, bool *ret_begun, struct choke_error *error);

/* Ends all tasks of the fleet. */
int ck_slurm_cancel_all(struct ck_fleet_area *area, struct ck_session *session, struct choke_error *error);

#endif
