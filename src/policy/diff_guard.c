/*
 * diff_guard.c - compares the section `guard` of two policies, key by key. See diff.h.
 *
 * The section and each of its profiles have the same keys, so one list of rules compares both. What
 * a carrier does is bounded by the cage, what a door does by its own entry: neither contains the
 * other. So a tool that changes from one to the other widens, in both directions.
 */
#include "policy/change_list.h"
#include "policy/profile.h"

#include <string.h>

#define WIDENS CHOKE_CHANGE_WIDENS
#define NARROWS CHOKE_CHANGE_NARROWS
#define NEUTRAL CHOKE_CHANGE_NEUTRAL

/* The same section, or the same profile, in both policies. */
struct guard_pair {
    struct ck_policy_changes *changes;
    const struct ck_policy *old_policy;
    const struct ck_policy *new_policy;
    const struct ck_profile *before;
    const struct ck_profile *after;
};

static void diff_notes(const struct guard_pair *pair)
{
    ck_change_text(pair->changes, "why", pair->before->why, pair->after->why, NEUTRAL);
    ck_change_text(pair->changes, "adr", pair->before->adr, pair->after->adr, NEUTRAL);
}

/* No list: PROGRAM may be any carrier. */
static void diff_programs(const struct guard_pair *pair)
{
    const struct ck_list *was = &pair->before->programs;
    const struct ck_list *is = &pair->after->programs;
    if (was->count > 0 && is->count > 0)
        ck_change_lists(pair->changes, "programs", was, is, WIDENS, NARROWS);
    else
        ck_change_whole_list(pair->changes, "programs", was, is, is->count == 0 ? WIDENS : NARROWS);
}

static bool has_route(const struct ck_policy *policy, const char *name)
{
    const struct ck_tool *tool = ck_policy_find(policy, name);
    return tool && tool->route == CK_ROUTE_CARRIER;
}

/* Is it in guard at all, as a carrier or a door? */
static bool is_there(const struct guard_pair *pair, const char *name)
{
    const struct ck_policy_guard *guard = pair->new_policy->guard;
    return ck_policy_find(pair->new_policy, name) || ck_policy_list_has(&pair->after->catalog, name) ||
           (guard && ck_policy_list_has(&guard->own.catalog, name));
}

/* A tool of route carrier is one in any case. One that is no tool any more is refused in guard. */
static void diff_carriers(const struct guard_pair *pair)
{
    const struct ck_list *was = &pair->before->carriers;
    const struct ck_list *is = &pair->after->carriers;
    for (uint32_t i = 0; i < was->count; i++) {
        const char *name = was->items[i];
        if (ck_policy_list_has(is, name))
            continue;
        if (has_route(pair->new_policy, name))
            ck_change_add(pair->changes, NEUTRAL, "carriers", name, NULL);
        else
            ck_change_add_proof(pair->changes, "carriers", name, NULL,
                                is_there(pair, name)
                                    ? "in guard it runs by its own entry, with the network and the workspace of that"
                                    : NULL);
    }
    for (uint32_t i = 0; i < is->count; i++)
        if (!ck_policy_list_has(was, is->items[i]))
            ck_change_add(pair->changes, has_route(pair->old_policy, is->items[i]) ? NEUTRAL : WIDENS, "carriers", NULL,
                          is->items[i]);
}

static void diff_lists(const struct guard_pair *pair)
{
    const struct ck_diff_variables was = {pair->before->set_env, pair->before->set_env_count};
    const struct ck_diff_variables is = {pair->after->set_env, pair->after->set_env_count};
    ck_change_lists(pair->changes, "catalog", &pair->before->catalog, &pair->after->catalog, WIDENS, NARROWS);
    ck_change_whole_list(pair->changes, "inject", &pair->before->inject, &pair->after->inject, WIDENS);
    ck_change_lists(pair->changes, "state", &pair->before->state, &pair->after->state, WIDENS, NARROWS);
    ck_change_lists(pair->changes, "read_only", &pair->before->read_only, &pair->after->read_only, NARROWS, WIDENS);
    /* What is in these two is not shown as what runs later, or as refused. */
    ck_change_lists(pair->changes, "may_refuse", &pair->before->may_refuse, &pair->after->may_refuse, WIDENS, NARROWS);
    ck_change_lists(pair->changes, "state_data", &pair->before->state_data, &pair->after->state_data, WIDENS, NARROWS);
    ck_diff_destinations(pair->changes, &pair->before->egress, &pair->after->egress);
    ck_change_lists(pair->changes, "env", &pair->before->env, &pair->after->env, WIDENS, NARROWS);
    ck_diff_variables(pair->changes, &was, &is);
}

