/* grant_world.c - see grant_world.h. */
#include "grant_world.h"

#include "egress/proxy.h"
#include "jail/jail.h"
#include "policy/env.h"
#include "policy/grant.h"
#include "policy/helper_sets.h"
#include "policy/sandbox.h"

#include <stdio.h>
#include <string.h>

#define FILES_MAX 512
#define PATH_BYTES 2200
#define SEEDS 4

/* ---- machines ---------------------------------------------------------------------------- */

/* Which jails the kernel allows, and whether it has Landlock, which the proof of the native ones
 * needs. */
struct kernel {
    const char *name;
    bool native, bwrap, native_no_userns, landlock;
};

static const struct kernel kernels[] = {
    {"everything", true, true, true, true},
    {"native without bwrap", true, false, true, true},
    {"no namespaces but bwrap's", false, true, true, true},
    {"bwrap and an old Landlock", false, true, false, true},
    {"bwrap without Landlock", false, true, false, false},
    {"no namespaces", false, false, true, true},
    {"an old Landlock alone", false, false, false, true},
    {"no jail at all", false, false, false, false},
};

struct machine {
    const struct kernel *kernel;
    const struct ck_policy *policy; /* the one that is asked */
    const struct world *world;
    uint64_t seed;
};

static uint64_t mix(uint64_t seed, const char *text)
{
    uint64_t hash = seed ^ UINT64_C(0xcbf29ce484222325);
    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    hash ^= hash >> 31;
    return hash * UINT64_C(0x9e3779b97f4a7c15) >> 20;
}

/* The first machine has every file; each of the others has three of four. */
static bool has_file(const struct machine *machine, const char *path)
{
    return machine->seed == 0 || mix(machine->seed, path) % 4 != 0;
}

/* The content of a file: it has the digest of one of the entries of both policies, or of none. */
static bool has_digest(const struct machine *machine, const char *path, const char *sha256)
{
    const char *digests[8];
    size_t count = 0;
    const struct ck_policy *policies[] = {machine->world->before, machine->world->after};
    for (size_t p = 0; p < 2; p++)
        for (uint32_t i = 0; i < policies[p]->tools_count && count < 8; i++)
            if (policies[p]->tools[i].sha256)
                digests[count++] = policies[p]->tools[i].sha256;
    size_t which = mix(machine->seed ^ 77, path) % (count + 1);
    return which < count && strcmp(digests[which], sha256) == 0;
}

/* Where the file is found; false if it is missing, or is not the wanted one. */
static bool find_file(const struct machine *machine, const char *name, const char *path, const char *sha256,
                      char found[PATH_BYTES])
{
    const struct ck_list *search = &machine->policy->search_path;
    bool there = false;
    if (path) {
        (void)snprintf(found, PATH_BYTES, "%s", path);
        there = has_file(machine, found);
    }
    for (uint32_t i = 0; !path && !there && i < search->count; i++) {
        (void)snprintf(found, PATH_BYTES, "%s/%s", search->items[i], name);
        there = has_file(machine, found);
    }
    return there && (!sha256 || has_digest(machine, found, sha256));
}

/* Replaces the proofs. */
static void prove(void *data, const struct ck_jail *jail, struct ck_jail_form form, struct ck_jail_state *ret_state)
{
    const struct machine *machine = data;
    const struct ck_tool *bwrap = ck_grant_bwrap(machine->policy);
    char found[PATH_BYTES];
    if (jail == &ck_jail_native)
        ret_state->holds = machine->kernel->native;
    else if (jail == &ck_jail_native_no_userns)
        ret_state->holds = machine->kernel->native_no_userns && !form.egress;
    else if (jail == &ck_jail_bwrap)
        ret_state->holds =
            machine->kernel->bwrap && bwrap && find_file(machine, bwrap->name, bwrap->path, bwrap->sha256, found);
}

/* ---- what is granted --------------------------------------------------------------------- */

/* The part that does not depend on the machine. */
struct allowed {
    bool refused;
    struct ck_verdict verdict;
    struct ck_grant grant;
    const char **env;
};

enum reach { REACH_RO, REACH_OVERLAY, REACH_RW, REACH_HOST };

struct granted {
    bool refused;
    const struct ck_jail *jail;
    bool bounded; /* in bwrap: by Landlock */
    enum reach reach;
    bool tracing;
    const struct ck_grant *grant; /* its reads, in a jail */
    bool root_own;                /* in a jail */
    bool workspace_code, loopback;
    bool executes_all;
    char (*files)[PATH_BYTES]; /* of the tools, in their order, and then what else may be executed */
    size_t tools_count, files_count;
    size_t executable; /* of these; none of them where the run is sealed */
};

