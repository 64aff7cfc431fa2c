/*
 * plan.c - makes the plan of a run, step by step. See plan.h.
 *
 * The order of the steps is the order of refusals: how the context was made, the verdict of the
 * policy and its lock, then stdin, the root and the place of the policy, then the proxy of the site,
 * the working directory, the tool, and the jail. The first step that refuses ends the plan.
 */
#include "run/plan.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/quote.h"
#include "base/sealed.h"
#include "policy/sandbox.h"
#include "run/bwrap_plan.h"
#include "run/guarded.h"
#include "run/jail_setup.h"
#include "run/locked.h"
#include "run/paths.h"
#include "run/tools.h"
#include "run/upstream_plan.h"
#include "sys/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT(number) #number
#define URL_AT(port) "http://127.0.0.1:" TEXT(port)
#define GATE_URL URL_AT(CK_JAIL_GATE_PORT)
#define GUARD_PREFIX "guard needs the native jail with user namespaces: "
#define LEARN_PREFIX "'policy learn' needs the native jail with user namespaces: "

struct planner {
    const struct ck_plan_sources *sources;
    const struct choke_request *request;
    struct ck_plan *plan;
};

typedef int (*plan_step)(struct planner *planner);

int ck_plan_refuse(struct ck_plan *plan, const struct ck_tool *tool, const char *key)
{
    struct ck_verdict *verdict = &plan->verdict;
    verdict->outcome = verdict->error.outcome;
    if (tool)
        (void)ck_judge_rule(verdict->rule, tool, key);
    else
        (void)snprintf(verdict->rule, sizeof(verdict->rule), "%s", key);
    return -ECANCELED;
}

static int refuse(struct planner *planner, const char *rule)
{
    return ck_plan_refuse(planner->plan, NULL, rule);
}

/* The verdict of the policy. A refusal has its outcome, rule and error set already. */
static int step_judge(struct planner *planner)
{
    struct ck_plan *plan = planner->plan;
    const struct ck_guarded *guarded = planner->sources->guarded;
    if (guarded) {
        plan->cage = !!guarded->program;
        return ck_guarded_judge(guarded, planner->sources->policy, planner->request, plan);
    }
    if (ck_judge(planner->sources->policy, planner->request, &plan->arena, &plan->verdict) < 0)
        return -ENOMEM;
    plan->tool_name = plan->verdict.tool ? plan->verdict.tool->name : NULL;
    plan->overlay = planner->request->overlay;
    return plan->verdict.outcome == CHOKE_NONE ? 0 : -ECANCELED;
}

/* A context that was made with what the machine refuses runs nothing, whatever is requested. */
static int step_context(struct planner *planner)
{
    return ck_locked_check_context(planner->sources->locked, planner->plan);
}

static int step_locked(struct planner *planner)
{
    return ck_locked_check_call(planner->sources->locked, planner->request, planner->plan);
}

/* Limits in the units of the kernel. CK_CONTROLS are those that a cgroup may hold. */
static int step_limits(struct planner *planner)
{
    struct ck_plan *plan = planner->plan;
    const struct ck_limits *limits = &plan->verdict.limits;
    plan->limits[CK_LIMIT_MEMORY] = (uint64_t)limits->memory_mib << 20;
    plan->limits[CK_LIMIT_PROCESSES] = limits->processes;
    plan->limits[CK_LIMIT_CPU] = limits->cpu_s;
    plan->limits[CK_LIMIT_FILE_SIZE] = (uint64_t)limits->file_size_mib << 20;
    plan->limits[CK_LIMIT_OPEN_FILES] = limits->open_files;
    for (size_t i = 0; i < CK_CONTROLS; i++)
        plan->limited = plan->limited || plan->limits[i] != 0;
    return 0;
}

/* A policy inside the root could have been written by the repository that it must restrict. */
static int step_root(struct planner *planner)
{
    struct ck_plan *plan = planner->plan;
    if (ck_beneath_root(planner->request->root, &plan->root_fd, &plan->verdict.error) < 0)
        return refuse(planner, "request.root");
    int r = ck_trust_identity_of(plan->root_fd, &plan->root);
    if (r < 0)
        return r;
    if (planner->sources->policy_place && ck_trust_passes(planner->sources->policy_place, plan->root)) {
        (void)ck_error_set(
            &plan->verdict.error, CHOKE_POLICY, EPERM,
            "policy '%s' is inside the root '%s', where the repository could have written it; keep it elsewhere",
            CK_QUOTE(planner->sources->policy->file), CK_QUOTE(planner->request->root));
        return refuse(planner, "policy.place");
    }
    return ck_locked_check_root(planner->sources->locked, planner->request, plan);
}

static int step_upstream(struct planner *planner)
{
    return ck_upstream_plan(planner->sources->policy, planner->plan);
}

