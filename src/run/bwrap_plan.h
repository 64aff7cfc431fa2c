/*
 * bwrap_plan.h - the part of a plan that is for the jail that bwrap makes.
 *
 * bwrap is found like any tool: by the policy's own entry `bwrap`, of route jail, in the trusted search path. Without that
 * entry there is no such jail. One that is setuid, or has capabilities of its own, is refused: it would begin with more
 * power than the caller has.
 */
#ifndef CK_RUN_BWRAP_PLAN_H
#define CK_RUN_BWRAP_PLAN_H

#include "run/plan.h"
#include "sys/scratch.h"

/* What lives as long as the context. Zero-filled is not ready: ck_bwrap_state_init. */
struct ck_bwrap_state {
    struct ck_bwrap_state *next; /* that were replaced before: api/context_renew.c */
    struct ck_scratch_pool scratch_pool;
    int image_fd; /* the program `bwrap_init`; -1: not written yet */
};

void ck_bwrap_state_init(struct ck_bwrap_state *bwrap_state);
void ck_bwrap_state_done(struct ck_bwrap_state *bwrap_state);

/*
 * Fills plan->wrap. The plan has its program (plan->cage), its places and its strings; tool is where the tool is inside.
 * label is the probe's name, or the tool's. 0, or a negative errno and *error (CHOKE_JAIL_UNAVAILABLE and others).
 */
int ck_bwrap_plan_run(const struct ck_plan_sources *sources, struct ck_plan *plan, const char *tool, const char *label,
                      struct choke_error *error);

/* The same for a trial of the walls: plan->cage, root_fd and host_root are what it needs. */
int ck_bwrap_plan_proof(const struct ck_plan_sources *sources, struct ck_plan *plan, struct choke_error *error);

#endif
