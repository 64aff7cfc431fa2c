/*
 * profile.c - looks up and applies the profiles of guard. See profile.h.
 *
 * A carrier is found in the policy first, and then among the entries of the catalogue that the
 * section or the profile takes. So a policy that has an entry keeps it as it is, and a profile works
 * with a policy that has none of its tools. What a profile adds is there in guard alone.
 */
#include "policy/profile.h"

#include "base/error.h"
#include "base/nearest.h"
#include "base/quote.h"
#include "policy/catalog.h"
#include "policy/load.h"
#include "policy/tables.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define LISTED_MAX 400 /* bytes of the profiles in a message */

static bool has(const struct ck_list *list, const char *text)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i], text) == 0)
            return true;
    return false;
}

/* Where the tools of a profile are looked up. profile NULL: those of the section alone. */
struct scope {
    const struct ck_policy *policy;
    const struct ck_policy *catalog; /* NULL if nothing is taken from it */
    const struct ck_profile *own;    /* the section */
    const struct ck_profile *profile;
};

static bool takes(const struct scope *place, const char *name)
{
    return has(&place->own->catalog, name) || (place->profile && has(&place->profile->catalog, name));
}

/* NULL: neither has it. */
static const struct ck_tool *find_tool(const struct scope *place, const char *name)
{
    const struct ck_tool *tool = ck_policy_find(place->policy, name);
    if (!tool && place->catalog && takes(place, name))
        tool = ck_policy_find(place->catalog, name);
    return tool;
}

static bool is_carrier(const struct scope *place, const struct ck_tool *tool)
{
    return tool->route == CK_ROUTE_CARRIER || has(&place->own->carriers, tool->name) ||
           (place->profile && has(&place->profile->carriers, tool->name));
}

/* ---- why a name cannot stand where it does; "" : it can ------------------------------------ */

#define REASON_MAX 256

/* An entry that adds subcommands adds them to the tool of the policy; what that has already is left as it is. */
static const char *judge_taken(const struct scope *place, const char *name, char reason[REASON_MAX])
{
    const struct ck_tool *entry = place->catalog ? ck_policy_find(place->catalog, name) : NULL;
    reason[0] = '\0';
    if (!entry)
        (void)snprintf(reason, REASON_MAX,
                       "the catalogue has no entry '%s'; 'chokepoint policy show catalog' lists "
                       "what it has",
                       CK_QUOTE(name));
    else if (entry->adds_to) {
        const struct ck_tool *target = ck_policy_find(place->policy, entry->adds_to);
        if (!target || !target->args || target->args->subcommands_count == 0)
            (void)snprintf(reason, REASON_MAX, "'%s' adds to '%s', which %s", entry->name, entry->adds_to,
                           target ? "has no subcommands" : "is not in the policy");
    }
    return reason;
}

static const char *judge_carrier(const struct scope *place, const char *name, char reason[REASON_MAX])
{
    const struct ck_tool *tool = find_tool(place, name);
    reason[0] = '\0';
    if (!tool)
        (void)snprintf(reason, REASON_MAX,
                       "the carrier '%s' is not in the policy; add an entry, or its name to 'catalog' if the catalogue "
                       "has it",
                       CK_QUOTE(name));
    else if (tool->route != CK_ROUTE_EXTERNAL && tool->route != CK_ROUTE_CARRIER)
        (void)snprintf(reason, REASON_MAX, "'%s' has route '%s'; a carrier is a tool of route 'external' or 'carrier'",
                       tool->name, ck_policy_route_name(tool->route));
    return reason;
}

static const char *judge_program(const struct scope *place, const char *name, char reason[REASON_MAX])
{
    const struct ck_tool *tool = find_tool(place, name);
    reason[0] = '\0';
    if (!tool || !is_carrier(place, tool))
        (void)snprintf(reason, REASON_MAX, "the program '%s' is not a carrier; add it to 'carriers'", CK_QUOTE(name));
    return reason;
}

typedef const char *(*judge_name)(const struct scope *place, const char *name, char reason[REASON_MAX]);

/* The lists of names, and how each is judged. */
static const struct names {
    const char *key;
    size_t list; /* the offset of its struct ck_list */
    judge_name judge;
} names[] = {
    {"catalog", offsetof(struct ck_profile, catalog), judge_taken},
    {"carriers", offsetof(struct ck_profile, carriers), judge_carrier},
    {"programs", offsetof(struct ck_profile, programs), judge_program},
};

