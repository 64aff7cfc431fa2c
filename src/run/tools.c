/* tools.c - finds and opens the tools of a run. See tools.h. */
#include "run/tools.h"

#include "base/error.h"
#include "base/fd.h"
#include "base/quote.h"
#include "run/tools_beneath.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* A tool that the policy allows but that is not installed: say how to get it. */
static void add_install_hint(struct ck_plan *plan, const struct ck_tool *tool)
{
    struct choke_error *error = &plan->verdict.error;
    const char *command = ck_policy_tool_install_command(&plan->arena, tool);
    size_t used = strlen(error->message);
    if (command)
        (void)snprintf(error->message + used, sizeof(error->message) - used, "; install it: %s", command);
}

static int find_tool(const struct ck_plan_sources *sources, struct ck_plan *plan, const struct ck_tool *tool,
                     struct ck_binary *binary)
{
    const struct ck_binary_wanted wanted = {.name = tool->name, .path = tool->path, .sha256 = tool->sha256};
    enum ck_binary_rule rule = CK_BINARY_RULE_PATH;
    int r = ck_policy_tool_is_beneath_root(tool)
                ? ck_tools_beneath_find(sources, plan, tool, binary)
                : ck_binary_find(sources->search, &wanted, plan->root, binary, &rule, &plan->verdict.error);
    if (r == 0)
        return 0;
    if (plan->verdict.error.outcome == CHOKE_TOOL_MISSING)
        add_install_hint(plan, tool);
    /*
     * The search path belongs to the policy as a whole, the other two rules to the entry of the
     * tool.
     */
    if (rule == CK_BINARY_RULE_SEARCH_PATH)
        return ck_plan_refuse(plan, NULL, "search_path");
    return ck_plan_refuse(plan, tool, rule == CK_BINARY_RULE_PATH ? "path" : "sha256");
}

int ck_tools_open(const struct ck_plan_sources *sources, struct ck_plan *plan)
{
    struct ck_binary binary;
    int r = find_tool(sources, plan, plan->verdict.tool, &binary);
    if (r < 0)
        return r;
    plan->execute_fd = binary.fd;
    plan->tool_version = binary.version;
    plan->keep_executable = binary.copied;
    plan->tool_path = ck_arena_strdup(&plan->arena, binary.path);
    /*
     * A script is executed by its path, because the interpreter opens it. A pinned script was
     * copied and is opened as CK_SCRIPT_FD. A tool beneath the root has its place in the jail only
     * there.
     */
    plan->exec_path = (binary.script && !binary.copied) || plan->workspace_tool ? plan->tool_path : NULL;
    return plan->tool_path ? 0 : -ENOMEM;
}

/*
 * The outer tool opens a nested tool by its path, so the file that it executes may differ from the
 * file that was hashed.
 */
static int refuse_pinned(struct ck_plan *plan, const struct ck_tool *tool)
{
    (void)ck_error_set(&plan->verdict.error, CHOKE_DISALLOWED, EPERM,
                       "'%s' has a sha256 and cannot be run by another tool, which would open it by its path",
                       tool->name);
    return ck_plan_refuse(plan, tool, "sha256");
}

/*
 * The outer tool could not tell it from any other file beneath the root, and its own entry may not
 * allow these.
 */
static int refuse_beneath_root(struct ck_plan *plan, const struct ck_tool *tool)
{
    (void)ck_error_set(&plan->verdict.error, CHOKE_DISALLOWED, EPERM,
                       "'%s' is a file beneath the root ('path: %s') and cannot be run by another tool", tool->name,
                       CK_QUOTE(tool->path));
    return ck_plan_refuse(plan, tool, "path");
}

static struct ck_execs_tool exec_tool(int fd, const char *path, const struct ck_grant_tool *granted)
{
    return (struct ck_execs_tool){.fd = fd, .path = path, .tool = granted->tool, .bound = granted->bound};
}

/*
 * The descriptors of nested tools are needed for the ruleset only: the outer tool opens the paths.
 */
int ck_tools_open_nested(const struct ck_plan_sources *sources, struct ck_plan *plan, const struct ck_grant *grant,
                         struct ck_tools *ret_tools)
{
    const struct ck_parsed_args *parsed = &plan->verdict.parsed;
    const char *file = plan->workspace_link ? plan->workspace_link : plan->tool_path;
    *ret_tools = (struct ck_tools){.list = {exec_tool(plan->execute_fd, file, &grant->tools[0])}, .count = 1};
    ret_tools->list[0].in_workspace = plan->tool_in_workspace;
    for (size_t i = 0; i < parsed->nested_count; i++) {
        const struct ck_nested *nested = &parsed->nested[i];
        struct ck_binary binary;
        if (nested->tool == grant->pinned)
            return refuse_pinned(plan, nested->tool);
        if (ck_policy_tool_is_beneath_root(nested->tool))
            return refuse_beneath_root(plan, nested->tool);
        int r = find_tool(sources, plan, nested->tool, &binary);
        if (r < 0)
            return r;
        const char *path = ck_arena_strdup(&plan->arena, binary.path);
        ret_tools->list[ret_tools->count] = exec_tool(binary.fd, path, &grant->tools[ret_tools->count]);
        ret_tools->count++;
        if (!path)
            return -ENOMEM;
        plan->argv[nested->position] = path;
    }
    return 0;
}

void ck_tools_close(struct ck_tools *tools)
{
    for (size_t i = 1; i < tools->count; i++)
        ck_fd_close(&tools->list[i].fd);
}
