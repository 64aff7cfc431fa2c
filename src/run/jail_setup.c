/* jail_setup.c - prepares the jail of a run, by one function per jail adapter. See jail_setup.h. */
#include "run/jail_setup.h"

#include "base/errkind.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/quote.h"
#include "jail/libraries.h"
#include "run/bwrap_plan.h"
#include "run/guarded.h"
#include "run/native_images.h"
#include "run/native_no_userns.h"
#include "run/paths.h"
#include "run/shown.h"
#include "run/tools.h"
#include "sys/beneath.h"
#include "sys/noexec.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

/* What a set-up function works on. */
struct setup {
    const struct ck_plan_sources *sources;
    struct ck_plan *plan;
    const struct ck_grant *grant;
    const struct ck_execs_tool *tools; /* the one that is executed first */
    size_t tools_count;
    const char *label;
};

/* Without Landlock the bwrap jail lacks two layers. */
static size_t drop_without_landlock(struct ck_plan *plan, size_t count)
{
    size_t remaining = 0;
    for (size_t i = 0; i < count; i++)
        if (!plan->bwrap.argv || plan->bwrap.bounded ||
            (strcmp(plan->layers[i], "landlock") != 0 && strcmp(plan->layers[i], "execs") != 0))
            plan->layers[remaining++] = plan->layers[i];
    return remaining;
}

/* With workspace_code the layer says nothing about files beneath the root, so it has another name. */
static void rename_execs(struct ck_plan *plan, size_t count)
{
    for (size_t i = 0; i < count && plan->workspace_code; i++)
        if (strcmp(plan->layers[i], "execs") == 0)
            plan->layers[i] = "execs_outside_root";
}

/* A jail in which a tool may execute every file of the system has no such layer. */
static size_t drop_learned(struct ck_plan *plan, size_t count)
{
    size_t remaining = 0;
    for (size_t i = 0; i < count; i++)
        if (!plan->learn || strncmp(plan->layers[i], "execs", strlen("execs")) != 0)
            plan->layers[remaining++] = plan->layers[i];
    return remaining;
}

/* The layers that the result of the run reports. */
static void list_layers(struct ck_plan *plan)
{
    size_t count = 0;
    for (const char *const *layer = plan->jail.jail->layers; *layer && count < CK_LAYERS_MAX - 1; layer++)
        plan->layers[count++] = *layer;
    /* The native jail without user namespaces has a ruleset, too, and lists "execs" itself. */
    if (plan->ruleset_fd >= 0 && plan->no_userns.filter_fd < 0)
        plan->layers[count++] = "execs";
    count = drop_without_landlock(plan, count);
    rename_execs(plan, count);
    count = drop_learned(plan, count);
    if (plan->workspace == CK_WORKSPACE_OVERLAY && count < CK_LAYERS_MAX)
        plan->layers[count++] = "overlay";
    if (plan->verdict.egress_count > 0 && count < CK_LAYERS_MAX)
        plan->layers[count++] = "egress";
    if (plan->jail.reports_attempts && count < CK_LAYERS_MAX)
        plan->layers[count++] = "egress_named";
    if (plan->jail.names_execs && count < CK_LAYERS_MAX)
        plan->layers[count++] = "execs_named";
    plan->layers[count] = NULL;
}

/* The paths of the root and the working directory: on the host, and inside the jail. */
static int resolve_work_paths(struct ck_plan *plan, const struct ck_grant *grant, bool in_place)
{
    char root[PATH_MAX], cwd[PATH_MAX];
    int r = ck_beneath_path(plan->root_fd, root, sizeof(root));
    if (r == 0 && plan->cwd_fd != plan->root_fd && !plan->guarded_cwd)
        r = ck_beneath_path(plan->cwd_fd, cwd, sizeof(cwd));
    else if (r == 0)
        memcpy(cwd, root, sizeof(cwd));
    if (r < 0 && ck_errkind_is_shortage(-r))
        return r;
    size_t length = r < 0 || strcmp(root, "/") == 0 ? 0 : strlen(root);
    if (r < 0 || strncmp(root, cwd, length) != 0) {
        (void)ck_error_set(&plan->verdict.error, CHOKE_CWD, r < 0 ? -r : EXDEV,
                           "cannot find the working directory beneath the root%s%s", r < 0 ? ": " : "",
                           r < 0 ? ck_beneath_strerror(-r) : "");
        return ck_plan_refuse(plan, NULL, "request.cwd");
    }
    plan->host_root = ck_arena_strdup(&plan->arena, root);
    bool own = in_place || ck_shown_root_is_own(plan, grant);
    plan->root_inside = own ? plan->host_root : CK_JAIL_WORK;
    plan->jail_cwd = !plan->host_root ? NULL
                                      : ck_arena_printf(&plan->arena, "%s%s",
                                                        own && length == 0 ? "/" : plan->root_inside, cwd + length);
    if (plan->guarded_cwd)
        plan->jail_cwd = plan->guarded_cwd;
    return !plan->host_root || !plan->jail_cwd ? -ENOMEM : 0;
}

