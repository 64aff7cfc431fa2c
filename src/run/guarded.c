/*
 * guarded.c - the steps of a plan that differ for guard. See guarded.h.
 *
 * A call from the cage gets what `chokepoint run` would grant, and no more. It differs where a caller
 * in the cage cannot say what it wants: variables that the entry does not grant are left out, and of
 * the hosts of guard the tool gets those that its entry grants. Arguments, credentials and paths are
 * judged as ever.
 */
#include "run/guarded.h"

#include "base/error.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/quote.h"
#include "policy/secret.h"
#include "run/execs.h"
#include "sys/beneath.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Through the proxy: the most that an entry can have. An agent may run for days. */
#define CONNECTIONS 100000

void ck_guarded_run_done(struct ck_guarded_run *run)
{
    for (unsigned i = 0; i < run->fd_count; i++)
        ck_fd_close(&run->fds[i]);
    run->fd_count = 0;
}

/* ---- the verdict of a cage ---- */

static size_t count_strings(const char *const *strings)
{
    size_t count = 0;
    while (strings && strings[count])
        count++;
    return count;
}

/* The arguments of a carrier are not restricted, so nothing in them is a path that was checked. */
static int judge_cage(const struct ck_guarded *guarded, const struct choke_request *request, struct ck_plan *plan)
{
    struct ck_verdict *verdict = &plan->verdict;
    const struct ck_tool *tool = guarded->program;
    *verdict = (struct ck_verdict){.tool = tool,
                                   .timeout_ms = request->timeout_ms,
                                   .jail = CHOKE_JAIL_NATIVE,
                                   .egress = guarded->egress,
                                   .egress_count = guarded->egress_count,
                                   .limits = {.egress_connections = CONNECTIONS},
                                   .max_output_bytes = CHOKE_MIN_OUTPUT_BYTES};
    (void)snprintf(verdict->rule, sizeof(verdict->rule), "tools.%s", tool->name);
    verdict->parsed.argc = count_strings(request->argv);
    verdict->parsed.argv = ck_arena_strv(&plan->arena, request->argv);
    if (!verdict->parsed.argv)
        return -ENOMEM;
    verdict->parsed.argv[0] = tool->name;
    for (size_t i = 1; !tool->allow_credentials && i < verdict->parsed.argc; i++) {
        const char *kind = ck_secret_kind_at(request->argv, i);
        if (!kind)
            continue;
        (void)ck_error_set(&verdict->error, CHOKE_DISALLOWED, 0,
                           "argument %zu of '%s' looks like %s; arguments are visible to every process of the cage", i,
                           tool->name, kind);
        return ck_plan_refuse(plan, NULL, "credentials");
    }
    return 0;
}

/* ---- the verdict of a call ---- */

static const char *find_variable(const char *const *variables, const char *name)
{
    size_t length = strlen(name);
    for (; variables && *variables; variables++)
        if (strncmp(*variables, name, length) == 0 && (*variables)[length] == '=')
            return *variables;
    return NULL;
}

/* Those that the entry grants. NULL: no memory. */
static const char **granted_variables(struct ck_arena *arena, const struct ck_tool *tool, const char *const *variables)
{
    const char **granted = ck_arena_array(arena, tool->env.count + 1u, sizeof(*granted));
    size_t count = 0;
    for (uint32_t i = 0; granted && i < tool->env.count; i++) {
        granted[count] = find_variable(variables, tool->env.items[i]);
        count += granted[count] ? 1 : 0;
    }
    return granted;
}