static int step_cwd(struct planner *planner)
{
    struct ck_plan *plan = planner->plan;
    if (planner->sources->guarded)
        return ck_guarded_cwd(planner->sources->guarded, planner->request->cwd, plan);
    if (strcmp(planner->request->cwd, ".") == 0) {
        plan->cwd_fd = plan->root_fd;
        return 0;
    }
    if (ck_beneath_directory(plan->root_fd, planner->request->cwd, &plan->cwd_fd, &plan->verdict.error) < 0)
        return refuse(planner, "request.cwd");
    return 0;
}

static int step_tool(struct planner *planner)
{
    return ck_tools_open(planner->sources, planner->plan);
}

/*
 * Without a mount namespace the tool gets the /dev/null of the host; the filter forbids to change
 * it.
 */
static enum ck_plan_stdin stdin_form(const struct ck_plan *plan)
{
    if (plan->jail.jail == &ck_jail_none || plan->guarded)
        return CK_STDIN_PASSED;
    if (plan->stdin_owned)
        return CK_STDIN_PUMPED;
    return plan->jail.jail == &ck_jail_native_no_userns ? CK_STDIN_PASSED : CK_STDIN_NULL;
}

/*
 * A learning run must not be sealed, may execute files beneath the root, and writes into an overlay,
 * whatever the entry or its subcommand has.
 */
void ck_plan_grant(const struct ck_plan_sources *sources, const struct ck_plan *plan, struct ck_grant *ret_grant)
{
    ck_grant_of(&plan->verdict, ret_grant);
    bool writes = ret_grant->workspace == CK_WORKSPACE_RW;
    if (plan->overlay && writes)
        ret_grant->overlay = plan->verdict.tool;
    if (sources->guarded) {
        ret_grant->root_own = true;
        ret_grant->sealed = ret_grant->sealed && !plan->cage;
    }
    if (sources->learn || ((sources->unchanged || plan->overlay) && writes))
        ret_grant->workspace = CK_WORKSPACE_OVERLAY;
    if (!sources->learn)
        return;
    ret_grant->workspace_code = plan->verdict.tool;
    ret_grant->sealed = false;
}

static void work_ahead(const struct planner *planner)
{
    if (planner->sources->ahead)
        planner->sources->ahead(planner->sources->data, planner->plan);
}

static int step_jail(struct planner *planner)
{
    const struct choke_request *request = planner->request;
    work_ahead(planner);
    struct ck_plan *plan = planner->plan;
    struct ck_grant grant;
    ck_plan_grant(planner->sources, plan, &grant);
    bool locked = ck_locked_needs_jail(planner->sources->locked, plan);
    bool learn = planner->sources->learn, guarded = !!planner->sources->guarded;
    const struct ck_jail_needs needs = {
        .whole = request->require_jail || request->sandbox || locked || learn || guarded,
        .whole_by = guarded  ? GUARD_PREFIX
                    : locked ? CK_LOCKED_PREFIX
                    : learn  ? LEARN_PREFIX
                             : "",
        .form = {.egress = plan->verdict.egress_count > 0,
                 .workspace_code = !!grant.workspace_code,
                 .loopback = !!grant.loopback,
                 .learn = learn},
    };
    if (ck_jail_choose(planner->sources->jails, plan->verdict.jail, needs, &plan->jail, &plan->verdict.error) < 0)
        return refuse(planner, "request.jail");
    if (plan->cage && !plan->jail.names_execs) {
        (void)ck_error_set(&plan->verdict.error, CHOKE_JAIL_UNAVAILABLE, ENOTSUP,
                           GUARD_PREFIX "executions cannot be watched on this machine; see 'chokepoint doctor'");
        return refuse(planner, "request.jail");
    }
    if (learn && !plan->jail.names_execs) {
        (void)ck_error_set(&plan->verdict.error, CHOKE_JAIL_UNAVAILABLE, ENOTSUP,
                           LEARN_PREFIX "executions cannot be watched on this machine; see 'chokepoint doctor'");
        return refuse(planner, "request.jail");
    }
    plan->learn = learn;
    plan->stdin_form = stdin_form(plan);
    plan->why = request->why;
    plan->loopback = !!grant.loopback;
    return 0;
}

/* The tool, then the nested tools, then NULL. */
static void list_tools(const struct ck_verdict *verdict, const struct ck_tool *ret_tools[CK_COMMAND_DEPTH_MAX + 2])
{
    size_t count = 0;
    ret_tools[count++] = verdict->tool;
    for (size_t i = 0; i < verdict->parsed.nested_count; i++)
        ret_tools[count++] = verdict->parsed.nested[i].tool;
    ret_tools[count] = NULL;
}

