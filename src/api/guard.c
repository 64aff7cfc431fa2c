/*
 * guard.c - starts a program in a cage, and the tools that its doors stand for. See chokepoint-guard.h.
 *
 * Both are jobs like any other: planned, recorded, launched and ended by the same code. What differs is
 * in run/guarded.c. The tool of a call is created outside of the cage, in its own jail, so nothing is
 * nested. Cage and tools share the root, and a directory of ours as /tmp.
 */
#include "api/guard.h"

#include "api/versioned.h"
#include "base/clock.h"
#include "base/door_wire.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/quote.h"
#include "policy/describe.h"
#include "policy/profile.h"
#include "policy/secret.h"
#include "sys/beneath.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LABEL "guard"
#define NO_LIMIT UINT64_MAX
/* For the shared /tmp, which the program may have filled; what is left then is removed by the next run. */
#define REMOVE_NS (10 * CK_NS_PER_S)

extern const unsigned char ck_door_image_text[];
extern const size_t ck_door_image_length;

/* ---- what a process inherits ---- */

void choke_guard_inherited_init(struct choke_guard_inherited *inherited)
{
    *inherited = (struct choke_guard_inherited){.umask_bits = S_IWGRP | S_IWOTH};
    for (size_t i = 0; i < CHOKE_GUARD_RLIMITS; i++)
        inherited->rlimits[i] = (struct choke_guard_rlimit){NO_LIMIT, NO_LIMIT};
}

void choke_guard_inherited_done(struct choke_guard_inherited *inherited)
{
    for (unsigned i = 0; i < inherited->fd_count && i < CHOKE_GUARD_FDS; i++)
        ck_fd_close(&inherited->fds[i]);
    inherited->fd_count = 0;
}

/* Takes the descriptors. -EINVAL and *error if it is malformed; they are closed then. */
static int take_inherited(struct choke_guard_inherited *inherited, struct ck_guarded_run *ret_run,
                          struct choke_error *error)
{
    _Static_assert(CHOKE_GUARD_FDS == 3 + CK_WIRE_PASSED_MAX && CHOKE_GUARD_RLIMITS == CK_WIRE_RLIMITS,
                   "what a caller may pass must fit the plan");
    _Static_assert(CK_DOOR_NUMBERS == CK_WIRE_PASSED_NUMBERS, "a door hands over what a tool can be given");
    *ret_run = (struct ck_guarded_run){
        .inherited = {.umask_bits = inherited->umask_bits, .nice = inherited->nice, .ignored = inherited->ignored}};
    if (inherited->fd_count < 3 || inherited->fd_count > CHOKE_GUARD_FDS || inherited->fds[0] < 0 ||
        inherited->fds[1] < 0 || inherited->fds[2] < 0) {
        choke_guard_inherited_done(inherited);
        return ck_error_set(error, CHOKE_INVALID, EINVAL, "a process needs 3 to %d descriptors, with 0, 1 and 2",
                            CHOKE_GUARD_FDS);
    }
    for (unsigned i = 0; i < inherited->fd_count; i++) {
        ret_run->fds[i] = ck_fd_take(&inherited->fds[i]);
        if (i >= 3)
            ret_run->inherited.numbers[i - 3] = inherited->numbers[i];
    }
    ret_run->fd_count = inherited->fd_count;
    inherited->fd_count = 0;
    for (size_t i = 0; i < CK_WIRE_RLIMITS; i++)
        ret_run->inherited.rlimits[i] =
            (struct ck_wire_rlimit){.soft = inherited->rlimits[i].soft, .hard = inherited->rlimits[i].hard};
    return 0;
}

/* ---- what the cage and its tools share ---- */

static int open_root(struct choke_guard *guard, const char *root, struct choke_error *error)
{
    char path[PATH_MAX];
    int r = ck_beneath_root(root, &guard->root_fd, error);
    if (r < 0)
        return r;
    r = ck_trust_identity_of(guard->root_fd, &guard->root_identity);
    if (r == 0)
        r = ck_beneath_path(guard->root_fd, path, sizeof(path));
    if (r < 0)
        return ck_error_set(error, CHOKE_CWD, -r, "cannot find the path of the root '%s': %s", CK_QUOTE(root),
                            ck_beneath_strerror(-r));
    guard->root = ck_arena_strdup(&guard->arena, path);
    return !guard->root ? ck_error_oom(error) : 0;
}

