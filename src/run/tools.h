/*
 * tools.h - the tools of a run: the one that is executed, and those that it runs for the caller
 * ("strace git log").
 *
 * Each is found as its own policy entry says. The outer tool gets the trusted absolute path of a
 * nested tool in its arguments, so it does not search for a name.
 */
#ifndef CK_RUN_TOOLS_H
#define CK_RUN_TOOLS_H

#include "policy/grant.h"
#include "run/plan.h"

/*
 * The tool that is executed comes first. Its descriptor belongs to the plan, the others to this
 * list.
 */
struct ck_tools {
    struct ck_execs_tool list[CK_GRANT_TOOLS_MAX];
    size_t count;
};

/*
 * Both return 0; -ECANCELED for a refusal, with the plan's verdict filled; -ENOMEM. The first opens
 * the tool that is executed. The second needs the plan's argv: it opens the nested tools and puts
 * their paths there. ret_tools needs ck_tools_close, also after a failure.
 */
int ck_tools_open(const struct ck_plan_sources *sources, struct ck_plan *plan);
int ck_tools_open_nested(const struct ck_plan_sources *sources, struct ck_plan *plan, const struct ck_grant *grant,
                         struct ck_tools *ret_tools);
void ck_tools_close(struct ck_tools *tools);

#endif
