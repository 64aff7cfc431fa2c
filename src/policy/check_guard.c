/*
 * check_guard.c - checks the values of the section `guard`. See check.h.
 *
 * The section and each of its profiles have the same keys. What the environment and the network of
 * the cage may be is checked by the rules of an entry; the rest is here. Whether the named tools
 * exist is checked after the policy is merged (profile.c).
 */
#include "base/quote.h"
#include "policy/check.h"
#include "policy/sandbox.h"

#include <stdio.h>
#include <string.h>

#define PROFILE_NAME_MAX 64

#define REFUSE(part, node, ...) ck_yaml_tree_error((part)->tree, (node), (part)->error, __VA_ARGS__)

/* An entry of a list of the mapping, for its position. */
static const struct ck_yaml_node *entry_of(const struct ck_check_part *part, const char *key, uint32_t index)
{
    return ck_yaml_node_entry(ck_yaml_node_value(part->node, key), index);
}

/* It is an argument of --profile, and part of the path of its state. */
static bool is_profile_name(const char *name)
{
    size_t length = strlen(name);
    return length <= PROFILE_NAME_MAX && name[0] >= 'a' && name[0] <= 'z' &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == length;
}

/* Each names a tool, and is listed once. */
static int check_names(const struct ck_check_part *part, const char *key, const struct ck_list *list)
{
    int r = ck_policy_check_list(part, key, false);
    for (uint32_t i = 0; ck_yaml_tree_continues(part->tree, r) && i < list->count; i++)
        if (!ck_policy_check_is_name(list->items[i]))
            r = REFUSE(part, entry_of(part, key, i), "'%s' in '%s' in %s is not a valid tool name",
                       CK_QUOTE(list->items[i]), key, part->label);
    return r;
}

/* A path beneath HOME. HOME itself would be all that the cage hides of it. */
static int check_state(const struct ck_check_part *part, const struct ck_list *state)
{
    int r = ck_policy_check_list(part, "state", false);
    for (uint32_t i = 0; ck_yaml_tree_continues(part->tree, r) && i < state->count; i++) {
        char path[1026];
        (void)snprintf(path, sizeof(path), "/%s", state->items[i]);
        if (state->items[i][0] == '/' || !ck_policy_check_is_plain_path(path))
            r = REFUSE(part, entry_of(part, "state", i),
                       "'%s' in 'state' in %s is not a plain path of a directory beneath HOME, as in '.codex'",
                       CK_QUOTE(state->items[i]), part->label);
    }
    return r;
}

/* One star in each name at most. */
static bool has_plain_stars(const char *path)
{
    unsigned stars = 0;
    for (const char *at = path; *at != '\0'; at++) {
        stars = *at == '/' ? 0 : stars + (*at == '*');
        if (stars > 1)
            return false;
    }
    return true;
}

/* Beneath a directory of 'state'; "/" and two stars only at the end. */
static bool is_state_data(const char *pattern, const struct ck_list *state)
{
    char path[1026];
    size_t length = strlen(pattern);
    bool all = length > 3 && strcmp(pattern + length - 3, "/**") == 0;
    (void)snprintf(path, sizeof(path), "/%.*s", (int)(length - (all ? 3 : 0)), pattern);
    if (pattern[0] == '/' || !has_plain_stars(path) || !ck_policy_check_is_plain_path(path))
        return false;
    for (uint32_t i = 0; i < state->count; i++) {
        size_t directory = strlen(state->items[i]);
        if (strncmp(pattern, state->items[i], directory) == 0 && pattern[directory] == '/')
            return true;
    }
    return false;
}

static int check_state_data(const struct ck_check_part *part, const struct ck_profile *profile)
{
    int r = ck_policy_check_list(part, "state_data", false);
    for (uint32_t i = 0; ck_yaml_tree_continues(part->tree, r) && i < profile->state_data.count; i++)
        if (!is_state_data(profile->state_data.items[i], &profile->state))
            r = REFUSE(part, entry_of(part, "state_data", i),
                       "'%s' in 'state_data' in %s is not a path beneath a directory of 'state', with '/**' at its end "
                       "or one '*' in a name, as in '.codex/sessions/**'",
                       CK_QUOTE(profile->state_data.items[i]), part->label);
    return r;
}