/*
 * What a tool writes must not be code. Its root may be beneath a library directory, or hold one. And
 * with workspace_code the repository can have a loader of its own, which would run the programs in
 * these directories that are not listed.
 */
static bool may_have_libraries(const struct ck_plan *plan)
{
    return plan->jail.libraries && !plan->workspace_code && ck_libraries_fit() &&
           !(plan->workspace == CK_WORKSPACE_RW && ck_libraries_overlap(plan->host_root));
}

/* Where libraries are not code. What is beneath the root is never trusted: the tool could write a plug-in there. */
static bool may_have_plugins(const struct ck_plan *plan)
{
    return !ck_libraries_overlap(plan->host_root);
}

/*
 * Finds the native image with the tools of the run, and puts the paths that they have inside into
 * the plan. ret_tool: the path of the tool that is executed.
 */
static int place_tools(const struct setup *setup, const char **ret_tool)
{
    struct ck_plan *plan = setup->plan;
    const char *inside[CK_GUARDED_CARRIERS_MAX];
    const struct ck_parsed_args *parsed = &plan->verdict.parsed;
    int r = resolve_work_paths(plan, setup->grant, false);
    if (r < 0)
        return r;
    const struct ck_native_images_wanted wanted = {
        .root = plan->root,
        .state_home = setup->sources->state_home,
        .place = strcmp(plan->root_inside, CK_JAIL_WORK) == 0 ? NULL : plan->root_inside,
        .shown = plan->shown,
        .shown_count = plan->shown_count,
        .tools = setup->tools,
        .count = setup->tools_count,
        .libraries = may_have_libraries(plan),
        .plugins = may_have_plugins(plan),
        .workspace_code = plan->workspace_code,
        .loopback = plan->loopback,
        .egress = plan->verdict.egress_count > 0,
        .reports_attempts = plan->jail.reports_attempts,
        .names_execs = plan->jail.names_execs,
        .why = plan->why && plan->jail.names_execs,
        .learn = plan->learn,
        .guard = setup->sources->guarded ? &setup->sources->guarded->native : NULL,
        .arena = &plan->arena};
    if (ck_native_images_find(setup->sources->native_images, &wanted, &plan->native_jail, inside,
                              &plan->verdict.error) < 0)
        return ck_plan_refuse(plan, NULL, "request.jail");
    const char *executed = plan->workspace_tool
                               ? ck_arena_printf(&plan->arena, "%s/%s", plan->root_inside, plan->workspace_tool)
                               : ck_arena_strdup(&plan->arena, inside[0]);
    plan->inside = executed;
    if (plan->exec_path)
        plan->exec_path = executed;
    /* By this path an interpreter of a virtual environment finds what belongs to it. */
    if (plan->workspace_tool)
        plan->argv[0] = executed;
    for (size_t i = 0; executed && i < parsed->nested_count; i++) {
        plan->argv[parsed->nested[i].position] = ck_arena_strdup(&plan->arena, inside[i + 1]);
        if (!plan->argv[parsed->nested[i].position])
            return -ENOMEM;
    }
    *ret_tool = executed;
    return executed ? ck_paths_respell(plan, plan->root_inside, false) : -ENOMEM;
}

/*
 * Without a jail a path that begins with /work is one of the host beneath the root. Few runs have
 * one, and the path of the root costs a look-up in /proc.
 */
static int respell_on_host(struct ck_plan *plan)
{
    char root[PATH_MAX];
    if (!ck_paths_any_from_work(plan))
        return 0;
    int r = ck_beneath_path(plan->root_fd, root, sizeof(root));
    plan->root_inside = r < 0 ? NULL : ck_arena_strdup(&plan->arena, root);
    /* Without /proc the path is not known. Then no path among the arguments was accepted, either. */
    if (!plan->root_inside)
        return r < 0 ? 0 : -ENOMEM;
    return ck_paths_respell(plan, plan->root_inside, true);
}

/* Without a jail, only `execs` of the policy restricts the run: by a Landlock ruleset. */
static int setup_none(const struct setup *setup)
{
    struct ck_plan *plan = setup->plan;
    const struct ck_tool *bound = setup->grant->bound;
    int r = respell_on_host(plan);
    if (r < 0 || !bound)
        return r;
    r = ck_execs_make(setup->sources->execs, plan->root, setup->tools, setup->tools_count, &plan->ruleset_fd,
                      &plan->verdict.error);
    return r < 0 && r != -ENOMEM ? ck_plan_refuse(plan, bound, "execs") : r;
}

