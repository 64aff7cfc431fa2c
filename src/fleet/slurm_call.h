/*
 * slurm_call.h - the commands of Slurm, through the door. The policy takes the entries of the
 * catalogue (docs/adr/0131).
 */
#ifndef CK_FLEET_SLURM_CALL_H
#define CK_FLEET_SLURM_CALL_H

#include "fleet/area.h"
#include "front/session.h"

struct ck_slurm {
    const struct ck_fleet_area *area;
    struct choke_context *context;
    struct ck_session *session; /* begun: a signal ends a call */
    int fd;                     /* DIR/slurm */
    char root[PATH_MAX];        /* its path; the policy is outside of it */
};

/* What the user gives for each task; zero and NULL: what the cluster does by itself. */
struct ck_slurm_limits {
    unsigned time_minutes, memory_mib, processors;
    const char *partition, *charged, *qos;
};

struct ck_slurm_live {
    unsigned long job, task;
    unsigned submission;
    bool delayed; /* pending, and not before a time: Slurm has requeued it after its node was lost */
};

struct ck_slurm_lives {
    struct ck_slurm_live *items;
    size_t count;
};

/* Opens DIR/slurm; makes it if asked. Returns 0 or a negative errno. */
int ck_slurm_open(struct ck_slurm *slurm, bool make, struct choke_error *error);
void ck_slurm_close(struct ck_slurm *slurm);

/* Does the policy have the commands? If not, the message has the line of one that does. */
int ck_slurm_check(struct ck_slurm *slurm, struct choke_error *error);

/* How many tasks an array may have. */
int ck_slurm_array_max(struct ck_slurm *slurm, unsigned *ret_max, struct choke_error *error);

/* The tasks of this fleet that are pending or running. The caller frees items. */
int ck_slurm_list(struct ck_slurm *slurm, struct ck_slurm_lives *ret_lives, struct choke_error *error);

/* Submits slurm/N.sh. *ret_job is the number of the array. */
int ck_slurm_submit(struct ck_slurm *slurm, unsigned submission, size_t tasks, const struct ck_slurm_limits *limits,
                    unsigned long *ret_job, struct choke_error *error);

/* Ends tasks that are listed; only the delayed ones if asked. */
int ck_slurm_cancel(struct ck_slurm *slurm, const struct ck_slurm_lives *lives, bool delayed_only,
                    struct choke_error *error);

#endif