#define NAMES_COUNT (sizeof(names) / sizeof(names[0]))

static const struct ck_list *list_of(const struct ck_profile *profile, const struct names *which)
{
    return (const struct ck_list *)(const void *)((const char *)profile + which->list);
}

/* ---- for the loader ---------------------------------------------------------------------- */

/* node is the mapping of the section or of the profile. */
static int check_lists(const struct scope *place, const struct ck_yaml_tree *tree, const struct ck_yaml_node *node,
                       struct choke_error *error)
{
    const struct ck_profile *profile = place->profile ? place->profile : place->own;
    int r = 0;
    for (size_t k = 0; k < NAMES_COUNT; k++) {
        const struct ck_list *list = list_of(profile, &names[k]);
        for (uint32_t i = 0; ck_yaml_tree_continues(tree, r) && i < list->count; i++) {
            char reason[REASON_MAX];
            const struct ck_yaml_node *at = ck_yaml_node_entry(ck_yaml_node_value(node, names[k].key), i);
            if (*names[k].judge(place, list->items[i], reason) != '\0')
                r = ck_yaml_tree_both(r, ck_yaml_tree_error(tree, at, error, "%s", reason));
        }
    }
    return r;
}

static const struct ck_profile *find_among(const struct ck_policy_guard *guard, const char *name)
{
    for (uint32_t i = 0; guard && i < guard->profiles_count; i++)
        if (strcmp(guard->profiles[i].name, name) == 0)
            return &guard->profiles[i];
    return NULL;
}

static int check_shipped(const struct scope *place, const struct ck_yaml_tree *tree, const struct ck_yaml_node *node,
                         struct choke_error *error)
{
    const struct ck_list *shipped = &place->policy->guard->shipped;
    int r = 0;
    /* The catalogue is there if the list has an entry (needs_catalog). */
    for (uint32_t i = 0; place->catalog && ck_yaml_tree_continues(tree, r) && i < shipped->count; i++)
        if (!find_among(place->catalog->guard, shipped->items[i]))
            r = ck_yaml_tree_both(
                r, ck_yaml_tree_error(tree, ck_yaml_node_entry(ck_yaml_node_value(node, "shipped"), i), error,
                                      "this build has no profile '%s'; 'chokepoint policy show catalog' lists them",
                                      CK_QUOTE(shipped->items[i])));
    return r;
}

/* The tables of the catalogue are copied where they are needed, and only there. */
static bool needs_catalog(const struct ck_policy_guard *guard)
{
    bool needs = guard->shipped.count > 0 || guard->own.catalog.count > 0;
    for (uint32_t i = 0; !needs && i < guard->profiles_count; i++)
        needs = guard->profiles[i].catalog.count > 0;
    return needs;
}

int ck_profile_check_names(struct ck_policy *policy, const struct ck_yaml_tree *tree, const struct ck_policy *catalog,
                           struct choke_error *error)
{
    const struct ck_policy_guard *guard = policy->guard;
    const struct ck_yaml_node *node = ck_yaml_node_value(&tree->nodes[0], "guard");
    if (!guard)
        return 0;
    struct scope place = {.policy = policy, .own = &guard->own};
    if (needs_catalog(guard)) {
        place.catalog = catalog ? catalog : ck_policy_catalog(&policy->arena);
        if (!place.catalog)
            return ck_error_oom(error);
    }
    int r = check_lists(&place, tree, node, error);
    if (ck_yaml_tree_continues(tree, r))
        r = ck_yaml_tree_both(r, check_shipped(&place, tree, node, error));
    const struct ck_yaml_node *profiles = ck_yaml_node_value(node, "profiles");
    for (uint32_t i = 0; ck_yaml_tree_continues(tree, r) && i < guard->profiles_count; i++) {
        place.profile = &guard->profiles[i];
        r = ck_yaml_tree_both(r, check_lists(&place, tree, ck_yaml_node_entry(profiles, i), error));
    }
    return r;
}

/* ---- finding ----------------------------------------------------------------------------- */

