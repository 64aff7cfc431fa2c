/*
 * wrap.h - the part of a plan that is for the jail that bwrap makes.
 *
 * bwrap is found like any tool: by the policy's own entry `bwrap`, of route jail, in the trusted search path. Without that
 * entry there is no such jail. One that is setuid, or has capabilities of its own, is refused: it would begin with more
 * power than the caller has.
 */
#ifndef CK_RUN_WRAP_H
#define CK_RUN_WRAP_H

#include "run/plan.h"
#include "sys/scratch.h"

/* What lives as long as the context. Zero-filled is not ready: ck_wraps_init. */
struct ck_wraps {
    struct ck_wraps *next; /* that were replaced before: api/renew.c */
    struct ck_scratches scratches;
    int image_fd; /* the program `land`; -1: not written yet */
};

void ck_wraps_init(struct ck_wraps *wraps);
void ck_wraps_done(struct ck_wraps *wraps);

/*
 * Fills plan->wrap. The plan has its program (plan->cage), its places and its strings; tool is where the tool is inside.
 * label is the probe's name, or the tool's. 0, or a negative errno and *error (CHOKE_JAIL_UNAVAILABLE and others).
 */
int ck_wrap_plan(const struct ck_plan_sources *sources, struct ck_plan *plan, const char *tool, const char *label,
                 struct choke_error *error);

/* The same for a trial of the walls: plan->cage, root_fd and cage_root are what it needs. */
int ck_wrap_proof(const struct ck_plan_sources *sources, struct ck_plan *plan, struct choke_error *error);

#endif