static int setup_native(const struct setup *setup)
{
    const char *tool = NULL;
    return place_tools(setup, &tool);
}

/* The bwrap jail has the same root as the native jail; bwrap builds it from the same image. */
static int setup_bwrap(const struct setup *setup)
{
    struct ck_plan *plan = setup->plan;
    const char *tool = NULL;
    int r = place_tools(setup, &tool);
    if (r < 0)
        return r;
    if (ck_bwrap_plan_run(setup->sources, plan, tool, setup->label, &plan->verdict.error) < 0)
        return ck_plan_refuse(plan, NULL, "request.jail");
    if (ck_grant_refusal(setup->grant, CK_GRANT_BWRAP, plan->bwrap.bounded) != CK_GRANT_NEEDS_LANDLOCK)
        return 0;
    (void)ck_error_set(&plan->verdict.error, CHOKE_JAIL_UNAVAILABLE, ENOSYS,
                       "cannot enforce 'execs' of the policy entry: this kernel has no Landlock");
    return ck_plan_refuse(plan, setup->grant->bound, "execs");
}

/*
 * Without user namespaces there is no new root. The ruleset allows the same files at their paths on
 * the host.
 */
static int setup_no_userns(const struct setup *setup)
{
    struct ck_plan *plan = setup->plan;
    const char *inside[CK_GRANT_TOOLS_MAX];
    const struct ck_native_images_wanted wanted = {.root = plan->root,
                                                   .shown = plan->shown,
                                                   .shown_count = plan->shown_count,
                                                   .tools = setup->tools,
                                                   .count = setup->tools_count,
                                                   .in_place = true,
                                                   .arena = &plan->arena};
    if (ck_native_images_find(setup->sources->native_images, &wanted, &plan->native_jail, inside,
                              &plan->verdict.error) < 0)
        return ck_plan_refuse(plan, NULL, "request.jail");
    int r = resolve_work_paths(plan, setup->grant, true);
    if (r == 0)
        r = ck_paths_respell(plan, plan->root_inside, true);
    if (r < 0)
        return r;
    if (ck_native_no_userns_plan(setup->sources, plan, setup->tools_count > 1, &plan->verdict.error) < 0)
        return ck_plan_refuse(plan, NULL, "request.jail");
    return 0;
}

static int (*const setups[])(const struct setup *setup) = {
    [CK_GRANT_NO_JAIL] = setup_none,
    [CK_GRANT_NATIVE_NO_USERNS] = setup_no_userns,
    [CK_GRANT_BWRAP] = setup_bwrap,
    [CK_GRANT_NATIVE] = setup_native,
};

/* Without a mount namespace the tool would write into the repository itself. */
static int refuse_overlay(struct ck_plan *plan, const struct ck_tool *tool, enum ck_grant_place place)
{
    static const char *const where[] = {
        [CK_GRANT_NO_JAIL] = "has no jail; use --jail native",
        [CK_GRANT_NATIVE_NO_USERNS] = "is in the native jail without user namespaces; 'chokepoint doctor' says why",
        [CK_GRANT_BWRAP] = "is in the bwrap jail, which has no overlay",
        [CK_GRANT_NATIVE] = "is in it",
    };
    (void)ck_error_set(&plan->verdict.error, CHOKE_JAIL_UNAVAILABLE, ENOTSUP,
                       "%s '%s' needs the native jail, and this run %s",
                       plan->overlay ? "--overlay for" : "'workspace: overlay' of", tool->name, where[place]);
    return ck_plan_refuse(plan, tool, "workspace");
}

/* The policy layer knows jails by place, so that it needs no header of src/jail. */
static enum ck_grant_place place_of(const struct ck_plan *plan)
{
    const struct ck_jail *jail = plan->jail.jail;
    return jail == &ck_jail_none               ? CK_GRANT_NO_JAIL
           : jail == &ck_jail_native_no_userns ? CK_GRANT_NATIVE_NO_USERNS
           : jail == &ck_jail_bwrap            ? CK_GRANT_BWRAP
                                               : CK_GRANT_NATIVE;
}

/* Without namespaces the tool would have the host's own mounts and network. */
static int refuse_namespaces(struct ck_plan *plan, const struct ck_tool *tool, const char *key)
{
    bool none = plan->jail.jail == &ck_jail_none;
    (void)ck_error_set(&plan->verdict.error, CHOKE_JAIL_UNAVAILABLE, ENOTSUP,
                       "'%s' of '%s' needs a jail with namespaces, and this run %s", key, tool->name,
                       none && plan->jail.skip_count == 0
                           ? "has no jail; use --jail auto"
                           : "has none that holds; 'chokepoint doctor' shows which layer is missing");
    return ck_plan_refuse(plan, tool, key);
}