/* A directory of its own, which is removed at the end. */
static int make_tmp(struct choke_guard *guard, struct choke_error *error)
{
    struct stat status;
    const char *path = ck_scratch_name(&guard->scratch_pool, LABEL, &guard->arena);
    if (!path)
        return ck_error_oom(error);
    int r = ck_scratch_make(&guard->scratch_pool, path, &guard->tmp, error);
    if (r < 0)
        return r;
    if (fstat(guard->tmp.fd, &status) < 0)
        return ck_error_set(error, CHOKE_SPAWN_FAILED, errno, "cannot examine '%s': %s", path, strerror(errno));
    guard->directories[0] = (struct ck_native_directory){
        .path = CK_JAIL_TMP, .real = path, .device = status.st_dev, .inode = status.st_ino};
    guard->writable[0] = (struct ck_guarded_directory){.path = CK_JAIL_TMP, .fd = guard->tmp.fd};
    guard->writable_count = 1;
    return 0;
}

static void share(struct choke_guard *guard, struct ck_guarded *guarded)
{
    guarded->native.writable = guard->directories;
    guarded->native.writable_count = guard->writable_count;
    guarded->writable = guard->writable;
    guarded->writable_count = guard->writable_count;
    guarded->guard = guard;
    guarded->egress = guard->cage.egress;
    guarded->egress_count = guard->cage.egress_count;
}

/* ---- what the policy gives the cage ---- */

static int find_program(const struct ck_policy *policy, const char *name, const struct ck_tool **ret_tool,
                        struct choke_error *error)
{
    const struct ck_tool *tool = ck_policy_find(policy, name);
    if (tool && ck_profile_is_program(policy, tool) && !ck_policy_tool_is_beneath_root(tool)) {
        *ret_tool = tool;
        return 0;
    }
    const char *why = strchr(name, '/') ? "is a path; a carrier is called by its name"
                      : !tool           ? "is not in the policy; the profile 'ci' has bash, sh and make"
                      : !ck_profile_is_carrier(policy, tool) ? "is no carrier; name it in 'carriers' of 'guard'"
                      : ck_policy_tool_is_beneath_root(tool) ? "is a file beneath the root"
                                                             : "is not in 'programs' of the profile";
    return ck_error_set(error, CHOKE_DISALLOWED, EPERM,
                        "'%s' cannot be the program of guard: it %s (a script is run as: bash SCRIPT)", CK_QUOTE(name),
                        why);
}

/* The entry as the cage has it: the keys of the profile in place of those that do not hold there. */
static int make_program(struct choke_guard *guard, const struct ck_profile *profile, const struct ck_tool *tool,
                        struct choke_error *error)
{
    struct ck_tool *program = ck_arena_array(&guard->arena, 1, sizeof(*program));
    size_t count = (size_t)tool->set_env_count + profile->set_env_count;
    struct ck_variable *set_env = ck_arena_array(&guard->arena, count + 1, sizeof(*set_env));
    if (!program || !set_env)
        return ck_error_oom(error);
    *program = *tool;
    program->set_env = set_env;
    program->set_env_count = 0;
    for (uint32_t i = 0; i < tool->set_env_count; i++)
        set_env[program->set_env_count++] = tool->set_env[i];
    for (uint32_t i = 0; i < profile->set_env_count; i++)
        set_env[program->set_env_count++] = profile->set_env[i];
    program->args = NULL;
    program->limits = (struct ck_limits){0};
    program->egress = profile->egress;
    program->env = profile->env;
    program->workspace = profile->workspace;
    program->has_workspace = true;
    program->workspace_code = profile->workspace_code;
    program->root_at = CK_ROOT_AT_OWN;
    guard->cage.program = program;
    return 0;
}

static int list_carriers(struct choke_guard *guard, const struct ck_policy *policy, const struct ck_tool *program,
                         struct choke_error *error)
{
    const struct ck_tool **carriers = ck_arena_array(&guard->arena, policy->tools_count + 1u, sizeof(*carriers));
    size_t count = 0;
    if (!carriers)
        return ck_error_oom(error);
    for (uint32_t i = 0; i < policy->tools_count; i++)
        if (&policy->tools[i] != program && ck_profile_is_carrier(policy, &policy->tools[i]) &&
            !ck_policy_tool_is_beneath_root(&policy->tools[i]))
            carriers[count++] = &policy->tools[i];
    guard->cage.carriers = carriers;
    return 0;
}