/* Of what the cage may reach, what the entries of the call grant, too. -ENOMEM. */
static int grant_egress(const struct ck_guarded *guarded, struct ck_plan *plan)
{
    struct ck_verdict *verdict = &plan->verdict;
    struct ck_destination *egress = ck_arena_array(&plan->arena, guarded->egress_count + 1, sizeof(*egress));
    if (!egress)
        return -ENOMEM;
    for (size_t i = 0; i < guarded->egress_count; i++) {
        bool granted = ck_judge_grants_egress(&verdict->tool->egress, &guarded->egress[i]);
        for (size_t k = 0; k < verdict->parsed.nested_count; k++)
            granted = granted && ck_judge_grants_egress(&verdict->parsed.nested[k].tool->egress, &guarded->egress[i]);
        if (granted)
            egress[verdict->egress_count++] = guarded->egress[i];
    }
    verdict->egress = egress;
    return 0;
}

/* Twice: which variables are granted is known when the arguments have been read. */
static int judge_call(const struct ck_guarded *guarded, const struct ck_policy *policy,
                      const struct choke_request *request, struct ck_plan *plan)
{
    struct ck_verdict *verdict = &plan->verdict;
    struct choke_request wanted = *request;
    if (ck_judge(policy, &wanted, &plan->arena, verdict) < 0)
        return -ENOMEM;
    if (verdict->outcome == CHOKE_NONE && verdict->tool->env.count > 0) {
        wanted.env = granted_variables(&plan->arena, verdict->tool, guarded->run->variables);
        if (!wanted.env || ck_judge(policy, &wanted, &plan->arena, verdict) < 0)
            return -ENOMEM;
        plan->extra_env = wanted.env;
    }
    if (verdict->outcome != CHOKE_NONE)
        return -ECANCELED;
    if (verdict->limits.timeout_s == 0)
        verdict->timeout_ms = CK_TIMEOUT_MAX_MS;
    return grant_egress(guarded, plan);
}

int ck_guarded_judge(const struct ck_guarded *guarded, const struct ck_policy *policy,
                     const struct choke_request *request, struct ck_plan *plan)
{
    int r = guarded->program ? judge_cage(guarded, request, plan) : judge_call(guarded, policy, request, plan);
    plan->tool_name = plan->verdict.tool ? plan->verdict.tool->name : NULL;
    if (guarded->program)
        plan->extra_env = guarded->run->variables;
    plan->guarded = true;
    return r;
}

/* ---- what it inherits ---- */

int ck_guarded_take(const struct ck_guarded *guarded, struct ck_plan *plan)
{
    struct ck_guarded_run *run = guarded->run;
    struct ck_wire_inherited *inherited = ck_arena_array(&plan->arena, 1, sizeof(*inherited));
    plan->passed_fds = ck_arena_array(&plan->arena, CK_WIRE_PASSED_MAX, sizeof(*plan->passed_fds));
    if (!inherited || !plan->passed_fds)
        return -ENOMEM;
    *inherited = run->inherited;
    plan->inherited = inherited;
    plan->stdin_fd = ck_fd_take(&run->fds[0]);
    plan->stdin_owned = true;
    plan->out_fd = ck_fd_take(&run->fds[1]);
    plan->err_fd = ck_fd_take(&run->fds[2]);
    for (unsigned i = 3; i < run->fd_count; i++)
        plan->passed_fds[plan->passed_count++] = ck_fd_take(&run->fds[i]);
    return 0;
}

/* ---- paths ---- */

/* From the directory, as openat2 takes it; NULL: path is not beneath it. */
static const char *from_directory(const struct ck_guarded_directory *directory, const char *path)
{
    const char *rest = ck_path_beneath(directory->path, path);
    return rest && rest[0] == '\0' ? "." : rest;
}

int ck_guarded_cwd(const struct ck_guarded *guarded, const char *cwd, struct ck_plan *plan)
{
    struct choke_error *error = &plan->verdict.error;
    if (ck_beneath_directory(plan->root_fd, cwd, &plan->cwd_fd, error) == 0)
        return 0;
    for (size_t i = 0; i < guarded->writable_count; i++) {
        const char *rest = from_directory(&guarded->writable[i], cwd);
        if (!rest || ck_beneath_directory(guarded->writable[i].fd, rest, &plan->cwd_fd, error) < 0)
            continue;
        plan->guarded_cwd = ck_arena_strdup(&plan->arena, cwd);
        plan->guarded_top_fd = guarded->writable[i].fd;
        *error = (struct choke_error){0};
        return !plan->guarded_cwd ? -ENOMEM : 0;
    }
    return ck_plan_refuse(plan, NULL, "request.cwd");
}