/*
 * A mount of the host that is noexec stays so. If the root is on it, nothing beneath the root can be
 * executed, and the run has the layer `execs` as usual.
 */
static int grant_workspace_code(const struct setup *setup)
{
    struct ck_plan *plan = setup->plan;
    bool root_noexec = false;
    if (!setup->grant->workspace_code)
        return 0;
    int r = ck_noexec_find(plan->root_fd, &plan->arena, &root_noexec, &plan->noexec_mount);
    if (r < 0)
        return r;
    plan->workspace_code = !root_noexec;
    if (!root_noexec || !plan->tool_in_workspace)
        return 0;
    (void)ck_error_set(&plan->verdict.error, CHOKE_SPAWN_FAILED, EACCES,
                       "'%s' cannot be executed: its file system is mounted noexec at '%s'", CK_QUOTE(plan->tool_path),
                       CK_QUOTE(plan->noexec_mount));
    return ck_plan_refuse(plan, plan->verdict.tool, "path");
}

/* Enforces the grant in the place where the run happens. */
static int apply_grant(const struct setup *setup)
{
    struct ck_plan *plan = setup->plan;
    enum ck_grant_place place = place_of(plan);
    enum ck_grant_refusal refusal = ck_grant_refusal(setup->grant, place, true);
    if (refusal == CK_GRANT_NEEDS_NATIVE)
        return refuse_overlay(plan, setup->grant->overlay, place);
    if (refusal == CK_GRANT_NEEDS_NAMESPACES)
        return setup->grant->workspace_code ? refuse_namespaces(plan, setup->grant->workspace_code, "workspace_code")
               : setup->grant->loopback     ? refuse_namespaces(plan, setup->grant->loopback, "loopback")
                                            : refuse_namespaces(plan, setup->grant->require_jail, "require_jail");
    int r = grant_workspace_code(setup);
    if (r < 0)
        return r;
    /* Without a jail a tool sees every directory anyway. */
    if (place != CK_GRANT_NO_JAIL) {
        plan->workspace = setup->grant->workspace;
        r = ck_shown_collect(setup->sources, plan, setup->grant);
    }
    return r < 0 ? r : setups[place](setup);
}

/* The root of guard is in a /tmp that the cage can change: an overlay is mounted by a path there. */
static int refuse_overlay_in_tmp(struct ck_plan *plan, const struct ck_grant *grant)
{
    char root[PATH_MAX];
    if (!plan->guarded || grant->workspace != CK_WORKSPACE_OVERLAY ||
        ck_beneath_path(plan->root_fd, root, sizeof(root)) < 0 || !ck_native_in_tmp(root))
        return 0;
    (void)ck_error_set(&plan->verdict.error, CHOKE_JAIL_UNAVAILABLE, ENOTSUP,
                       "'workspace: overlay' of '%s' needs a root that is not beneath /tmp, which the program of guard "
                       "can change",
                       plan->tool_name);
    return ck_plan_refuse(plan, plan->verdict.tool, "workspace");
}

/* A cage has all carriers in place of the tools that one of them runs for the caller. */
static int setup_cage(const struct ck_plan_sources *sources, struct ck_plan *plan, const struct ck_grant *grant,
                      const char *label)
{
    struct ck_execs_tool carriers[CK_GUARDED_CARRIERS_MAX];
    size_t count = 0;
    int r = ck_guarded_open_carriers(sources, plan, carriers, &count);
    const struct setup setup = {
        .sources = sources, .plan = plan, .grant = grant, .tools = carriers, .tools_count = count, .label = label};
    if (r == 0)
        r = apply_grant(&setup);
    for (size_t i = 1; i < count; i++)
        ck_fd_close(&carriers[i].fd);
    if (r == 0)
        list_layers(plan);
    return r;
}

int ck_jail_setup(const struct ck_plan_sources *sources, struct ck_plan *plan, const char *label)
{
    struct ck_grant grant;
    struct ck_tools tools;
    ck_plan_grant(sources, plan, &grant);
    int r = refuse_overlay_in_tmp(plan, &grant);
    if (r < 0 || plan->cage)
        return r < 0 ? r : setup_cage(sources, plan, &grant, label);
    r = ck_tools_open_nested(sources, plan, &grant, &tools);
    const struct setup setup = {.sources = sources,
                                .plan = plan,
                                .grant = &grant,
                                .tools = tools.list,
                                .tools_count = tools.count,
                                .label = label};
    if (r == 0)
        r = apply_grant(&setup);
    ck_tools_close(&tools);
    /* A script cannot be sealed: its interpreter may be env, which executes another program. */
    bool script = plan->exec_path || plan->keep_executable;
    plan->sealed = grant.sealed && !script;
    if (r == 0)
        list_layers(plan);
    return r;
}