static void build_environment(const struct ck_policy *policy, const struct choke_request *request,
                              struct ck_arena *arena, struct allowed *allowed)
{
    const struct ck_tool *tools[CK_GRANT_TOOLS_MAX + 1] = {NULL};
    for (size_t i = 0; i < allowed->grant.count; i++)
        tools[i] = allowed->grant.tools[i].tool;
    const struct ck_host_environment host = {.home = "/home/u", .lang = "C", .lc_all = "C"};
    const struct ck_sandbox_frame frame = {.policy = policy, .tools = tools, .home = "/home/u"};
    const struct ck_sandbox *sandbox;
    struct choke_error error;
    if (!request->sandbox)
        allowed->env = ck_env_build(arena, policy, tools, &host, request->env);
    else if (ck_sandbox_make(arena, NULL, request->env, &sandbox, &error) < 0 ||
             ck_sandbox_environment(arena, sandbox, &frame, &allowed->env, &error) < 0)
        allowed->refused = true;
}

static void allow(const struct ck_policy *policy, const struct choke_request *request, struct ck_arena *arena,
                  struct allowed *ret)
{
    *ret = (struct allowed){0};
    ret->refused = ck_judge(policy, request, arena, &ret->verdict) < 0 || ret->verdict.outcome != CHOKE_NONE;
    if (ret->refused)
        return;
    ck_grant_of(&ret->verdict, &ret->grant);
    build_environment(policy, request, arena, ret);
}

static enum ck_grant_place place_of(const struct ck_jail *jail)
{
    return jail == &ck_jail_none               ? CK_GRANT_NO_JAIL
           : jail == &ck_jail_native_no_userns ? CK_GRANT_NATIVE_NO_USERNS
           : jail == &ck_jail_bwrap            ? CK_GRANT_BWRAP
                                               : CK_GRANT_NATIVE;
}

/* The tools must exist; a helper that is missing is not executed, which is not an error. */
static bool find_files(const struct machine *machine, const struct ck_grant *grant, struct granted *ret)
{
    for (size_t i = 0; i < grant->count; i++) {
        const struct ck_tool *tool = grant->tools[i].tool;
        if (!find_file(machine, tool->name, tool->path, tool->sha256, ret->files[ret->files_count++]))
            return false;
    }
    for (size_t i = 0; i < grant->count; i++) {
        struct ck_helper helper;
        for (uint32_t k = 0; ck_helper_sets_at(grant->tools[i].tool, k, &helper) && ret->files_count < FILES_MAX; k++)
            ret->files_count += find_file(machine, helper.text, helper.text[0] == '/' ? helper.text : NULL, NULL,
                                          ret->files[ret->files_count]);
    }
    return true;
}

static void grant_on(struct machine *machine, const struct allowed *allowed, const struct choke_request *request,
                     struct granted *ret)
{
    struct ck_jails jails = {.prove = prove, .data = machine};
    struct ck_jail_choice choice;
    struct choke_error error = {0};
    const struct ck_jail_needs needs = {
        .whole = request->require_jail || request->sandbox,
        .form = {.egress = allowed->verdict.egress_count > 0,
                 .workspace_code = !!allowed->grant.workspace_code,
                 .loopback = !!allowed->grant.loopback},
    };
    ret->refused = allowed->refused;
    ret->files_count = 0;
    ret->tools_count = allowed->grant.count;
    if (ret->refused)
        return;
    ret->refused = !find_files(machine, &allowed->grant, ret) ||
                   ck_jail_choose(&jails, allowed->verdict.jail, needs, &choice, &error) < 0;
    if (ret->refused)
        return;
    enum ck_grant_place place = place_of(choice.jail);
    bool jailed = place != CK_GRANT_NO_JAIL;
    bool overlay = jailed && allowed->grant.workspace == CK_WORKSPACE_OVERLAY;
    ret->refused = ck_grant_refusal(&allowed->grant, place, machine->kernel->landlock) != CK_GRANT_HELD ||
                   (request->keep_path && !overlay);
    ret->jail = choice.jail;
    ret->bounded = place != CK_GRANT_BWRAP || machine->kernel->landlock;
    ret->reach = !jailed                                       ? REACH_HOST
                 : overlay                                     ? REACH_OVERLAY
                 : allowed->grant.workspace == CK_WORKSPACE_RW ? REACH_RW
                                                               : REACH_RO;
    ret->tracing = !jailed || allowed->grant.tracing;
    ret->grant = jailed ? &allowed->grant : NULL;
    ret->root_own = allowed->grant.root_own || allowed->grant.workspace_code;
    ret->loopback = !jailed || allowed->grant.loopback;
    ret->workspace_code = !jailed || allowed->grant.workspace_code;
    ret->executes_all = (!jailed && !allowed->grant.bound) || !ret->bounded;
    ret->executable = allowed->grant.sealed ? 0 : ret->files_count;
}

