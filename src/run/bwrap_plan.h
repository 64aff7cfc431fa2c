/*
 * bwrap_plan.h - the part of a plan for the bwrap jail.
 *
 * bwrap is found like any tool: by the policy entry `bwrap` with `route: jail`, in the trusted
 * search path. Without that entry there is no bwrap jail. A bwrap that is setuid or has file
 * capabilities is refused, because it would start with more privileges than the caller has.
 */
#ifndef CK_RUN_BWRAP_PLAN_H
#define CK_RUN_BWRAP_PLAN_H

#include "run/plan.h"
#include "sys/scratch.h"

/* State of the context. Zero-filled is not valid: use ck_bwrap_state_init. */
struct ck_bwrap_state {
    struct ck_bwrap_state *next; /* states that this one replaced: api/context_renew.c */
    struct ck_scratch_pool scratch_pool;
};

void ck_bwrap_state_init(struct ck_bwrap_state *bwrap_state);
void ck_bwrap_state_done(struct ck_bwrap_state *bwrap_state);

/*
 * Fills plan->bwrap. Needs the program (plan->native_jail), the paths and the strings of the plan.
 * tool: the path of the tool inside. label: the name of the probe, or of the tool. Returns 0, or a
 * negative errno with *error filled (CHOKE_JAIL_UNAVAILABLE and others).
 */
int ck_bwrap_plan_run(const struct ck_plan_sources *sources, struct ck_plan *plan, const char *tool, const char *label,
                      struct choke_error *error);

/* The same for a proof of the layers. It needs plan->native_jail, root_fd and host_root. */
int ck_bwrap_plan_proof(const struct ck_plan_sources *sources, struct ck_plan *plan, struct choke_error *error);

#endif