/* Is it one of the descriptors that the tool has from its caller: <(...) of a shell? */
static bool is_passed(const struct ck_plan *plan, const char *text)
{
    static const char *const names[] = {"/dev/fd/", "/proc/self/fd/"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        size_t length = strlen(names[i]);
        char *end;
        if (strncmp(text, names[i], length) != 0 || text[length] < '0' || text[length] > '9')
            continue;
        unsigned long number = strtoul(text + length, &end, 10);
        bool found = number <= 2;
        for (unsigned k = 0; k < plan->passed_count; k++)
            found = found || number == (unsigned long)plan->inherited->numbers[k];
        return *end == '\0' && found;
    }
    return false;
}

int ck_guarded_path_stays(const struct ck_guarded *guarded, const struct ck_plan *plan, const char *path, size_t length,
                          bool must_exist)
{
    char text[PATH_MAX];
    if (length == 0 || length >= sizeof(text))
        return -EXDEV;
    if (path[0] != '/')
        return plan->guarded_cwd ? ck_beneath_stays(plan->guarded_top_fd, plan->cwd_fd, path, length, must_exist)
                                 : -EXDEV;
    memcpy(text, path, length);
    text[length] = '\0';
    if (is_passed(plan, text))
        return 0;
    for (size_t i = 0; i < guarded->writable_count; i++) {
        const struct ck_guarded_directory *directory = &guarded->writable[i];
        const char *rest = from_directory(directory, text);
        if (rest)
            return ck_beneath_stays(directory->fd, directory->fd, rest, strlen(rest), must_exist);
    }
    return -EXDEV;
}

/* ---- carriers ---- */

/* A carrier that is not installed is left out: nothing in the cage can execute it. */
int ck_guarded_open_carriers(const struct ck_plan_sources *sources, struct ck_plan *plan,
                             struct ck_execs_tool *ret_tools, size_t *ret_count)
{
    const struct ck_guarded *guarded = sources->guarded;
    ret_tools[0] = (struct ck_execs_tool){
        .fd = plan->execute_fd, .path = plan->tool_path, .tool = guarded->program, .bound = true};
    *ret_count = 1;
    for (const struct ck_tool *const *carrier = guarded->carriers; *carrier; carrier++) {
        const struct ck_binary_wanted wanted = {
            .name = (*carrier)->name, .path = (*carrier)->path, .sha256 = (*carrier)->sha256};
        struct ck_binary binary;
        enum ck_binary_rule rule;
        int r = *ret_count < CK_GUARDED_CARRIERS_MAX
                    ? ck_binary_find(sources->search, &wanted, plan->root, &binary, &rule, &plan->verdict.error)
                    : -E2BIG;
        if (r < 0 && plan->verdict.error.outcome == CHOKE_TOOL_MISSING) {
            plan->verdict.error = (struct choke_error){0};
            continue;
        }
        if (r == -E2BIG)
            (void)ck_error_set(&plan->verdict.error, CHOKE_POLICY, E2BIG, "there are more than %d carriers",
                               CK_GUARDED_CARRIERS_MAX);
        if (r < 0)
            return ck_plan_refuse(plan, *carrier, "path");
        ret_tools[*ret_count] = (struct ck_execs_tool){
            .fd = binary.fd, .path = ck_arena_strdup(&plan->arena, binary.path), .tool = *carrier, .bound = true};
        if (!ret_tools[(*ret_count)++].path)
            return -ENOMEM;
    }
    return 0;
}