/* The profiles of both, as many as fit, for a message. */
static int refuse_unknown(const struct ck_policy *policy, const struct ck_policy *catalog, const char *name,
                          struct choke_error *error)
{
    const struct ck_policy_guard *const both[] = {policy->guard, catalog->guard};
    struct ck_nearest nearest;
    char list[LISTED_MAX] = "";
    size_t at = 0;
    ck_nearest_begin(&nearest, name, strlen(name));
    for (size_t k = 0; k < 2; k++)
        for (uint32_t i = 0; both[k] && i < both[k]->profiles_count; i++) {
            ck_nearest_offer(&nearest, both[k]->profiles[i].name);
            if (at < sizeof(list))
                at += (size_t)snprintf(list + at, sizeof(list) - at, "%s%s", at > 0 ? ", " : "",
                                       both[k]->profiles[i].name);
        }
    return ck_error_set(error, CHOKE_INVALID, ENOENT,
                        "neither the policy '%s' nor this build has a profile '%s'%s%s%s; profiles are: %s",
                        CK_QUOTE(policy->file), CK_QUOTE(name), nearest.best ? "; did you mean '" : "",
                        nearest.best ? nearest.best : "", nearest.best ? "'?" : "", at > 0 ? list : "none");
}

int ck_profile_find(const struct ck_policy *policy, const char *name, struct ck_arena *arena,
                    const struct ck_profile **ret_profile, struct choke_error *error)
{
    const struct ck_profile *profile = find_among(policy->guard, name);
    const struct ck_policy *catalog = profile ? NULL : ck_policy_catalog(arena);
    if (!profile && !catalog)
        return ck_error_oom(error);
    if (!profile)
        profile = find_among(catalog->guard, name);
    if (!profile)
        return refuse_unknown(policy, catalog, name, error);
    *ret_profile = profile;
    return 0;
}

bool ck_profile_is_named(const struct ck_policy *policy, const char *name)
{
    return policy->guard && (find_among(policy->guard, name) || has(&policy->guard->shipped, name));
}

/* ---- applying ---------------------------------------------------------------------------- */

/* Both lists in one, each name once. False: no memory. */
static bool unite(struct ck_arena *arena, const struct ck_list *first, const struct ck_list *second,
                  struct ck_list *ret_list)
{
    struct ck_list all = {.items = ck_arena_array(arena, (size_t)first->count + second->count + 1, sizeof(*all.items))};
    if (!all.items)
        return false;
    for (uint32_t i = 0; i < first->count; i++)
        all.items[all.count++] = first->items[i];
    for (uint32_t i = 0; i < second->count; i++)
        if (!has(first, second->items[i]))
            all.items[all.count++] = second->items[i];
    *ret_list = all;
    return true;
}

static bool has_subcommand(const struct ck_args *args, const char *name)
{
    for (uint32_t i = 0; i < args->subcommands_count; i++)
        if (strcmp(args->subcommands[i].name, name) == 0)
            return true;
    return false;
}

/* To a copy of the tool's arguments. False: no memory. */
static bool add_subcommands(struct ck_arena *arena, const struct ck_tool *entry, struct ck_tool *target)
{
    const struct ck_args *added = entry->args;
    struct ck_args *args = ck_arena_array(arena, 1, sizeof(*args));
    if (!args)
        return false;
    *args = *target->args;
    args->subcommands = ck_arena_array(arena, (size_t)args->subcommands_count + added->subcommands_count + 1,
                                       sizeof(*args->subcommands));
    if (!args->subcommands)
        return false;
    for (uint32_t i = 0; i < target->args->subcommands_count; i++)
        args->subcommands[i] = target->args->subcommands[i];
    for (uint32_t i = 0; i < added->subcommands_count; i++)
        if (!has_subcommand(target->args, added->subcommands[i].name))
            args->subcommands[args->subcommands_count++] = added->subcommands[i];
    target->args = args;
    return true;
}

/* Looked up by the caller, so it is there. */
static struct ck_tool *find_among_tools(struct ck_tool *tools, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(tools[i].name, name) == 0)
            return &tools[i];
    return NULL;
}

/* The tools of the policy, then those that are taken from the catalogue. */
static bool add_tools(const struct scope *place, const struct ck_list *taken, struct ck_arena *arena,
                      struct ck_policy *ret_policy)
{
    size_t most = (size_t)place->policy->tools_count + taken->count;
    struct ck_tool *tools = ck_arena_array(arena, most + 1, sizeof(*tools));
    uint32_t count = 0;
    if (!tools)
        return false;
    for (; count < place->policy->tools_count; count++)
        tools[count] = place->policy->tools[count];
    for (uint32_t i = 0; i < taken->count; i++) {
        const struct ck_tool *entry = ck_policy_find(place->catalog, taken->items[i]);
        struct ck_tool *target = entry->adds_to ? find_among_tools(tools, count, entry->adds_to) : NULL;
        if (entry->adds_to && target && !add_subcommands(arena, entry, target))
            return false;
        if (!entry->adds_to && !ck_policy_find(place->policy, entry->name))
            tools[count++] = *entry;
    }
    ret_policy->tools = tools;
    ret_policy->tools_count = count;
    return ck_policy_index(ret_policy, arena);
}

