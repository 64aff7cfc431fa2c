/*
 * jail_setup.h - what the plan of a run needs for its jail: one set-up function per jail adapter.
 *
 * If one of the tools of a run has `execs` in its policy entry, the run may execute all its tools,
 * the helpers of all of them, and nothing else.
 */
#ifndef CK_RUN_JAIL_SETUP_H
#define CK_RUN_JAIL_SETUP_H

#include "run/plan.h"

/*
 * Needs the chosen jail and the plan's argv. Opens the nested tools, prepares the jail or the
 * ruleset, and lists the layers. label: the name of the run in file names. Returns 0; -ECANCELED
 * for a refusal, with the plan's verdict filled; -ENOMEM.
 */
int ck_jail_setup(const struct ck_plan_sources *sources, struct ck_plan *plan, const char *label);

#endif
