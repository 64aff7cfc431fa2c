/* chain.c - see chain.h. */
#include "run/chain.h"

#include "base/error.h"
#include "base/fd.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define CHAIN_MAX (1 + CK_COMMAND_DEPTH_MAX)

static int refuse(struct ck_plan *plan, const char *tool, const char *key)
{
    struct ck_verdict *verdict = &plan->verdict;
    verdict->outcome = verdict->error.outcome;
    if (tool != NULL)
        (void)snprintf(verdict->rule, sizeof verdict->rule, "tools.%s.%s", tool, key);
    else
        (void)snprintf(verdict->rule, sizeof verdict->rule, "%s", key);
    return -ECANCELED;
}

/* A tool that is allowed but absent: say how to get it. */
static void add_install_hint(struct ck_plan *plan, const struct ck_tool *tool)
{
    struct choke_error *error = &plan->verdict.error;
    const char *command = ck_tool_install_command(&plan->arena, tool);
    size_t used = strlen(error->message);
    if (command != NULL)
        (void)snprintf(error->message + used, sizeof error->message - used, "; install it: %s", command);
}

static int find(const struct ck_plan_sources *sources, struct ck_plan *plan, const struct ck_tool *tool,
                struct ck_binary *binary)
{
    const struct ck_wanted wanted = {.name = tool->name, .path = tool->path, .sha256 = tool->sha256};
    enum ck_search_rule rule;
    int result = ck_search_find(sources->search, &wanted, plan->root, binary, &rule, &plan->verdict.error);
    if (result == 0)
        return 0;
    if (plan->verdict.error.outcome == CHOKE_TOOL_MISSING)
        add_install_hint(plan, tool);
    if (rule == CK_SEARCH_RULE_SEARCH_PATH)
        return refuse(plan, NULL, "search_path");
    return refuse(plan, tool->name, rule == CK_SEARCH_RULE_PATH ? "path" : "sha256");
}

int ck_chain_open(const struct ck_plan_sources *sources, struct ck_plan *plan)
{
    struct ck_binary binary;
    int result = find(sources, plan, plan->verdict.tool, &binary);
    if (result < 0)
        return result;
    plan->execute_fd = binary.fd;
    plan->keep_executable = binary.copied;
    plan->tool_path = ck_arena_strdup(&plan->arena, binary.path);
    plan->exec_path = binary.script && !binary.copied ? plan->tool_path : NULL;
    return plan->tool_path == NULL ? -ENOMEM : 0;
}

/* The outer tool opens it by its path, so what would be executed is not what was hashed. */
static int refuse_pinned(struct ck_plan *plan, const struct ck_tool *tool)
{
    (void)ck_error_set(&plan->verdict.error, CHOKE_DISALLOWED, EPERM,
                       "'%s' has a sha256 and cannot be run by another tool, which would open it by its path",
                       tool->name);
    return refuse(plan, tool->name, "sha256");
}

/* The helpers of a subcommand stand in the place of the tool's. */
static struct ck_execs_tool member(int fd, const char *path, const struct ck_tool *tool,
                                   const struct ck_subcommand *subcommand)
{
    bool own = subcommand != NULL && subcommand->has_execs;
    return (struct ck_execs_tool){
        .fd = fd,
        .path = path,
        .tool = tool,
        .execs = own ? &subcommand->execs : &tool->execs,
        .bound = own || tool->has_execs,
    };
}

/* Finds the nested tools; their descriptors are needed for the ruleset only. */
static int open_nested(const struct ck_plan_sources *sources, struct ck_plan *plan, struct ck_execs_tool *tools,
                       size_t *count)
{
    const struct ck_reading *reading = &plan->verdict.reading;
    for (size_t i = 0; i < reading->nested_count; i++) {
        const struct ck_nested *nested = &reading->nested[i];
        struct ck_binary binary;
        if (nested->tool->sha256 != NULL)
            return refuse_pinned(plan, nested->tool);
        int result = find(sources, plan, nested->tool, &binary);
        if (result < 0)
            return result;
        const char *path = ck_arena_strdup(&plan->arena, binary.path);
        tools[*count] = member(binary.fd, path, nested->tool, nested->subcommand);
        ++*count;
        if (path == NULL)
            return -ENOMEM;
        plan->argv[nested->position] = path;
    }
    return 0;
}

/* The first of the tools that has execs, or NULL. */
static const struct ck_execs_tool *bound_by(const struct ck_execs_tool *tools, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (tools[i].bound)
            return &tools[i];
    return NULL;
}

static void list_layers(struct ck_plan *plan)
{
    size_t count = 0;
    for (const char *const *layer = plan->jail.jail->layers; *layer != NULL && count < CK_LAYERS_MAX - 1; layer++)
        plan->layers[count++] = *layer;
    if (plan->ruleset_fd >= 0)
        plan->layers[count++] = "execs";
    plan->layers[count] = NULL;
}

int ck_chain_close(const struct ck_plan_sources *sources, struct ck_plan *plan)
{
    struct ck_execs_tool tools[CHAIN_MAX] = {
        member(plan->execute_fd, plan->tool_path, plan->verdict.tool, plan->verdict.reading.subcommand)};
    size_t count = 1;
    int result = open_nested(sources, plan, tools, &count);
    const struct ck_execs_tool *bound = result == 0 ? bound_by(tools, count) : NULL;
    if (bound != NULL)
        result = ck_execs_make(sources->execs, plan->root, tools, count, &plan->ruleset_fd, &plan->verdict.error);
    if (bound != NULL && result < 0 && result != -ENOMEM)
        result = refuse(plan, bound->tool->name, "execs");
    for (size_t i = 1; i < count; i++)
        ck_fd_close(&tools[i].fd);
    /* The interpreter of a script may be env, which executes another one. */
    bool script = plan->exec_path != NULL || plan->keep_executable;
    plan->sealed = count == 1 && bound != NULL && bound->execs->count == 0 && !script;
    if (result == 0)
        list_layers(plan);
    return result;
}