/* Each is one name: of a file in the root, or of a program. */
static int check_plain_names(const struct ck_check_part *part, const char *key, const struct ck_list *list)
{
    int r = ck_policy_check_list(part, key, false);
    for (uint32_t i = 0; ck_yaml_tree_continues(part->tree, r) && i < list->count; i++) {
        const char *name = list->items[i];
        if (strchr(name, '/') || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
            r = REFUSE(part, entry_of(part, key, i), "'%s' in '%s' in %s is not a name without '/'", CK_QUOTE(name),
                       key, part->label);
    }
    return r;
}

/* What runs in the cage can read the environment of everything in it. */
static int check_secrets(const struct ck_check_part *part, const struct ck_list *env)
{
    static const char *const every[] = {"*", NULL};
    int r = 0;
    for (uint32_t i = 0; ck_yaml_tree_continues(part->tree, r) && i < env->count; i++)
        if (ck_sandbox_rule(every, env->items[i], strlen(env->items[i])) == CK_SANDBOX_SECRET)
            r = REFUSE(part, entry_of(part, "env", i),
                       "'%s' in 'env' in %s looks like the name of a secret, which every program in the cage could "
                       "read; leave it outside, with 'guard --secret'",
                       CK_QUOTE(env->items[i]), part->label);
    return r;
}

static int check_cage(const struct ck_check_part *part, const struct ck_profile *profile)
{
    int r = ck_policy_check_part(part, profile);
    if (ck_yaml_tree_continues(part->tree, r))
        r = ck_yaml_tree_both(r, check_secrets(part, &profile->env));
    if (ck_yaml_tree_continues(part->tree, r))
        r = ck_yaml_tree_both(r, check_names(part, "programs", &profile->programs));
    if (ck_yaml_tree_continues(part->tree, r))
        r = ck_yaml_tree_both(r, check_names(part, "carriers", &profile->carriers));
    if (ck_yaml_tree_continues(part->tree, r))
        r = ck_yaml_tree_both(r, check_names(part, "catalog", &profile->catalog));
    if (ck_yaml_tree_continues(part->tree, r))
        r = ck_yaml_tree_both(r, ck_policy_check_list(part, "inject", true));
    if (ck_yaml_tree_continues(part->tree, r))
        r = ck_yaml_tree_both(r, check_state(part, &profile->state));
    if (ck_yaml_tree_continues(part->tree, r))
        r = ck_yaml_tree_both(r, check_state_data(part, profile));
    if (ck_yaml_tree_continues(part->tree, r))
        r = ck_yaml_tree_both(r, check_plain_names(part, "read_only", &profile->read_only));
    return ck_yaml_tree_continues(part->tree, r)
               ? ck_yaml_tree_both(r, check_plain_names(part, "may_refuse", &profile->may_refuse))
               : r;
}

/* section->node is the profile; its label is made here. */
static int check_profile(const struct ck_check_part *section, const struct ck_policy_guard *guard, uint32_t index)
{
    struct ck_check_part named = *section;
    const struct ck_check_part *part = &named;
    const struct ck_profile *profile = &guard->profiles[index];
    const struct ck_yaml_node *name = ck_yaml_node_value(part->node, "name");
    char label[128];
    (void)snprintf(label, sizeof(label), "profile '%s'",
                   ck_quote((char[80]){0}, 80, profile->name, strlen(profile->name)));
    named.label = label;
    int r = 0;
    if (!is_profile_name(profile->name))
        r = REFUSE(
            part, name,
            "'%s' is not a valid name of a profile; it has 1 to %d of a-z, 0-9 and '-', and begins with a letter",
            CK_QUOTE(profile->name), PROFILE_NAME_MAX);
    for (uint32_t i = 0; r == 0 && i < index; i++)
        if (strcmp(guard->profiles[i].name, profile->name) == 0)
            r = REFUSE(part, name, "profile '%s' is listed twice; the first one is on line %u", profile->name,
                       guard->profiles[i].line);
    for (uint32_t i = 0; r == 0 && i < guard->shipped.count; i++)
        if (strcmp(guard->shipped.items[i], profile->name) == 0)
            r = REFUSE(part, name, "profile '%s' is also in 'shipped'; write it in one of the two", profile->name);
    return ck_yaml_tree_continues(part->tree, r) ? ck_yaml_tree_both(r, check_cage(part, profile)) : r;
}

int ck_policy_check_guard(const struct ck_policy *policy, const struct ck_yaml_tree *tree, struct choke_error *error)
{
    const struct ck_policy_guard *guard = policy->guard;
    struct ck_check_part part = {.policy = policy, .tree = tree, .label = "'guard'", .error = error};
    part.node = ck_yaml_node_value(&tree->nodes[0], "guard");
    if (!guard)
        return 0;
    const struct ck_yaml_node *profiles = ck_yaml_node_value(part.node, "profiles");
    int r = check_cage(&part, &guard->own);
    if (ck_yaml_tree_continues(tree, r))
        r = ck_yaml_tree_both(r, ck_policy_check_list(&part, "shipped", false));
    for (uint32_t i = 0; ck_yaml_tree_continues(tree, r) && i < guard->profiles_count; i++) {
        part.node = ck_yaml_node_entry(profiles, i);
        r = ck_yaml_tree_both(r, check_profile(&part, guard, i));
    }
    return r;
}