static int take_egress(struct choke_guard *guard, const struct ck_list *listed, const char *const *requested,
                       struct choke_error *error)
{
    const char *const *items = requested && requested[0] ? requested : (const char *const *)listed->items;
    size_t count = requested && requested[0] ? 0 : listed->count;
    while (requested && requested[count])
        count++;
    struct ck_destination *egress = ck_arena_array(&guard->arena, count + 1, sizeof(*egress));
    if (!egress)
        return ck_error_oom(error);
    for (size_t i = 0; i < count; i++) {
        const char *reason;
        char *item = ck_arena_strdup(&guard->arena, items[i]);
        if (!item)
            return ck_error_oom(error);
        if (ck_destination_parse(item, &egress[i], &reason) < 0)
            return ck_error_set(error, CHOKE_INVALID, EINVAL, "egress entry '%s' %s", CK_QUOTE(item), reason);
        if (!ck_judge_grants_egress(listed, &egress[i]))
            return ck_error_set(error, CHOKE_DISALLOWED, EPERM,
                                "'%s' is not a destination that 'egress' of the profile lists", CK_QUOTE(item));
    }
    guard->cage.egress = egress;
    guard->cage.egress_count = count;
    return 0;
}

/* Those that the profile names, from the caller's environment. */
static int take_variables(struct choke_guard *guard, const struct ck_profile *profile, const char ***ret_variables,
                          struct choke_error *error)
{
    const char **variables = ck_arena_array(&guard->arena, profile->env.count + 1u, sizeof(*variables));
    size_t count = 0;
    if (!variables)
        return ck_error_oom(error);
    for (uint32_t i = 0; i < profile->env.count; i++) {
        const char *value = getenv(profile->env.items[i]);
        if (!value)
            continue;
        const char *text = ck_arena_printf(&guard->arena, "%s=%s", profile->env.items[i], value);
        if (!text)
            return ck_error_oom(error);
        const char *kind = guard->cage.program->allow_credentials ? NULL : ck_secret_kind(text);
        if (kind)
            return ck_error_set(error, CHOKE_ENV_FORBIDDEN, EPERM,
                                "variable '%s' looks like %s; everything in the cage could read it",
                                profile->env.items[i], kind);
        variables[count++] = text;
    }
    *ret_variables = variables;
    return 0;
}

/* With what the profile inserts after the name. */
static const char **build_argv(struct choke_guard *guard, const struct ck_profile *profile, const char *const *argv)
{
    size_t count = 0, at = 0;
    while (argv[count])
        count++;
    const char **all = ck_arena_array(&guard->arena, count + profile->inject.count + 1, sizeof(*all));
    if (!all)
        return NULL;
    all[at++] = argv[0];
    for (uint32_t i = 0; i < profile->inject.count; i++)
        all[at++] = profile->inject.items[i];
    for (size_t i = 1; i < count; i++)
        all[at++] = argv[i];
    return all;
}

/* What a cage does not have yet is refused, and not left out. */
static int check_profile(const struct ck_profile *profile, struct choke_error *error)
{
    return profile->workspace != CK_WORKSPACE_OVERLAY
               ? 0
               : ck_error_set(error, CHOKE_POLICY, ENOTSUP,
                              "'workspace: overlay' of the profile is not available in a cage of this release; leave "
                              "it out");
}

static int take_policy(struct choke_guard *guard, const struct choke_guard_request *request,
                       const struct ck_policy **ret_policy, struct choke_error *error)
{
    struct choke_context *context = guard->context;
    const struct ck_policy *policy = NULL;
    const struct ck_tool *program = NULL;
    int r = ck_profile_apply(context->policy, request->profile, &context->text, &policy, error);
    if (r == 0)
        r = ck_machine_check_profile(&context->machine, policy, request->profile, error);
    if (r == 0)
        r = check_profile(&policy->guard->own, error);
    if (r == 0)
        r = find_program(policy, request->argv[0], &program, error);
    if (r == 0 && program)
        r = make_program(guard, &policy->guard->own, program, error);
    if (r == 0)
        r = list_carriers(guard, policy, program, error);
    if (r == 0)
        r = take_egress(guard, &policy->guard->own.egress, request->egress, error);
    *ret_policy = policy;
    return r;
}

/* ---- starting ---- */

