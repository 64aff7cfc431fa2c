/*
 * shown.h - the directories that a jail shows beside the system and the root, and the place of the
 * root in it (R88).
 *
 * `reads` of the policy entries, and the git directory of a root that is a linked worktree or a
 * submodule. Each is trusted as the path of a tool is. None holds the root, the audit log or
 * chokepoint's own state.
 */
#ifndef CK_RUN_SHOWN_H
#define CK_RUN_SHOWN_H

#include "policy/grant.h"
#include "run/plan.h"

/*
 * Fills plan->shown, and plan->git_message if a git directory is not shown. 0; -ECANCELED for a
 * refusal; the negative errno of a shortage.
 */
int ck_shown_collect(const struct ck_plan_sources *sources, struct ck_plan *plan, const struct ck_grant *grant);

/*
 * The one place that decides where a jail shows the root: true for its own path, false for /work.
 * Call it after ck_shown_collect.
 */
bool ck_shown_root_is_own(const struct ck_plan *plan, const struct ck_grant *grant);

#endif
