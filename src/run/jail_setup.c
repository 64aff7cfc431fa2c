/* jail_setup.c - see jail_setup.h. */
#include "run/jail_setup.h"

#include "base/error.h"
#include "base/fd.h"
#include "policy/grant.h"
#include "run/bwrap_plan.h"
#include "run/native_images.h"
#include "run/native_no_userns.h"
#include "sys/beneath.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define TOOLS_MAX CK_GRANT_TOOLS_MAX

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
    const char *command = ck_policy_tool_install_command(&plan->arena, tool);
    size_t used = strlen(error->message);
    if (command != NULL)
        (void)snprintf(error->message + used, sizeof error->message - used, "; install it: %s", command);
}

static int find_tool(const struct ck_plan_sources *sources, struct ck_plan *plan, const struct ck_tool *tool,
                     struct ck_binary *binary)
{
    const struct ck_binary_wanted wanted = {.name = tool->name, .path = tool->path, .sha256 = tool->sha256};
    enum ck_binary_rule rule;
    int result = ck_binary_find(sources->search, &wanted, plan->root, binary, &rule, &plan->verdict.error);
    if (result == 0)
        return 0;
    if (plan->verdict.error.outcome == CHOKE_TOOL_MISSING)
        add_install_hint(plan, tool);
    if (rule == CK_BINARY_RULE_SEARCH_PATH)
        return refuse(plan, NULL, "search_path");
    return refuse(plan, tool->name, rule == CK_BINARY_RULE_PATH ? "path" : "sha256");
}