static int start_program(struct choke_guard *guard, const struct choke_guard_request *request,
                         struct ck_guarded_run *run, struct choke_job **ret_job, struct choke_error *error)
{
    struct choke_context *context = guard->context;
    const struct ck_profile *profile = &context->policy->guard->own;
    const char **variables = NULL;
    int r = take_variables(guard, profile, &variables, error);
    const char **argv = r == 0 ? build_argv(guard, profile, request->argv) : NULL;
    if (r == 0 && !argv)
        return ck_error_oom(error);
    if (r < 0)
        return r;
    run->variables = variables;
    run->inherited.terminal = request->terminal >= 0 ? (uint32_t)request->terminal + 1 : 0;
    guard->cage.run = run;
    const struct choke_request program = {.argv = argv,
                                          .root = guard->root,
                                          .cwd = request->cwd,
                                          .timeout_ms =
                                              request->timeout_ms != 0 ? request->timeout_ms : CK_TIMEOUT_MAX_MS,
                                          .jail = CHOKE_JAIL_NATIVE,
                                          .require_jail = true,
                                          .job_data = request->job_data};
    r = ck_job_start_guarded(guard, &program, &guard->cage, ret_job, error);
    guard->cage.run = NULL;
    return r;
}

static int check_request(const struct choke_guard_request *request, struct choke_error *error)
{
    if (!request->argv || !request->argv[0] || !request->root || !request->cwd || !request->on_door)
        return ck_error_set(error, CHOKE_INVALID, EINVAL, "argv, root, cwd and on_door are required");
    if (request->timeout_ms > CK_TIMEOUT_MAX_MS || request->terminal > 2)
        return ck_error_set(error, CHOKE_INVALID, EINVAL, "the timeout or the terminal is out of range");
    return 0;
}

/* What the records of the guard say of it. */
static int describe(struct choke_guard *guard, const char *profile, struct choke_error *error)
{
    size_t count = 0;
    while (guard->cage.carriers[count])
        count++;
    const char **names = ck_arena_array(&guard->arena, count + 3 + guard->states_count, sizeof(*names));
    const char *name = profile ? ck_arena_strdup(&guard->arena, profile) : NULL;
    if (!names || (profile && !name))
        return ck_error_oom(error);
    names[0] = guard->cage.program->name;
    for (size_t i = 0; i < count; i++)
        names[i + 1] = guard->cage.carriers[i]->name;
    for (size_t i = 0; i < guard->states_count; i++)
        names[count + 2 + i] = guard->states[i].name;
    for (size_t i = 0; i < guard->writable_count; i++)
        guard->places[i] = (struct ck_identity){.device = (dev_t)guard->directories[i].device,
                                                .inode = (ino_t)guard->directories[i].inode};
    guard->record = (struct ck_audit_guard){.profile = name,
                                            .carriers = names,
                                            .state = names + count + 2,
                                            .writable = guard->places,
                                            .writable_count = guard->writable_count};
    return 0;
}

/* NULL-terminated; NULL: no memory. */
static const char *const *list_names(struct choke_guard *guard, const struct ck_list *list)
{
    const char **names = ck_arena_array(&guard->arena, list->count + 1u, sizeof(*names));
    for (uint32_t i = 0; names && i < list->count; i++)
        names[i] = list->items[i];
    return names;
}

static int prepare(struct choke_guard *guard, const struct choke_guard_request *request, struct choke_error *error)
{
    const struct ck_policy *policy = NULL;
    int r = check_request(request, error);
    if (r == 0)
        r = take_policy(guard, request, &policy, error);
    if (r == 0)
        r = open_root(guard, request->root, error);
    if (r == 0 && policy)
        r = ck_guard_state_check_read_only(guard, &policy->guard->own.read_only, error);
    if (r == 0)
        r = make_tmp(guard, error);
    if (r == 0 && policy)
        r = ck_guard_state_open(guard, &policy->guard->own, request->profile, error);
    if (r == 0)
        r = describe(guard, request->profile, error);
    if (r == 0)
        r = ck_guard_secrets_take(guard, request, error);
    if (r == 0)
        r = ck_guard_tools_find(guard, policy, error);
    if (r == 0)
        r = ck_context_use_policy(guard->context, policy, error);
    if (r < 0 || !policy)
        return r;
    share(guard, &guard->cage);
    share(guard, &guard->tool_calls);
    guard->cage.native.door = ck_door_image_text;
    guard->cage.native.door_bytes = ck_door_image_length;
    guard->cage.native.no_new_code = !policy->guard->own.jit;
    guard->cage.native.read_only = list_names(guard, &policy->guard->own.read_only);
    guard->description = ck_policy_cage_json(&policy->guard->own, &guard->arena);
    if (!guard->cage.native.read_only || !guard->description)
        return ck_error_oom(error);
    guard->cage.home = guard->store ? CK_JAIL_STATE : NULL;
    guard->on_door = request->on_door;
    guard->door_data = request->door_data;
    return 0;
}

