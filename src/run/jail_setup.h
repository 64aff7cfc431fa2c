/*
 * jail_setup.h - the tools of a run: the one that is executed, and those that it runs for the caller ("strace git log").
 *
 * Each is found as its own entry says. A nested tool is named to the outer one by its trusted absolute path. If one of
 * them has `execs`, the run may execute all of them, the helpers of all, and nothing else.
 */
#ifndef CK_RUN_JAIL_SETUP_H
#define CK_RUN_JAIL_SETUP_H

#include "run/plan.h"

/*
 * Both return 0; -ECANCELED for a refusal, with the plan's verdict filled; -ENOMEM. The first opens the tool. The second
 * comes when the jail is chosen and the plan's argv is made: it finds the nested tools, makes the ruleset, and lists
 * the layers; label is what the run is called in names of files.
 */
int ck_tools_open(const struct ck_plan_sources *sources, struct ck_plan *plan);
int ck_jail_setup(const struct ck_plan_sources *sources, struct ck_plan *plan, const char *label);

#endif