/* ---- is it less -------------------------------------------------------------------------- */

static bool same_strings(const char *const *a, const char *const *b)
{
    size_t i = 0;
    while (a[i] && b[i] && strcmp(a[i], b[i]) == 0)
        i++;
    return a[i] == b[i];
}

/* A shorter search path, in the same order, finds the same or nothing. */
static bool env_within(const char *const *part, const char *const *whole)
{
    size_t length = strlen(part[0]);
    return strncmp(part[0], whole[0], length) == 0 && (whole[0][length] == '\0' || whole[0][length] == ':') &&
           same_strings(part + 1, whole + 1);
}

/* Paths that must be beneath the root, or exist there: the second may check more of them, and not
 * less. */
static bool is_held(const struct ck_parsed_args *parsed, const struct ck_path_use *wanted)
{
    for (size_t i = 0; i < parsed->paths_count; i++) {
        const struct ck_path_use *use = &parsed->paths[i];
        if (use->argument == wanted->argument && use->length == wanted->length &&
            strncmp(use->path, wanted->path, use->length) == 0 &&
            (use->type == wanted->type || (use->type == CK_TYPE_EXISTING && wanted->type == CK_TYPE_INSIDE)))
            return true;
    }
    return false;
}

static bool paths_within(const struct ck_parsed_args *part, const struct ck_parsed_args *whole)
{
    for (size_t i = 0; i < whole->paths_count; i++)
        if (!is_held(part, &whole->paths[i]))
            return false;
    return true;
}

/* Without a value in the policy the proxy has its default bound. */
static uint64_t bound_of(const struct ck_limits *limits, const struct ck_limit_key *key)
{
    uint32_t value = ck_policy_limit(limits, key);
    uint64_t none = strcmp(key->key, "egress_connections") == 0 ? CK_GATE_BUDGET_DEFAULT.connections_total : UINT64_MAX;
    return value != 0 ? value : none;
}

static const char *limits_excess(const struct ck_verdict *part, const struct ck_verdict *whole)
{
    if (part->timeout_ms > whole->timeout_ms)
        return "a longer timeout";
    for (size_t i = 0; i < CK_LIMIT_KEYS; i++)
        if (bound_of(&part->limits, &ck_limit_keys[i]) > bound_of(&whole->limits, &ck_limit_keys[i]))
            return ck_limit_keys[i].key;
    return NULL;
}

static const char *allowed_excess(const struct allowed *part, const struct allowed *whole)
{
    if (!same_strings(part->verdict.parsed.argv, whole->verdict.parsed.argv))
        return "other arguments";
    if (!paths_within(&part->verdict.parsed, &whole->verdict.parsed))
        return "a path that had to stay inside";
    if (!env_within(part->env, whole->env))
        return "another environment";
    if (part->verdict.egress_count > whole->verdict.egress_count)
        return "egress";
    return limits_excess(&part->verdict, &whole->verdict);
}

static bool has_layer(const struct granted *granted, const char *layer)
{
    bool dropped = !granted->bounded && (strcmp(layer, "landlock") == 0 || strcmp(layer, "execs") == 0);
    for (const char *const *at = granted->jail->layers; !dropped && *at; at++)
        if (strcmp(*at, layer) == 0)
            return true;
    return false;
}

static const char *layers_excess(const struct granted *part, const struct granted *whole)
{
    for (const char *const *layer = whole->jail->layers; *layer; layer++)
        if (has_layer(whole, *layer) && !has_layer(part, *layer))
            return *layer;
    return NULL;
}

static bool executes(const struct granted *granted, const char *file)
{
    for (size_t i = 0; i < granted->executable; i++)
        if (strcmp(granted->files[i], file) == 0)
            return true;
    return granted->executes_all;
}

static const char *execs_excess(const struct granted *part, const struct granted *whole)
{
    if (part->executes_all && !whole->executes_all)
        return "any file";
    for (size_t i = 0; i < part->executable; i++)
        if (!executes(whole, part->files[i]))
            return part->files[i];
    return NULL;
}

static bool shows(const struct ck_grant *grant, const char *path)
{
    for (size_t i = 0; i < grant->count; i++)
        for (uint32_t k = 0; k < grant->tools[i].tool->reads.count; k++)
            if (strcmp(grant->tools[i].tool->reads.items[k], path) == 0)
                return true;
    return false;
}