int choke_guard_start(struct choke_context *context, const struct choke_guard_request *request,
                      struct choke_guard **ret_guard, struct choke_job **ret_job, struct choke_error *error)
{
    struct choke_guard_request known;
    struct ck_guarded_run run;
    int r = ck_context_renew(context, error);
    if (r < 0)
        return r;
    if (!request || !ret_guard || !ret_job || !request->inherited)
        return ck_error_set(error, CHOKE_INVALID, EINVAL, "a request and pointers for its results are required");
    *ret_guard = NULL;
    r = ck_versioned_read(CK_VERSIONED(choke_guard_request), request, request->struct_size, &known, error);
    if (r == 0)
        r = take_inherited(request->inherited, &run, error);
    if (r < 0)
        return r;
    struct choke_guard *guard = calloc(1, sizeof(*guard));
    if (!guard) {
        ck_guarded_run_done(&run);
        return ck_error_oom(error);
    }
    guard->context = context;
    guard->root_fd = -1;
    guard->tmp.fd = -1;
    ck_scratch_pool_init(&guard->scratch_pool);
    guard->home.fd = -1;
    r = prepare(guard, &known, error);
    *ret_job = NULL;
    if (r == 0 && !known.dry_run)
        r = ck_guard_state_note(guard, error);
    if (r == 0 && !known.dry_run)
        r = start_program(guard, &known, &run, ret_job, error);
    ck_guarded_run_done(&run);
    if (r < 0)
        choke_guard_free(guard);
    else
        *ret_guard = guard;
    return r;
}

void choke_guard_free(struct choke_guard *guard)
{
    if (!guard)
        return;
    if (guard->job) {
        guard->job->cage = NULL;
        guard->job->guard = NULL;
    }
    guard->context->secret_files = NULL;
    ck_host_secrets_release(guard->secrets);
    ck_scratch_remove_within(&guard->tmp, REMOVE_NS);
    ck_guard_state_done(guard);
    ck_scratch_pool_done(&guard->scratch_pool);
    ck_fd_close(&guard->root_fd);
    ck_arena_done(&guard->arena);
    free(guard);
}

const char *choke_guard_description(const struct choke_guard *guard)
{
    return guard->description;
}

const char *choke_guard_store(const struct choke_guard *guard)
{
    return guard->store;
}

bool choke_guard_tool(const struct choke_guard *guard, size_t index, struct choke_guard_tool *ret_tool)
{
    size_t carriers = 1;
    while (guard->cage.carriers[carriers - 1])
        carriers++;
    if (index >= carriers + guard->tools_count)
        return false;
    const struct ck_guard_tool *tool = index < carriers ? NULL : &guard->tools[index - carriers];
    *ret_tool = (struct choke_guard_tool){.name = tool         ? tool->tool->name
                                                  : index == 0 ? guard->cage.program->name
                                                               : guard->cage.carriers[index - 1]->name,
                                          .file = tool ? tool->file : NULL};
    return true;
}

bool choke_guard_secret(const struct choke_guard *guard, size_t index, struct choke_guard_secret *ret_secret)
{
    if (!guard->secrets || index >= guard->secrets->count)
        return false;
    const struct ck_host_secret *secret = &guard->secrets->items[index];
    *ret_secret = (struct choke_guard_secret){
        .host = secret->host.text, .port = secret->port, .header = secret->name, .requests = secret->requests};
    return true;
}

/* ---- calls ---- */

/* -1: there was no descriptor for it. The door sees that it is closed, and ends. */
void ck_guard_connected(void *data, struct ck_run *run, int fd, bool again)
{
    const struct choke_job *job = run->owner;
    /* The context, which the job has too. */
    (void)data;
    if (job->cage && !again)
        job->cage->received++;
    if (!job->cage || fd < 0)
        ck_fd_close(&fd);
    else
        job->cage->on_door(job->cage->door_data, fd);
}

