/*
 * inside.h - probes that need no tool: code of the command answers them, in a thread of its own,
 * because it reads a whole repository in one call.
 *
 * Must: be a program that was written for hostile input. There is no jail around it.
 */
#ifndef CK_GATHER_INSIDE_H
#define CK_GATHER_INSIDE_H

#include "gather/evidence/evidence.h"

/* What such a code is given. */
struct ck_inside_call {
    const char *root;
    bool (*stop)(void *data); /* to be asked often; true: end soon, with -ECANCELED */
    void *data;
};

struct ck_inside {
    const char *name; /* the value of a probe's `inside` */
    int (*work)(const struct ck_inside_call *call, struct ck_evidence *ret_evidence, struct choke_error *error);
};

/* NULL if the name is unknown. */
const struct ck_inside *ck_inside_find(const char *name);

/* The thread of one such probe. */
struct ck_inside_job;

/* wake_fd, an eventfd, becomes readable when the job has ended. 0: no limit. */
int ck_inside_start(const struct ck_inside *inside, const char *root, uint64_t timeout_ms, int wake_fd,
                    struct ck_inside_job **ret_job, struct choke_error *error);

bool ck_inside_has_ended(struct ck_inside_job *job);

/*
 * Of a job that has ended: what it returned, and its evidence or its error. -ETIMEDOUT if its time
 * was over. Frees the job.
 */
int ck_inside_take(struct ck_inside_job *job, struct ck_evidence *ret_evidence, struct choke_error *error);

/* Does not wait: the thread ends by itself soon, and frees what it has. NULL is fine. */
void ck_inside_abandon(struct ck_inside_job *job);

extern const struct ck_inside ck_inside_lint; /* evidence/lint.c */

#endif
