/* tools_beneath.h - opens a tool that is a file beneath the root ("path: ./REL", R86). */
#ifndef CK_RUN_TOOLS_BENEATH_H
#define CK_RUN_TOOLS_BENEATH_H

#include "run/plan.h"

/*
 * Opens the file of a tool whose entry has a path beneath the root, and sets plan->workspace_tool
 * and plan->tool_in_workspace. No link on the way leads out of the root. Only the last one may, to a
 * program in a system tree that is as trusted as a tool is; so does the interpreter of a virtual
 * environment. Returns 0, or a negative errno with the error of the verdict filled.
 */
int ck_tools_beneath_find(const struct ck_plan_sources *sources, struct ck_plan *plan, const struct ck_tool *tool,
                          struct ck_binary *ret_binary);

#endif