static int step_paths(struct planner *planner)
{
    return ck_paths_check(planner->sources, planner->plan);
}

static const char *label_of(const struct planner *planner)
{
    const char *probe = planner->request->probe;
    return probe ? probe : planner->plan->tool_name;
}

/*
 * Without a mount namespace the scratch directory has its path on the host, so its name is chosen
 * here.
 */
static const char *find_home(struct planner *planner)
{
    struct ck_plan *plan = planner->plan;
    if (plan->jail.jail == &ck_jail_none)
        return getenv("HOME");
    if (plan->jail.jail != &ck_jail_native_no_userns)
        return plan->cage && planner->sources->guarded->home ? planner->sources->guarded->home
               : plan->guarded                               ? CK_JAIL_PRIVATE_SCRATCH
                                                             : CK_JAIL_SCRATCH;
    plan->bwrap.scratch_pool = &planner->sources->bwrap_state->scratch_pool;
    plan->bwrap.scratch = ck_scratch_name(plan->bwrap.scratch_pool, label_of(planner), &plan->arena);
    return plan->bwrap.scratch;
}

/* Without a jail a tool has the network of its caller. */
static bool is_offline(const struct ck_plan *plan)
{
    return plan->verdict.egress_count == 0 && plan->jail.jail != &ck_jail_none;
}

/*
 * The call of a probe is the same for every caller, so it takes nothing from the environment of the
 * host.
 */
static int sandbox_environment(struct planner *planner, const struct ck_tool *const *tools, const char *home)
{
    const struct choke_request *request = planner->request;
    struct ck_plan *plan = planner->plan;
    const char *const *host = !request->probe ? (const char *const *)environ : NULL;
    const struct ck_sandbox_frame frame = {
        .policy = planner->sources->policy, .tools = tools, .home = home, .offline = is_offline(plan)};
    const struct ck_sandbox *sandbox;
    int r = ck_sandbox_make(&plan->arena, host, request->env, &sandbox, &plan->verdict.error);
    if (r == 0)
        r = ck_sandbox_environment(&plan->arena, sandbox, &frame, &plan->env, &plan->verdict.error);
    return r == 0 || r == -ENOMEM ? r : refuse(planner, "sandbox");
}

static int default_environment(struct planner *planner, const struct ck_tool *const *tools, const char *home)
{
    struct ck_plan *plan = planner->plan;
    const struct ck_host_environment host = {
        .home = home, .lang = getenv("LANG"), .lc_all = getenv("LC_ALL"), .offline = is_offline(plan)};
    plan->env = ck_env_build(&plan->arena, planner->sources->policy, tools, &host,
                             plan->guarded ? plan->extra_env : planner->request->env);
    return !plan->env ? -ENOMEM : 0;
}

static int step_argv_env(struct planner *planner)
{
    struct ck_plan *plan = planner->plan;
    const struct ck_tool *tools[CK_COMMAND_DEPTH_MAX + 2];
    list_tools(&plan->verdict, tools);
    const char *home = find_home(planner);
    plan->argv = ck_arena_strv(&plan->arena, plan->verdict.parsed.argv);
    if (!plan->argv || (!home && plan->jail.jail == &ck_jail_native_no_userns))
        return -ENOMEM;
    int r = planner->request->sandbox ? sandbox_environment(planner, tools, home)
                                      : default_environment(planner, tools, home);
    if (r < 0 || plan->verdict.egress_count == 0)
        return r;
    plan->env = ck_env_with_proxy(&plan->arena, plan->env, GATE_URL, plan->loopback);
    return !plan->env ? -ENOMEM : 0;
}

static int step_jail_setup(struct planner *planner)
{
    work_ahead(planner);
    int r = ck_jail_setup(planner->sources, planner->plan, label_of(planner));
    if (r == 0)
        work_ahead(planner);
    return r;
}

/* Only changes in an overlay can be kept. Any other workspace has no separate changes. */
static int step_keep(struct planner *planner)
{
    struct ck_plan *plan = planner->plan;
    const char *path = planner->request->keep_path;
    if (!path)
        return 0;
    if (plan->workspace != CK_WORKSPACE_OVERLAY)
        (void)ck_error_set(&plan->verdict.error, CHOKE_INVALID, EINVAL,
                           "cannot keep changes: the policy entry of '%s' does not have 'workspace: overlay'; %s",
                           plan->tool_name,
                           plan->workspace == CK_WORKSPACE_RW ? "add --overlay, or leave --keep out"
                                                              : "it cannot write to the root, so leave --keep out");
    else if (ck_keep_check(path, plan->root, &plan->arena, &plan->keep, &plan->verdict.error) == 0)
        return 0;
    return refuse(planner, "request.keep");
}