int ck_tools_open(const struct ck_plan_sources *sources, struct ck_plan *plan)
{
    struct ck_binary binary;
    int result = find_tool(sources, plan, plan->verdict.tool, &binary);
    if (result < 0)
        return result;
    plan->execute_fd = binary.fd;
    plan->tool_version = binary.version;
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

static struct ck_execs_tool exec_tool(int fd, const char *path, const struct ck_grant_tool *granted)
{
    return (struct ck_execs_tool){
        .fd = fd, .path = path, .tool = granted->tool, .execs = granted->execs, .bound = granted->bound};
}

/* Finds the nested tools; their descriptors are needed for the ruleset only. */
static int open_nested(const struct ck_plan_sources *sources, struct ck_plan *plan, const struct ck_grant *grant,
                       struct ck_execs_tool *tools, size_t *count)
{
    const struct ck_parsed_args *parsed = &plan->verdict.parsed;
    for (size_t i = 0; i < parsed->nested_count; i++) {
        const struct ck_nested *nested = &parsed->nested[i];
        struct ck_binary binary;
        if (nested->tool == grant->pinned)
            return refuse_pinned(plan, nested->tool);
        int result = find_tool(sources, plan, nested->tool, &binary);
        if (result < 0)
            return result;
        const char *path = ck_arena_strdup(&plan->arena, binary.path);
        tools[*count] = exec_tool(binary.fd, path, &grant->tools[*count]);
        ++*count;
        if (path == NULL)
            return -ENOMEM;
        plan->argv[nested->position] = path;
    }
    return 0;
}

/* In bwrap's jail without Landlock, two layers fewer. */
static size_t drop_without_landlock(struct ck_plan *plan, size_t count)
{
    size_t remaining = 0;
    for (size_t i = 0; i < count; i++)
        if (plan->bwrap.argv == NULL || plan->bwrap.bounded ||
            (strcmp(plan->layers[i], "landlock") != 0 && strcmp(plan->layers[i], "execs") != 0))
            plan->layers[remaining++] = plan->layers[i];
    return remaining;
}

static void list_layers(struct ck_plan *plan)
{
    size_t count = 0;
    for (const char *const *layer = plan->jail.jail->layers; *layer != NULL && count < CK_LAYERS_MAX - 1; layer++)
        plan->layers[count++] = *layer;
    if (plan->ruleset_fd >= 0 && plan->no_userns.filter_fd < 0)
        plan->layers[count++] = "execs";
    count = drop_without_landlock(plan, count);
    if (plan->workspace == CK_WORKSPACE_OVERLAY && count < CK_LAYERS_MAX)
        plan->layers[count++] = "overlay";
    if (plan->verdict.egress_count > 0 && count < CK_LAYERS_MAX)
        plan->layers[count++] = "egress";
    if (plan->jail.reports_attempts && count < CK_LAYERS_MAX)
        plan->layers[count++] = "egress_named";
    plan->layers[count] = NULL;
}

/* Where the root and the working directory are: on the host, and inside. */
static int resolve_work_paths(struct ck_plan *plan)
{
    char root[PATH_MAX], cwd[PATH_MAX];
    int result = ck_beneath_path(plan->root_fd, root, sizeof root);
    if (result == 0 && plan->cwd_fd != plan->root_fd)
        result = ck_beneath_path(plan->cwd_fd, cwd, sizeof cwd);
    else
        memcpy(cwd, root, sizeof cwd);
    size_t length = strcmp(root, "/") == 0 ? 0 : strlen(root);
    if (result < 0 || strncmp(root, cwd, length) != 0) {
        (void)ck_error_set(&plan->verdict.error, CHOKE_CWD, result < 0 ? -result : EXDEV,
                           "the working directory cannot be found beneath the root%s%s", result < 0 ? ": " : "",
                           result < 0 ? ck_beneath_strerror(-result) : "");
        return refuse(plan, NULL, "request.cwd");
    }
    plan->host_root = ck_arena_strdup(&plan->arena, root);
    plan->jail_cwd = ck_arena_printf(&plan->arena, CK_JAIL_WORK "%s", cwd + length);
    return plan->host_root == NULL || plan->jail_cwd == NULL ? -ENOMEM : 0;
}

/* The argument that the path is a part of: the reading's strings are the caller's, the plan's are copies. */
static size_t argument_of(const struct ck_parsed_args *parsed, const char *path)
{
    size_t i = 0;
    while (i < parsed->argc && (uintptr_t)path - (uintptr_t)parsed->argv[i] > strlen(parsed->argv[i]))
        i++;
    return i;
}

/* An absolute path beneath the root is elsewhere inside: the root is at /work. */
static int rewrite_paths(struct ck_plan *plan)
{
    const struct ck_parsed_args *parsed = &plan->verdict.parsed;
    size_t root = strcmp(plan->host_root, "/") == 0 ? 0 : strlen(plan->host_root);
    for (size_t i = 0; i < parsed->paths_count; i++) {
        const char *path = parsed->paths[i].path;
        size_t at = argument_of(parsed, path);
        if (path[0] != '/' || at == parsed->argc || strncmp(path, plan->host_root, root) != 0 ||
            (path[root] != '/' && path[root] != '\0'))
            continue;
        plan->argv[at] = ck_arena_printf(&plan->arena, "%.*s" CK_JAIL_WORK "%s", (int)(path - parsed->argv[at]),
                                         parsed->argv[at], path + root);
        if (plan->argv[at] == NULL)
            return -ENOMEM;
    }
    return 0;
}

/* A jail: the tools by their names inside it, and nothing else that could be executed. */
static int setup_native(const struct ck_plan_sources *sources, struct ck_plan *plan, const struct ck_execs_tool *tools,
                        size_t count, const char **ret_tool)
{
    const char *inside[TOOLS_MAX];
    const struct ck_parsed_args *parsed = &plan->verdict.parsed;
    const struct ck_native_images_wanted wanted = {.root = plan->root,
                                                   .tools = tools,
                                                   .count = count,
                                                   .egress = plan->verdict.egress_count > 0,
                                                   .reports_attempts = plan->jail.reports_attempts,
                                                   .arena = &plan->arena};
    if (ck_native_images_find(sources->native_images, &wanted, &plan->native_jail, inside, &plan->verdict.error) < 0)
        return refuse(plan, NULL, "request.jail");
    const char *executed = ck_arena_strdup(&plan->arena, inside[0]);
    if (plan->exec_path != NULL)
        plan->exec_path = executed;
    for (size_t i = 0; executed != NULL && i < parsed->nested_count; i++) {
        plan->argv[parsed->nested[i].position] = ck_arena_strdup(&plan->arena, inside[i + 1]);
        if (plan->argv[parsed->nested[i].position] == NULL)
            return -ENOMEM;
    }
    *ret_tool = executed;
    int result = executed == NULL ? -ENOMEM : resolve_work_paths(plan);
    return result < 0 ? result : rewrite_paths(plan);
}

/* The jail that bwrap makes has the same in it. */
static int setup_bwrap(const struct ck_plan_sources *sources, struct ck_plan *plan, const struct ck_grant *grant,
                       const char *tool, const char *label)
{
    if (ck_bwrap_plan_run(sources, plan, tool, label, &plan->verdict.error) < 0)
        return refuse(plan, NULL, "request.jail");
    if (ck_grant_refusal(grant, CK_GRANT_BWRAP, plan->bwrap.bounded) != CK_GRANT_NEEDS_LANDLOCK)
        return 0;
    (void)ck_error_set(&plan->verdict.error, CHOKE_JAIL_UNAVAILABLE, ENOSYS,
                       "the entry's execs cannot be enforced: this kernel has no Landlock");
    return refuse(plan, grant->bound->name, "execs");
}

/* Without a mount namespace the tool would write into the repository itself. */
static int refuse_overlay(struct ck_plan *plan, const struct ck_tool *tool, enum ck_grant_place place)
{
    static const char *const where[] = {
        [CK_GRANT_NO_JAIL] = "in none; ask for --jail native",
        [CK_GRANT_NATIVE_NO_USERNS] = "in the part of it that needs no namespaces; 'chokepoint doctor' says why",
        [CK_GRANT_BWRAP] = "in bwrap's, which has no overlay",
        [CK_GRANT_NATIVE] = "in it",
    };
    (void)ck_error_set(&plan->verdict.error, CHOKE_JAIL_UNAVAILABLE, ENOTSUP,
                       "'workspace: overlay' of '%s' needs the native jail, and the run would be %s", tool->name,
                       where[place]);
    return refuse(plan, tool->name, "workspace");
}

/* Where there are no namespaces: the files of the same jail, at their own places. */
static int setup_no_userns(const struct ck_plan_sources *sources, struct ck_plan *plan,
                           const struct ck_execs_tool *tools, size_t count)
{
    const char *inside[TOOLS_MAX];
    const struct ck_native_images_wanted wanted = {
        .root = plan->root, .tools = tools, .count = count, .in_place = true, .arena = &plan->arena};
    if (ck_native_images_find(sources->native_images, &wanted, &plan->native_jail, inside, &plan->verdict.error) < 0)
        return refuse(plan, NULL, "request.jail");
    int result = resolve_work_paths(plan);
    if (result < 0)
        return result;
    return ck_native_no_userns_plan(sources, plan, count > 1, &plan->verdict.error) < 0
               ? refuse(plan, NULL, "request.jail")
               : 0;
}

static enum ck_grant_place place_of(const struct ck_plan *plan)
{
    const struct ck_jail *jail = plan->jail.jail;
    return jail == &ck_jail_none               ? CK_GRANT_NO_JAIL
           : jail == &ck_jail_native_no_userns ? CK_GRANT_NATIVE_NO_USERNS
           : jail == &ck_jail_bwrap            ? CK_GRANT_BWRAP
                                               : CK_GRANT_NATIVE;
}

/* Carries the grant out where the run takes place. */
static int apply_grant(const struct ck_plan_sources *sources, struct ck_plan *plan, const struct ck_grant *grant,
                       const struct ck_execs_tool *tools, const char *label)
{
    enum ck_grant_place place = place_of(plan);
    const char *inside = NULL;
    if (ck_grant_refusal(grant, place, true) == CK_GRANT_NEEDS_NATIVE)
        return refuse_overlay(plan, grant->overlay, place);
    if (place == CK_GRANT_NO_JAIL) {
        if (grant->bound == NULL)
            return 0;
        int result =
            ck_execs_make(sources->execs, plan->root, tools, grant->count, &plan->ruleset_fd, &plan->verdict.error);
        return result < 0 && result != -ENOMEM ? refuse(plan, grant->bound->name, "execs") : result;
    }
    plan->workspace = grant->workspace;
    if (place == CK_GRANT_NATIVE_NO_USERNS)
        return setup_no_userns(sources, plan, tools, grant->count);
    int result = setup_native(sources, plan, tools, grant->count, &inside);
    return result == 0 && place == CK_GRANT_BWRAP ? setup_bwrap(sources, plan, grant, inside, label) : result;
}

int ck_jail_setup(const struct ck_plan_sources *sources, struct ck_plan *plan, const char *label)
{
    struct ck_grant grant;
    ck_grant_of(&plan->verdict, &grant);
    struct ck_execs_tool tools[TOOLS_MAX] = {exec_tool(plan->execute_fd, plan->tool_path, &grant.tools[0])};
    size_t count = 1;
    int result = open_nested(sources, plan, &grant, tools, &count);
    if (result == 0)
        result = apply_grant(sources, plan, &grant, tools, label);
    for (size_t i = 1; i < count; i++)
        ck_fd_close(&tools[i].fd);
    /* The interpreter of a script may be env, which executes another one. */
    bool script = plan->exec_path != NULL || plan->keep_executable;
    plan->sealed = grant.sealed && !script;
    if (result == 0)
        list_layers(plan);
    return result;
}