/* Without a jail every directory is shown. */
static bool shows_more(const struct granted *part, const struct granted *whole)
{
    if (!whole->grant || !part->grant)
        return whole->grant && !part->grant;
    for (size_t i = 0; i < part->grant->count; i++)
        for (uint32_t k = 0; k < part->grant->tools[i].tool->reads.count; k++)
            if (!shows(whole->grant, part->grant->tools[i].tool->reads.items[k]))
                return true;
    return false;
}

static const char *granted_excess(const struct granted *part, const struct granted *whole)
{
    static char text[PATH_BYTES + 64];
    if (whole->refused)
        return "it was refused";
    if (part->tracing && !whole->tracing)
        return "tracing";
    if (part->workspace_code && !whole->workspace_code)
        return "code of the workspace";
    if (part->loopback && !whole->loopback)
        return "sockets";
    for (size_t i = 0; i < part->tools_count && i < whole->tools_count; i++)
        if (strcmp(part->files[i], whole->files[i]) != 0)
            return "another file is run";
    const char *layer = layers_excess(part, whole);
    const char *file = !layer ? execs_excess(part, whole) : NULL;
    (void)snprintf(text, sizeof(text), "%s%s", layer ? "lost layer " : "executes ", layer ? layer : file ? file : "");
    if (layer || file)
        return text;
    if (shows_more(part, whole))
        return "more directories";
    if (part->grant && whole->grant && part->root_own != whole->root_own)
        return "another place of the root";
    return part->reach > whole->reach ? "more of the workspace" : NULL;
}

/* ---- all machines ------------------------------------------------------------------------ */

static const char *excess_on(struct world *world, const struct allowed pair[2], const struct choke_request *request,
                             const struct kernel *kernel, uint64_t seed)
{
    static char files[2][FILES_MAX][PATH_BYTES];
    struct machine machine = {.kernel = kernel, .world = world, .seed = seed, .policy = world->after};
    struct granted is = {.files = files[1]}, was = {.files = files[0]};
    world->compared++;
    grant_on(&machine, &pair[1], request, &is);
    if (is.refused)
        return NULL;
    world->granted++;
    machine.policy = world->before;
    grant_on(&machine, &pair[0], request, &was);
    return granted_excess(&is, &was);
}

static const char *excess_everywhere(struct world *world, const struct allowed pair[2],
                                     const struct choke_request *request)
{
    static char text[PATH_BYTES + 256];
    for (size_t k = 0; k < sizeof(kernels) / sizeof(kernels[0]); k++)
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            const char *excess = excess_on(world, pair, request, &kernels[k], seed == 0 ? 0 : world->seed + seed);
            (void)snprintf(text, sizeof(text), "%s (kernel: %s)", excess ? excess : "", kernels[k].name);
            if (excess)
                return text;
        }
    return NULL;
}

/* Is there any machine where the second policy lets the request run? */
static bool is_granted(struct world *world, const struct allowed *allowed, const struct choke_request *request)
{
    static char files[FILES_MAX][PATH_BYTES];
    struct granted is = {.refused = true, .files = files};
    for (size_t k = 0; is.refused && k < sizeof(kernels) / sizeof(kernels[0]); k++)
        for (uint64_t seed = 0; is.refused && seed < SEEDS; seed++) {
            struct machine machine = {.kernel = &kernels[k],
                                      .world = world,
                                      .seed = seed == 0 ? 0 : world->seed + seed,
                                      .policy = world->after};
            grant_on(&machine, allowed, request, &is);
        }
    return !is.refused;
}

const char *world_excess(struct world *world, const struct choke_request *request)
{
    struct ck_arena arena = {0};
    struct allowed pair[2];
    const char *excess = NULL;
    allow(world->after, request, &arena, &pair[1]);
    if (!pair[1].refused) {
        allow(world->before, request, &arena, &pair[0]);
        excess = pair[0].refused ? "the judge refused it" : allowed_excess(&pair[1], &pair[0]);
        if (!excess)
            excess = excess_everywhere(world, pair, request);
        else if (!is_granted(world, &pair[1], request))
            excess = NULL;
    }
    ck_arena_done(&arena);
    return excess;
}

void world_swap_platforms(struct ck_policy *policy)
{
    static const unsigned turned[] = {0, CK_PLATFORM_MACOS, CK_PLATFORM_LINUX, CK_PLATFORM_LINUX | CK_PLATFORM_MACOS};
    for (uint32_t i = 0; i < policy->tools_count; i++)
        policy->tools[i].platforms = turned[policy->tools[i].platforms & 3];
}
