/*
 * catalog.c - takes entries of the catalogue into what a policy builds on. See catalog.h.
 *
 * The tables of the build are immutable, so a tool that gets a subcommand is copied first. All that
 * is checked here is checked before anything is merged: a name has one place in a policy.
 */
#include "policy/catalog.h"

#include "base/error.h"
#include "base/nearest.h"
#include "base/quote.h"
#include "policy/load.h"
#include "policy/tables.h"

#include <stdio.h>
#include <string.h>

struct taking {
    struct ck_policy *policy;
    const struct ck_policy *catalog;
    const struct ck_yaml_tree *tree;
    const struct ck_policy *base; /* without what is taken */
    struct ck_tool *tools;        /* those of base, then what was taken so far */
    uint32_t count;
    struct choke_error *error;

    /* the name that is being taken */
    const struct ck_yaml_node *node;
    const struct ck_tool *entry;
};

#define REFUSE(taking, ...) ck_yaml_tree_error((taking)->tree, (taking)->node, (taking)->error, __VA_ARGS__)

static bool has(const struct ck_list *list, const char *text)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i], text) == 0)
            return true;
    return false;
}

static int refuse_unknown(const struct taking *taking, const char *name)
{
    struct ck_arena *arena = &taking->policy->arena;
    struct ck_nearest nearest;
    char right[160] = "'chokepoint policy show catalog' lists what it has";
    ck_nearest_begin(&nearest, name, strlen(name));
    for (uint32_t i = 0; i < taking->catalog->tools_count; i++)
        ck_nearest_offer(&nearest, taking->catalog->tools[i].name);
    if (nearest.best)
        (void)snprintf(right, sizeof(right), "did you mean '%s'?", nearest.best);
    else if (ck_tables_has(ck_policy_default(arena), name))
        (void)snprintf(right, sizeof(right), "it is in the default policy, which 'extends: default' takes");
    return REFUSE(taking, "the catalogue has no entry '%s'; %s", CK_QUOTE(name), right);
}

/* ---- an entry of its own ----------------------------------------------------------------- */

static int check_name(const struct taking *taking)
{
    const char *name = taking->entry->name;
    if (ck_policy_find(taking->policy, name))
        return REFUSE(taking, "'%s' is in 'catalog' and in 'tools'; write it in one of the two", name);
    if (ck_policy_find(taking->base, name))
        return REFUSE(taking,
                      "'%s' is in the default policy already; change it there with 'grant', or write it in 'tools'",
                      name);
    return 0;
}

/* ---- a subcommand of a tool -------------------------------------------------------------- */

static const struct ck_subcommand *find_subcommand(const struct ck_args *args, const char *name)
{
    for (uint32_t i = 0; i < args->subcommands_count; i++)
        if (strcmp(args->subcommands[i].name, name) == 0)
            return &args->subcommands[i];
    return NULL;
}

/*
 * The tool must be one of the default policy: an own entry has its own subcommands, and each change
 * has one place. Without subcommands a first one would change what all other arguments mean.
 */
static int check_target(const struct taking *taking, const struct ck_tool *target)
{
    const struct ck_tool *entry = taking->entry;
    const struct ck_subcommand *added = entry->args->subcommands;
    if (ck_policy_find(taking->policy, entry->adds_to))
        return REFUSE(taking, "'%s' adds to '%s', which is in 'tools' of this file; write the subcommand '%s' there",
                      entry->name, entry->adds_to, added->name);
    if (has(&taking->policy->remove, entry->adds_to))
        return REFUSE(taking, "'%s' adds to '%s', which is in 'remove'", entry->name, entry->adds_to);
    if (!target)
        return REFUSE(taking, "'%s' adds to '%s' of the default policy; it needs 'extends: default'", entry->name,
                      entry->adds_to);
    if (!target->args || target->args->subcommands_count == 0)
        return REFUSE(taking, "'%s' adds to '%s', which has no subcommands", entry->name, entry->adds_to);
    for (uint32_t i = 0; i < entry->args->subcommands_count; i++)
        if (find_subcommand(target->args, added[i].name))
            return REFUSE(taking, "'%s' adds to '%s', which has the subcommand '%s' already", entry->name,
                          entry->adds_to, added[i].name);
    return 0;
}

static int add_subcommands(struct taking *taking, struct ck_tool *target)
{
    struct ck_arena *arena = &taking->policy->arena;
    const struct ck_args *added = taking->entry->args;
    struct ck_args *args = ck_arena_array(arena, 1, sizeof(*args));
    if (!args)
        return ck_error_oom(taking->error);
    *args = *target->args;
    args->subcommands_count += added->subcommands_count;
    args->subcommands = ck_arena_array(arena, (size_t)args->subcommands_count + 1, sizeof(*args->subcommands));
    if (!args->subcommands)
        return ck_error_oom(taking->error);
    uint32_t before = target->args->subcommands_count;
    for (uint32_t i = 0; i < before; i++)
        args->subcommands[i] = target->args->subcommands[i];
    for (uint32_t i = 0; i < added->subcommands_count; i++)
        args->subcommands[before + i] = added->subcommands[i];
    target->args = args;
    return 0;
}

/* ---- the whole --------------------------------------------------------------------------- */

static int take(struct taking *taking, uint32_t index)
{
    const char *name = taking->policy->catalog.items[index];
    const struct ck_yaml_node *list = ck_yaml_node_value(&taking->tree->nodes[0], "catalog");
    taking->node = ck_yaml_node_entry(list, index);
    taking->entry = ck_policy_find(taking->catalog, name);
    if (!taking->entry)
        return refuse_unknown(taking, name);
    if (!taking->entry->adds_to) {
        int r = check_name(taking);
        if (r == 0)
            taking->tools[taking->count++] = *taking->entry;
        return r;
    }
    struct ck_tool *target = NULL;
    for (uint32_t i = 0; i < taking->base->tools_count; i++)
        if (strcmp(taking->tools[i].name, taking->entry->adds_to) == 0)
            target = &taking->tools[i];
    int r = check_target(taking, target);
    /* Without a target it is refused. */
    return r < 0 || !target ? r : add_subcommands(taking, target);
}

int ck_catalog_take(struct ck_policy *policy, const struct ck_policy *catalog, const struct ck_yaml_tree *tree,
                    struct ck_policy *base, struct choke_error *error)
{
    const struct ck_policy before = *base;
    struct taking taking = {.policy = policy, .catalog = catalog, .tree = tree, .base = &before, .error = error};
    size_t most = (size_t)base->tools_count + policy->catalog.count;
    taking.tools = ck_arena_array(&policy->arena, most + 1, sizeof(*taking.tools));
    if (!taking.tools)
        return ck_error_oom(error);
    while (taking.count < before.tools_count) {
        taking.tools[taking.count] = before.tools[taking.count];
        taking.count++;
    }
    int r = 0;
    for (uint32_t i = 0; ck_yaml_tree_continues(tree, r) && i < policy->catalog.count; i++)
        r = ck_yaml_tree_both(r, take(&taking, i));
    if (r < 0)
        return r;
    base->tools = taking.tools;
    base->tools_count = taking.count;
    return ck_policy_index(base, &policy->arena) ? 0 : ck_error_oom(error);
}