static int start_call(struct choke_guard *guard, const struct choke_guard_call *call, struct ck_guarded_run *run,
                      struct choke_job **ret_job, struct choke_error *error)
{
    const struct ck_tool *tool = ck_guard_tools_choose(guard, call);
    size_t count = 0;
    if (!tool)
        return ck_error_set(error, CHOKE_DISALLOWED, EPERM,
                            "the file '%s' is more than one tool of the policy, and '%s' is the name of none of them",
                            CK_QUOTE(call->file), CK_QUOTE(call->executed));
    while (call->argv[count])
        count++;
    const char **argv = calloc(count + 2, sizeof(*argv));
    if (!argv)
        return ck_error_oom(error);
    argv[0] = tool->name;
    for (size_t i = 1; i < count; i++)
        argv[i] = call->argv[i];
    run->variables = call->variables;
    guard->tool_calls.run = run;
    const struct choke_request request = {.argv = argv,
                                          .root = guard->root,
                                          .cwd = call->cwd,
                                          .timeout_ms = CHOKE_TIMEOUT_FROM_POLICY,
                                          .jail = CHOKE_JAIL_NATIVE,
                                          .require_jail = true,
                                          .job_data = call->job_data};
    int r = ck_job_start_guarded(guard, &request, &guard->tool_calls, ret_job, error);
    guard->calls += r == 0 ? 1 : 0;
    guard->tool_calls.run = NULL;
    free(argv);
    return r;
}

int choke_guard_call(struct choke_guard *guard, const struct choke_guard_call *call, struct choke_job **ret_job,
                     struct choke_error *error)
{
    struct choke_guard_call known;
    struct ck_guarded_run run;
    if (!guard || !call || !ret_job || !call->inherited)
        return ck_error_set(error, CHOKE_INVALID, EINVAL, "a guard, a call and a pointer for its job are required");
    int r = ck_versioned_read(CK_VERSIONED(choke_guard_call), call, call->struct_size, &known, error);
    if (r == 0)
        r = take_inherited(call->inherited, &run, error);
    if (r < 0)
        return r;
    r = ck_context_renew(guard->context, error);
    if (r == 0 && (!known.file || !known.executed || !known.argv || !known.cwd))
        r = ck_error_set(error, CHOKE_INVALID, EINVAL, "file, executed, argv and cwd of a call are required");
    if (r == 0)
        r = start_call(guard, &known, &run, ret_job, error);
    ck_guarded_run_done(&run);
    return r;
}

void ck_guard_own(struct choke_guard *guard, struct choke_job *job)
{
    guard->job = job;
    job->cage = guard;
    job->guard = &guard->record;
}

void ck_guard_ended(struct choke_job *job)
{
    struct choke_guard_counts counts;
    if (!job->cage)
        return;
    choke_guard_counts(job, &counts);
    job->cage->record.executions = (struct ck_audit_executions){.attempts = counts.attempts,
                                                                .door = counts.door,
                                                                .carrier = counts.carrier,
                                                                .workspace = counts.workspace,
                                                                .refused = counts.refused,
                                                                .not_found = counts.not_found,
                                                                .failed = counts.failed,
                                                                .connections = counts.received,
                                                                .calls = job->cage->calls};
}

void choke_guard_signal(struct choke_job *job, int sig)
{
    if (job && !job->finished && ck_context_check(job->context, NULL) == 0)
        ck_watch_signal(&job->run, sig);
}

void choke_guard_counts(const struct choke_job *job, struct choke_guard_counts *ret_counts)
{
    const struct ck_wire_counts *counts = &job->run.report.counts;
    *ret_counts = (struct choke_guard_counts){0};
    if (job->run.lost || !job->result->jail || !job->cage)
        return;
    /* PROGRAM itself is executed by init, which is not asked. */
    *ret_counts = (struct choke_guard_counts){.attempts = counts->attempts + 1,
                                              .door = counts->door,
                                              .carrier = counts->carrier + 1,
                                              .workspace = counts->workspace,
                                              .refused = counts->refused,
                                              .not_found = counts->not_found,
                                              .failed = counts->failed,
                                              .unexpected = counts->unexpected,
                                              .connections = counts->connections,
                                              .received = job->cage->received};
}