static int refuse_stdin(struct planner *planner, enum choke_outcome outcome, int errnum)
{
    (void)ck_error_set(&planner->plan->verdict.error, outcome, errnum, "cannot pass stdin to the tool: %s",
                       ck_error_text(errnum));
    return refuse(planner, "request.stdin");
}

/*
 * The bytes are put into a sealed memory file: the tool reads a regular file, and nobody has to
 * write to a pipe while it runs.
 */
static int stdin_from_bytes(struct planner *planner)
{
    const struct choke_request *request = planner->request;
    int fd = ck_sealed_write("stdin", CK_SEALED_DATA, request->stdin_bytes, request->stdin_length);
    if (fd < 0)
        return refuse_stdin(planner, CHOKE_SPAWN_FAILED, -fd);
    planner->plan->stdin_fd = fd;
    planner->plan->stdin_owned = true;
    return 0;
}

/*
 * The copy is made before anything else is opened. If the caller gave a number that is closed, it
 * could otherwise be the number of one of our descriptors.
 */
static int stdin_from_descriptor(struct planner *planner)
{
    int fd = fcntl(planner->request->stdin_fd, F_DUPFD_CLOEXEC, 3);
    if (fd < 0)
        return refuse_stdin(planner, errno == EBADF ? CHOKE_INVALID : CHOKE_SPAWN_FAILED, errno);
    planner->plan->stdin_fd = fd;
    planner->plan->stdin_owned = true;
    return 0;
}

static int step_stdin(struct planner *planner)
{
    if (planner->sources->guarded)
        return ck_guarded_take(planner->sources->guarded, planner->plan);
    switch (planner->request->stdin_kind) {
    case CHOKE_STDIN_BYTES:
        return stdin_from_bytes(planner);
    case CHOKE_STDIN_FD:
        return stdin_from_descriptor(planner);
    case CHOKE_STDIN_NULL:
        planner->plan->stdin_fd = planner->sources->null_fd;
        return 0;
    }
    return -EINVAL;
}

static const struct ck_plan empty_plan = {.native_jail = {.fd = -1},
                                          .keep = {.fd = -1},
                                          .bwrap = {.image_fd = -1, .program_fd = -1, .bwrap_fd = -1},
                                          .no_userns = {.filter_fd = -1},
                                          .root_fd = -1,
                                          .cwd_fd = -1,
                                          .execute_fd = -1,
                                          .ruleset_fd = -1,
                                          .stdin_fd = -1,
                                          .out_fd = -1,
                                          .err_fd = -1,
                                          .guarded_top_fd = -1};

struct ck_plan *ck_plan_take(struct ck_plan *plan)
{
    struct ck_plan *taken = malloc(sizeof(*taken));
    if (!taken)
        return NULL;
    *taken = *plan;
    *plan = empty_plan;
    return taken;
}

int ck_plan_make(const struct ck_plan_sources *sources, const struct choke_request *request, struct ck_plan *ret)
{
    /*
     * In the order of refusals, see above. The jail comes after the tool: only a run that would
     * start needs a proof. argv and environment depend on the jail.
     */
    static const plan_step steps[] = {step_context, step_judge,    step_locked,     step_limits, step_stdin,
                                      step_root,    step_upstream, step_cwd,        step_paths,  step_tool,
                                      step_jail,    step_argv_env, step_jail_setup, step_keep};
    *ret = empty_plan;
    struct planner planner = {.sources = sources, .request = request, .plan = ret};
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        int r = steps[i](&planner);
        if (r == -ECANCELED)
            return 0;
        if (r < 0)
            return r;
    }
    return 0;
}

void ck_plan_done(struct ck_plan *plan)
{
    if (plan->cwd_fd != plan->root_fd)
        ck_fd_close(&plan->cwd_fd);
    ck_fd_close(&plan->root_fd);
    ck_fd_close(&plan->execute_fd);
    ck_fd_close(&plan->bwrap.image_fd);
    ck_fd_close(&plan->bwrap.bwrap_fd);
    ck_fd_close(&plan->ruleset_fd);
    ck_fd_close(&plan->keep.fd);
    if (plan->stdin_owned)
        ck_fd_close(&plan->stdin_fd);
    ck_fd_close(&plan->out_fd);
    ck_fd_close(&plan->err_fd);
    for (unsigned i = 0; i < plan->passed_count; i++)
        ck_fd_close(&plan->passed_fds[i]);
    ck_arena_done(&plan->arena);
}

uint64_t ck_plan_grace_ns(uint64_t timeout_ms)
{
    /*
     * Two fifths of the timeout: with SIGKILL at 1.4 times the timeout the run ends before 1.5
     * times.
     */
    uint64_t part = timeout_ms * CK_NS_PER_MS / 5 * 2;
    uint64_t usual = 100 * CK_NS_PER_MS;
    return part < usual ? part : usual;
}
