/*
 * grant.c - what an allowed call may execute, write and trace, by the entries of its tools. See
 * grant.h.
 */
#include "policy/grant.h"

#include "policy/helper_sets.h"

/* Tools are added from the outermost to the innermost. */
static void add(struct ck_grant *grant, const struct ck_tool *tool)
{
    struct ck_grant_tool *added = &grant->tools[grant->count++];
    *added = (struct ck_grant_tool){.tool = tool, .bound = ck_helper_sets_bind(tool)};
    if (added->bound && !grant->bound)
        grant->bound = tool;
    /*
     * The called tool is executed by its descriptor. A nested one is opened by path by the tool
     * before it, so its digest cannot be guaranteed.
     */
    if (grant->count > 1 && tool->sha256 && !grant->pinned)
        grant->pinned = tool;
    /*
     * The entry of the outermost tool decides for those that it runs; an inner one can only narrow.
     */
    if (grant->count == 1 || ck_policy_workspace_narrows(grant->workspace, tool->workspace))
        grant->workspace = tool->workspace;
    grant->root_own = grant->root_own || tool->root_at == CK_ROOT_AT_OWN;
    if (tool->workspace == CK_WORKSPACE_OVERLAY && !grant->overlay)
        grant->overlay = tool;
    if (grant->count == 1 || !tool->workspace_code)
        grant->workspace_code = tool->workspace_code ? tool : NULL;
    if (grant->count == 1 || !tool->loopback)
        grant->loopback = tool->loopback ? tool : NULL;
    if (tool->require_jail && !grant->require_jail)
        grant->require_jail = tool;
}

void ck_grant_of(const struct ck_verdict *verdict, struct ck_grant *ret_grant)
{
    const struct ck_parsed_args *parsed = &verdict->parsed;
    *ret_grant = (struct ck_grant){0};
    /* The judge has put the keys of a subcommand in place of the tool's. */
    add(ret_grant, verdict->tool);
    for (size_t i = 0; i < parsed->nested_count; i++)
        add(ret_grant, parsed->nested[i].tool);
    /* A tool that runs others may be one like strace. */
    ret_grant->tracing = ret_grant->count > 1;
    struct ck_helper helper;
    ret_grant->sealed = ret_grant->count == 1 && ret_grant->bound && !ret_grant->workspace_code &&
                        !ck_helper_sets_at(verdict->tool, 0, &helper);
}

/* The first reason counts. A pin cannot be enforced anywhere, so it is first. */
enum ck_grant_refusal ck_grant_refusal(const struct ck_grant *grant, enum ck_grant_place place, bool landlock)
{
    bool is_native =
        /* proven with Landlock, so it is there */
        place == CK_GRANT_NATIVE || place == CK_GRANT_NATIVE_NO_USERNS;
    if (grant->pinned)
        return CK_GRANT_NEEDS_PATH;
    if (grant->overlay && place != CK_GRANT_NATIVE)
        return CK_GRANT_NEEDS_NATIVE;
    if ((grant->workspace_code || grant->loopback || grant->require_jail) && place != CK_GRANT_NATIVE &&
        place != CK_GRANT_BWRAP)
        return CK_GRANT_NEEDS_NAMESPACES;
    return grant->bound && !is_native && !landlock ? CK_GRANT_NEEDS_LANDLOCK : CK_GRANT_HELD;
}

const struct ck_tool *ck_grant_bwrap(const struct ck_policy *policy)
{
    const struct ck_tool *entry = ck_policy_find(policy, "bwrap");
    return entry && entry->route == CK_ROUTE_JAIL && ck_policy_tool_is_here(entry) ? entry : NULL;
}
