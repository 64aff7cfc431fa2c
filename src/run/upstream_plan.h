/*
 * upstream_plan.h - the proxy of the site for one run: its URL and its credentials (`upstream` of the
 * policy, docs/adr/0077).
 */
#ifndef CK_RUN_UPSTREAM_PLAN_H
#define CK_RUN_UPSTREAM_PLAN_H

#include "run/plan.h"

/*
 * A step of the plan, after that of the root. Fills plan->upstream for a run with egress, if the
 * policy has one. Refuses a variable that is not a URL of a proxy, and a file with credentials that
 * is not a secret of the caller, or in the root.
 */
int ck_upstream_plan(const struct ck_policy *policy, struct ck_plan *plan);

/*
 * The name of the variable that names a proxy, if the environment of the program has one; NULL if
 * not. For a message: without `upstream` it is not used.
 */
const char *ck_upstream_plan_unused(void);

#endif
