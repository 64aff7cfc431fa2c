/*
 * locked.h - what a locked policy of the machine refuses to a caller who is not root (R9).
 *
 * api/machine.c decides whether the caller is bound. Here are the rules for one request; each step
 * of the plan asks the one that belongs to it.
 */
#ifndef CK_RUN_LOCKED_H
#define CK_RUN_LOCKED_H

#include "run/plan.h"

#define CK_LOCKED_FILE "/etc/chokepoint/policy.yaml"
#define CK_LOCKED_PREFIX "the machine's policy '" CK_LOCKED_FILE "' is locked: "

/* The rules of a context whose caller is bound. */
struct ck_locked {
    /* with an outcome: the context was made with something that is refused, and so is every run */
    struct choke_error refusal;
    const struct ck_list *roots;        /* of the policy; NULL or empty: any root */
    const char *adr_dir;                /* of the policy, for messages; or NULL */
    struct ck_list unrecorded;          /* names of the entries without a decision record */
    struct ck_list unrecorded_profiles; /* the same of the profiles of guard */
};

/* Each returns 0, or fills the verdict of the plan and returns -ECANCELED. locked NULL: 0. */
int ck_locked_check_context(const struct ck_locked *locked, struct ck_plan *plan);
/* After the judge: jail none for an external tool, and entries without a decision record. */
int ck_locked_check_call(const struct ck_locked *locked, const struct choke_request *request, struct ck_plan *plan);
/* plan->root_fd is open. */
int ck_locked_check_root(const struct ck_locked *locked, const struct choke_request *request, struct ck_plan *plan);

/* Must the run have a whole jail? */
bool ck_locked_needs_jail(const struct ck_locked *locked, const struct ck_plan *plan);

#endif