/* Without the key it is rw. */
static void diff_workspace(const struct guard_pair *pair)
{
    static const char *const names[] = {
        [CK_WORKSPACE_RO] = NULL, [CK_WORKSPACE_RW] = "rw", [CK_WORKSPACE_OVERLAY] = "overlay"};
    bool was = pair->before->workspace == CK_WORKSPACE_OVERLAY;
    bool is = pair->after->workspace == CK_WORKSPACE_OVERLAY;
    ck_change_text(pair->changes, "workspace", names[pair->before->workspace], names[pair->after->workspace],
                   was == is ? NEUTRAL
                   : is      ? NARROWS
                             : WIDENS);
}

static void diff_switch(struct ck_policy_changes *changes, const char *field, bool was, bool is)
{
    static const char *const booleans[] = {"false", "true"};
    ck_change_text(changes, field, booleans[was], booleans[is], is ? WIDENS : NARROWS);
}

static void diff_cage(const struct guard_pair *pair)
{
    diff_notes(pair);
    diff_programs(pair);
    diff_carriers(pair);
    diff_lists(pair);
    diff_workspace(pair);
    diff_switch(pair->changes, "workspace_code", pair->before->workspace_code, pair->after->workspace_code);
    diff_switch(pair->changes, "jit", pair->before->jit, pair->after->jit);
}

static const struct ck_profile *find(const struct ck_policy_guard *guard, const char *name, size_t length)
{
    for (uint32_t i = 0; guard && i < guard->profiles_count; i++)
        if (strlen(guard->profiles[i].name) == length && memcmp(guard->profiles[i].name, name, length) == 0)
            return &guard->profiles[i];
    return NULL;
}

/* A profile of the build takes the place of one that is gone, and has the same name. */
static void diff_removed(const struct guard_pair *pair, const char *name)
{
    const struct ck_profile *shipped = NULL;
    int r = ck_profile_find(pair->new_policy, name, pair->changes->arena, &shipped, NULL);
    ck_change_add_proof(pair->changes, "profiles", name, NULL,
                        r == 0 ? "the profile of the build with this name takes its place" : NULL);
}

static void diff_profiles(struct guard_pair *pair, const struct ck_policy_guard *was, const struct ck_policy_guard *is)
{
    const char *prefix = pair->changes->prefix;
    for (uint32_t i = 0; i < was->profiles_count; i++) {
        pair->before = &was->profiles[i];
        const char *name = pair->before->name;
        pair->after = find(is, name, strlen(name));
        if (!pair->after) {
            diff_removed(pair, name);
            continue;
        }
        const char *inner = ck_arena_printf(pair->changes->arena, "%sprofiles.%s.", prefix, name);
        pair->changes->failed = pair->changes->failed || !inner;
        pair->changes->prefix = inner ? inner : prefix;
        diff_cage(pair);
        pair->changes->prefix = prefix;
    }
    for (uint32_t i = 0; i < is->profiles_count; i++)
        if (!find(was, is->profiles[i].name, strlen(is->profiles[i].name)))
            ck_change_add(pair->changes, WIDENS, "profiles", NULL, is->profiles[i].name);
}

void ck_diff_guard(struct ck_policy_changes *changes, const struct ck_policy *before, const struct ck_policy *after)
{
    static const struct ck_policy_guard none;
    const struct ck_policy_guard *was = before->guard ? before->guard : &none;
    const struct ck_policy_guard *is = after->guard ? after->guard : &none;
    struct guard_pair pair = {changes, before, after, &was->own, &is->own};
    const char *prefix = changes->prefix;
    changes->prefix = "guard.";
    diff_cage(&pair);
    /* As if the policy were the machine's, as diff_lock of diff.c. */
    ck_change_lists(changes, "shipped", &was->shipped, &is->shipped, WIDENS, NARROWS);
    diff_profiles(&pair, was, is);
    changes->prefix = prefix;
}

/* "guard.profiles" with the name of a new one, "guard.profiles.NAME.KEY", or "guard.KEY". */
const char *ck_diff_guard_record(const struct choke_change *change, const struct ck_policy *after)
{
    static const char start[] = "guard.profiles";
    const char *rest = change->field + sizeof(start) - 1;
    const struct ck_profile *profile = NULL;
    if (strncmp(change->field, start, sizeof(start) - 1) == 0 && *rest == '.')
        profile = find(after->guard, rest + 1, strcspn(rest + 1, "."));
    else if (strcmp(change->field, start) == 0 && change->after)
        profile = find(after->guard, change->after, strlen(change->after));
    if (profile)
        return profile->adr;
    return after->guard ? after->guard->own.adr : NULL;
}
