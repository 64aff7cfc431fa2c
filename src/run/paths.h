/*
 * paths.h - paths among the arguments: they stay beneath the root, and the tool gets each as it
 * sees it (R16, R88).
 *
 * An absolute path is taken as a path beneath the root. If it is not one, and begins with /work, it is
 * taken as a path from the root: that is what a tool in a jail reports. The tool gets the spelling
 * of its own view: beneath the place of the root in a jail, beneath the root on the host without
 * one. The record has both spellings.
 */
#ifndef CK_RUN_PATHS_H
#define CK_RUN_PATHS_H

#include "run/plan.h"

/* Fills plan->paths. 0; -ECANCELED for a refusal; the negative errno of a shortage. */
int ck_paths_check(const struct ck_plan_sources *sources, struct ck_plan *plan);

/* Did one of the paths begin with /work, and is no path of the host? */
bool ck_paths_any_from_work(const struct ck_plan *plan);

/*
 * Writes the paths into plan->argv, as they are beneath `view`, the path of the root for the tool.
 * in_place: the tool sees the paths of the host, so only those that began with /work change.
 */
int ck_paths_respell(struct ck_plan *plan, const char *view, bool in_place);

#endif