/* What the loader checks of its own profiles, for one of the build: here its tools are known. */
static int judge_lists(const struct scope *place, struct choke_error *error)
{
    const struct ck_profile *both[] = {place->own, place->profile};
    for (size_t k = 0; k < NAMES_COUNT; k++)
        for (size_t b = 0; b < 2 && both[b]; b++)
            for (uint32_t i = 0; i < list_of(both[b], &names[k])->count; i++) {
                char reason[REASON_MAX];
                if (*names[k].judge(place, list_of(both[b], &names[k])->items[i], reason) != '\0')
                    return ck_error_set(error, CHOKE_INVALID, EINVAL, "policy '%s' cannot be used with %s%s%s: %s",
                                        CK_QUOTE(place->policy->file), place->profile ? "profile '" : "guard",
                                        place->profile ? place->profile->name : "", place->profile ? "'" : "", reason);
            }
    return 0;
}

static int apply(const struct scope *place, struct ck_arena *arena, struct ck_policy **ret_policy,
                 struct choke_error *error)
{
    static const struct ck_profile none;
    const struct ck_profile *profile = place->profile ? place->profile : &none;
    struct ck_policy *policy = ck_arena_array(arena, 1, sizeof(*policy));
    struct ck_policy_guard *guard = ck_arena_array(arena, 1, sizeof(*guard));
    if (!policy || !guard)
        return ck_error_oom(error);
    int r = judge_lists(place, error);
    if (r < 0)
        return r;
    *policy = *place->policy;
    /* The strings stay in the arena of that policy, which alone frees them. */
    policy->arena = (struct ck_arena){0};
    *guard = policy->guard ? *policy->guard : (struct ck_policy_guard){0};
    policy->guard = guard;
    guard->own = place->profile ? *place->profile : *place->own;
    if (guard->own.workspace == CK_WORKSPACE_RO)
        guard->own.workspace = CK_WORKSPACE_RW;
    if (!unite(arena, &place->own->carriers, &profile->carriers, &guard->own.carriers) ||
        !unite(arena, &place->own->catalog, &profile->catalog, &guard->own.catalog) ||
        !add_tools(place, &guard->own.catalog, arena, policy))
        return ck_error_oom(error);
    *ret_policy = policy;
    return 0;
}

int ck_profile_apply(const struct ck_policy *policy, const char *name, struct ck_arena *arena,
                     const struct ck_policy **ret_policy, struct choke_error *error)
{
    static const struct ck_profile none;
    struct scope place = {.policy = policy, .own = policy->guard ? &policy->guard->own : &none};
    struct ck_policy *applied = NULL;
    int r = name ? ck_profile_find(policy, name, arena, &place.profile, error) : 0;
    if (r < 0)
        return r;
    if (place.own->catalog.count > 0 || (place.profile && place.profile->catalog.count > 0)) {
        place.catalog = ck_policy_catalog(arena);
        if (!place.catalog)
            return ck_error_oom(error);
    }
    r = apply(&place, arena, &applied, error);
    if (r == 0)
        *ret_policy = applied;
    return r;
}

bool ck_profile_is_carrier(const struct ck_policy *policy, const struct ck_tool *tool)
{
    return ck_policy_tool_is_here(tool) &&
           (tool->route == CK_ROUTE_CARRIER || (policy->guard && has(&policy->guard->own.carriers, tool->name)));
}

bool ck_profile_is_door(const struct ck_policy *policy, const struct ck_tool *tool)
{
    return ck_policy_tool_is_callable(tool) && !ck_profile_is_carrier(policy, tool);
}

bool ck_profile_is_program(const struct ck_policy *policy, const struct ck_tool *tool)
{
    const struct ck_list *programs = &policy->guard->own.programs;
    return ck_profile_is_carrier(policy, tool) && (programs->count == 0 || has(programs, tool->name));
}
