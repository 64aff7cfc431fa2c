/*
 * extend.c - makes one policy of a policy with `extends` or `catalog` and what it builds on. See
 * extend.h.
 *
 * The entries of the default policy are tables of the build (docs/adr/0019), so they are not parsed
 * again: a policy that extends costs what its own text costs. They are immutable, so an entry that
 * gets a grant is copied first, as deep as the grant reaches.
 *
 * A grant only lengthens a list that is enforced. Where a list would close something that was open,
 * or open something that a missing list closes in another way, the grant is refused, and the entry
 * must be written as a whole.
 */
#include "policy/extend.h"

#include "base/error.h"
#include "base/quote.h"
#include "policy/catalog.h"
#include "policy/helper_sets.h"
#include "policy/load.h"
#include "policy/rules.h"
#include "policy/schema.h"
#include "policy/tables.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct extension {
    struct ck_policy *policy;
    const struct ck_policy *base;
    const struct ck_yaml_tree *tree;
    struct choke_error *error;
    const struct ck_yaml_node *grants; /* the list in the tree; NULL: no grants */

    /* the grant that is being applied */
    const struct ck_policy_grant *grant;
    const struct ck_yaml_node *node;
    struct ck_tool *tool;
    struct ck_subcommand *subcommand; /* NULL: the tool itself */
    char where[224];                  /* "subcommand 'ci' in tool 'npm'" */
};

#define REFUSE(extension, node, ...) ck_yaml_tree_error((extension)->tree, (node), (extension)->error, __VA_ARGS__)

/* ---- names ------------------------------------------------------------------------------- */

static bool has(const struct ck_list *list, const char *text)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i], text) == 0)
            return true;
    return false;
}

/*
 * A name that is not in base; the message has all that are, because a similar one may be meant. One
 * of the catalogue that was not taken is a mistake of its own.
 */
static int refuse_unknown(const struct extension *extension, const struct ck_yaml_node *node, const char *name)
{
    char list[CHOKE_MESSAGE_MAX / 2] = "";
    size_t at = 0;
    for (uint32_t i = 0; i < extension->base->tools_count && at < sizeof(list); i++)
        at +=
            (size_t)snprintf(list + at, sizeof(list) - at, "%s%s", i == 0 ? "" : ", ", extension->base->tools[i].name);
    const char *place = !extension->policy->extends             ? "'catalog' of this policy"
                        : extension->policy->catalog.count == 0 ? "the default policy"
                                                                : "the default policy with 'catalog'";
    if (ck_tables_has(ck_policy_catalog(&extension->policy->arena), name))
        return REFUSE(extension, node, "%s has no tool '%s'; the catalogue has it: add it to 'catalog'", place, name);
    return REFUSE(extension, node, "%s has no tool '%s'; its tools are: %s", place, CK_QUOTE(name), list);
}

/* To remove and to replace the same entry is a contradiction: one of the two is a mistake. */
static int check_removed(const struct extension *extension)
{
    const struct ck_list *names = &extension->policy->remove;
    const struct ck_yaml_node *list = ck_yaml_node_value(&extension->tree->nodes[0], "remove");
    int r = 0;
    for (uint32_t i = 0; ck_yaml_tree_continues(extension->tree, r) && i < names->count; i++) {
        const struct ck_yaml_node *node = ck_yaml_node_entry(list, i);
        if (!ck_policy_find(extension->base, names->items[i]))
            r = refuse_unknown(extension, node, names->items[i]);
        else if (ck_policy_find(extension->policy, names->items[i]))
            r = REFUSE(extension, node,
                       "'%s' is in 'remove' and in 'tools'; an entry in 'tools' replaces that of the default policy",
                       names->items[i]);
    }
    return r;
}

static bool is_same_target(const struct ck_policy_grant *a, const struct ck_policy_grant *b)
{
    if (strcmp(a->name, b->name) != 0 || !a->subcommand != !b->subcommand)
        return false;
    return !a->subcommand || strcmp(a->subcommand, b->subcommand) == 0;
}

/* Before the policies are merged: the tools of the policy are its own. */
static int check_grant_name(const struct extension *extension, uint32_t index)
{
    const struct ck_policy *policy = extension->policy;
    const struct ck_policy_grant *grant = &policy->grants[index];
    const struct ck_yaml_node *node = ck_yaml_node_value(ck_yaml_node_entry(extension->grants, index), "name");
    if (ck_policy_find(policy, grant->name))
        return REFUSE(extension, node, "'%s' is in 'tools' of this file; write there what it is granted", grant->name);
    if (!ck_policy_find(extension->base, grant->name))
        return refuse_unknown(extension, node, grant->name);
    if (has(&policy->remove, grant->name))
        return REFUSE(extension, node, "'%s' is in 'remove', so nothing can be granted to it", grant->name);
    for (uint32_t i = 0; i < index; i++)
        if (is_same_target(&policy->grants[i], grant))
            return REFUSE(extension, node, "'%s'%s%s%s is granted something twice; the first grant is on line %u",
                          grant->name, grant->subcommand ? " subcommand '" : "",
                          grant->subcommand ? CK_QUOTE(grant->subcommand) : "", grant->subcommand ? "'" : "",
                          policy->grants[i].line);
    return 0;
}

/* ---- one list ---------------------------------------------------------------------------- */

/* Each list that a grant can lengthen, by its key. */
struct grant_key {
    const char *key;
    size_t in_grant; /* the offset of its struct ck_list */
    size_t in_tool;
};

#define GRANT_KEY(key) {#key, offsetof(struct ck_policy_grant, key), offsetof(struct ck_tool, key)},

static const struct grant_key grant_keys[] = {CK_POLICY_GRANT_KEYS(GRANT_KEY)};

#define GRANT_KEYS_COUNT (sizeof(grant_keys) / sizeof(grant_keys[0]))

static const struct ck_list *granted_list(const struct ck_policy_grant *grant, const struct grant_key *key)
{
    return (const struct ck_list *)(const void *)((const char *)grant + key->in_grant);
}

static struct ck_list *tool_list(struct ck_tool *tool, const struct grant_key *key)
{
    return (struct ck_list *)(void *)((char *)tool + key->in_tool);
}

/*
 * Gives the subcommand its own list, with what the tool has. *ret_tool are its keys. False: it
 * cannot have the key.
 */
static bool own_key(const struct extension *extension, const char *key, struct ck_tool **ret_tool)
{
    struct ck_subcommand *subcommand = extension->subcommand;
    bool known = false;
    for (size_t i = 0; i < CK_SUBCOMMAND_KEYS; i++) {
        const struct ck_subcommand_key *member = &ck_subcommand_keys[i];
        if (strcmp(member->key, key) != 0)
            continue;
        known = true;
        if ((subcommand->given >> i & 1) == 0)
            memcpy((char *)&subcommand->own + member->offset, (const char *)extension->tool + member->offset,
                   member->size);
        subcommand->given |= 1U << i;
    }
    *ret_tool = &subcommand->own;
    return known;
}

/* The tool as the grant finds it: itself, or as the subcommand has it. */
static void find_effective(const struct extension *extension, struct ck_tool *ret_tool)
{
    if (extension->subcommand)
        ck_policy_subcommand_tool(extension->tool, extension->subcommand, ret_tool);
    else
        *ret_tool = *extension->tool;
}

/*
 * The list that the grant lengthens. NULL and *error if the entry cannot have one. A subcommand
 * without its own list has the tool's, so it gets a copy of that with the grant at its end.
 */
static struct ck_list *find_list(const struct extension *extension, const struct grant_key *key,
                                 const struct ck_yaml_node *node)
{
    struct ck_tool *tool = extension->tool;
    struct ck_tool effective;
    find_effective(extension, &effective);
    if (tool->route == CK_ROUTE_CARRIER && (strcmp(key->key, "egress") == 0 || strcmp(key->key, "env") == 0)) {
        (void)REFUSE(extension, node, "'%s' cannot be enforced on %s, a carrier, which runs in the cage of guard",
                     key->key, extension->where);
        return NULL;
    }
    bool execs = strcmp(key->key, "execs") == 0;
    if ((execs || strcmp(key->key, "uses") == 0) && !ck_helper_sets_bind(&effective)) {
        (void)REFUSE(extension, node,
                     "%s has no list '%s' that could be lengthened: a first one would also close what is open "
                     "without it; write the whole entry in 'tools'",
                     extension->where, key->key);
        return NULL;
    }
    if (extension->subcommand && !own_key(extension, key->key, &tool)) {
        (void)REFUSE(extension, node, "'%s' cannot be granted to a subcommand; grant it to '%s' as a whole", key->key,
                     extension->tool->name);
        return NULL;
    }
    /* With a set in `uses` alone there is a closed list, but no `execs`. */
    tool->has_execs = tool->has_execs || execs;
    return tool_list(tool, key);
}

/* Each entry must be new, as in a list that is written by hand. */
static int lengthen(struct extension *extension, struct ck_list *list, const struct ck_list *more,
                    const struct ck_yaml_node *node)
{
    struct ck_list all = {.count = list->count + more->count};
    if (all.count > CK_POLICY_MAX_LIST)
        return REFUSE(extension, node, "with this grant there are %u entries in %s; at most %d are allowed", all.count,
                      extension->where, CK_POLICY_MAX_LIST);
    for (uint32_t i = 0; i < more->count; i++)
        if (has(list, more->items[i]))
            return REFUSE(extension, ck_yaml_node_entry(node, i), "'%s' is already in this list of %s",
                          CK_QUOTE(more->items[i]), extension->where);
    /* One more, so that the list ends with a NULL. */
    all.items = ck_arena_array(&extension->policy->arena, (size_t)all.count + 1, sizeof(*all.items));
    if (!all.items)
        return ck_error_oom(extension->error);
    for (uint32_t i = 0; i < all.count; i++)
        all.items[i] = i < list->count ? list->items[i] : more->items[i - list->count];
    *list = all;
    return 0;
}

/* where is "" for the tool or the subcommand of the grant, else "subcommand 'NAME' in ". */
static int refuse_variable(const struct extension *extension, const struct ck_tool *tool, const char *where)
{
    const struct ck_yaml_node *node = ck_yaml_node_value(extension->node, "env");
    const struct ck_list *env = &extension->grant->env;
    for (uint32_t i = 0; i < env->count; i++)
        for (uint32_t j = 0; has(&tool->env, env->items[i]) && j < tool->set_env_count; j++)
            if (strcmp(env->items[i], tool->set_env[j].name) == 0)
                return REFUSE(extension, ck_yaml_node_entry(node, i),
                              "'%s' is set by 'set_env' in %s%s, so it cannot be granted to callers",
                              tool->set_env[j].name, where, extension->where);
    return 0;
}

/*
 * The same rule as in one entry: it would be unclear if the policy's value or the caller's counts.
 * What a tool is granted its subcommands have too, and each may set variables of its own.
 */
static int check_variables(const struct extension *extension)
{
    const struct ck_args *args = extension->subcommand ? NULL : extension->tool->args;
    struct ck_tool tool;
    find_effective(extension, &tool);
    int r = refuse_variable(extension, &tool, "");
    for (uint32_t i = 0; r == 0 && args && i < args->subcommands_count; i++) {
        char where[96];
        (void)snprintf(where, sizeof(where), "subcommand '%s' in ", args->subcommands[i].name);
        ck_policy_subcommand_tool(extension->tool, &args->subcommands[i], &tool);
        r = refuse_variable(extension, &tool, where);
    }
    return r;
}

/* ---- one grant --------------------------------------------------------------------------- */

/* The tables of the default policy are shared and must not change. */
static int own_args(struct extension *extension)
{
    struct ck_arena *arena = &extension->policy->arena;
    struct ck_tool *tool = extension->tool;
    struct ck_args *args = ck_arena_array(arena, 1, sizeof(*args));
    if (!args)
        return ck_error_oom(extension->error);
    *args = *tool->args;
    args->subcommands = ck_arena_array(arena, (size_t)args->subcommands_count + 1, sizeof(*args->subcommands));
    if (!args->subcommands)
        return ck_error_oom(extension->error);
    for (uint32_t i = 0; i < args->subcommands_count; i++)
        args->subcommands[i] = tool->args->subcommands[i];
    tool->args = args;
    return 0;
}

/* Sets tool, subcommand and where of the extension. */
static int find_target(struct extension *extension)
{
    const struct ck_policy_grant *grant = extension->grant;
    char *where = extension->where;
    /* Its place in tools: by_name points to const. */
    const struct ck_tool *found = ck_policy_find(extension->policy, grant->name);
    extension->tool = &extension->policy->tools[found - extension->policy->tools];
    extension->subcommand = NULL;
    (void)snprintf(where, sizeof(extension->where), "tool '%s'", extension->tool->name);
    int r = extension->tool->args && (grant->subcommand || grant->options.count > 0) ? own_args(extension) : 0;
    if (r < 0 || !grant->subcommand)
        return r;
    struct ck_args *args = extension->tool->args;
    for (uint32_t i = 0; args && i < args->subcommands_count; i++)
        if (strcmp(args->subcommands[i].name, grant->subcommand) == 0)
            extension->subcommand = &args->subcommands[i];
    if (!extension->subcommand)
        return REFUSE(extension, ck_yaml_node_value(extension->node, "subcommand"), "tool '%s' has no subcommand '%s'",
                      extension->tool->name, CK_QUOTE(grant->subcommand));
    (void)snprintf(where, sizeof(extension->where), "subcommand '%s' in tool '%s'", extension->subcommand->name,
                   extension->tool->name);
    return 0;
}

static int grant_options(struct extension *extension)
{
    const struct ck_yaml_node *node = ck_yaml_node_value(extension->node, "options");
    struct ck_args *args = extension->tool->args;
    if (!node)
        return 0;
    if (!args)
        return REFUSE(extension, node, "%s has no 'args', so every argument is allowed already", extension->where);
    const struct ck_rules_grant grant = {
        .args = args,
        .rules = extension->subcommand ? &extension->subcommand->rules : &args->rules,
        .options = &extension->grant->options,
        .node = node,
        .where = extension->where,
    };
    return ck_rules_add(extension->policy, extension->tree, &grant, extension->error);
}

static int apply_grant(struct extension *extension, uint32_t index)
{
    extension->grant = &extension->policy->grants[index];
    extension->node = ck_yaml_node_entry(extension->grants, index);
    int r = find_target(extension);
    bool empty = true;
    for (size_t i = 0; r == 0 && i < GRANT_KEYS_COUNT; i++) {
        const struct ck_yaml_node *node = ck_yaml_node_value(extension->node, grant_keys[i].key);
        struct ck_list *list = node ? find_list(extension, &grant_keys[i], node) : NULL;
        empty = empty && !node;
        if (node)
            r = !list ? -EINVAL : lengthen(extension, list, granted_list(extension->grant, &grant_keys[i]), node);
    }
    if (r == 0 && empty && extension->grant->options.count == 0)
        return REFUSE(extension, extension->node, "this grant to '%s' grants nothing; name a list, as in 'egress'",
                      extension->grant->name);
    if (r == 0)
        r = check_variables(extension);
    return r < 0 ? r : grant_options(extension);
}

/* ---- the whole --------------------------------------------------------------------------- */

/* In the order of base; new entries follow, in the order of the file. */
static int merge_tools(struct extension *extension)
{
    struct ck_policy *policy = extension->policy;
    const struct ck_policy *base = extension->base;
    size_t most = (size_t)base->tools_count + policy->tools_count;
    struct ck_tool *tools = ck_arena_array(&policy->arena, most + 1, sizeof(*tools));
    uint32_t count = 0;
    if (!tools)
        return ck_error_oom(extension->error);
    for (uint32_t i = 0; i < base->tools_count; i++) {
        const struct ck_tool *own = ck_policy_find(policy, base->tools[i].name);
        if (has(&policy->remove, base->tools[i].name))
            continue;
        tools[count] = own ? *own : base->tools[i];
        tools[count++].embedded = !own;
    }
    for (uint32_t i = 0; i < policy->tools_count; i++)
        if (!ck_policy_find(base, policy->tools[i].name))
            tools[count++] = policy->tools[i];
    if (count > CK_POLICY_MAX_TOOLS)
        return REFUSE(extension, ck_yaml_node_value(&extension->tree->nodes[0], "tools"),
                      "with the entries of this build there are %u tools; at most %d are allowed", count,
                      CK_POLICY_MAX_TOOLS);
    policy->tools = tools;
    policy->tools_count = count;
    return ck_policy_index(policy, &policy->arena) ? 0 : ck_error_oom(extension->error);
}

/* Tools first: a subcommand without a list of its own has that of its tool, with what was granted. */
static int apply_grants(struct extension *extension)
{
    const struct ck_policy *policy = extension->policy;
    int r = 0;
    for (int subcommands = 0; subcommands < 2; subcommands++)
        for (uint32_t i = 0; ck_yaml_tree_continues(extension->tree, r) && i < policy->grants_count; i++)
            if (!!policy->grants[i].subcommand == subcommands)
                r = ck_yaml_tree_both(r, apply_grant(extension, i));
    return r;
}

int ck_extend_apply(struct ck_policy *policy, const struct ck_policy *base, const struct ck_yaml_tree *tree,
                    struct choke_error *error)
{
    struct extension extension = {.policy = policy, .base = base, .tree = tree, .error = error};
    extension.grants = ck_yaml_node_value(&tree->nodes[0], "grant");
    int r = check_removed(&extension);
    for (uint32_t i = 0; ck_yaml_tree_continues(tree, r) && i < policy->grants_count; i++)
        r = ck_yaml_tree_both(r, check_grant_name(&extension, i));
    if (r == 0)
        r = merge_tools(&extension);
    if (policy->search_path.count == 0)
        policy->search_path = base->search_path;
    return r < 0 ? r : apply_grants(&extension);
}

/* ---- which grant made a change ------------------------------------------------------------ */

/* "args.subcommands.NAME.KEY", "args.KEY" or "KEY". NAME may have dots, a key has none. */
static const char *split_field(const char *field, const char **ret_subcommand, size_t *ret_length)
{
    static const char start[] = "args.subcommands.";
    const char *dot = strrchr(field, '.');
    const char *name = field + sizeof(start) - 1;
    *ret_subcommand = NULL;
    if (strncmp(field, start, sizeof(start) - 1) == 0 && dot > name) {
        *ret_subcommand = name;
        *ret_length = (size_t)(dot - name);
    }
    return dot ? dot + 1 : field;
}

/* Did the grant add this value of the key? */
static bool grants_value(const struct ck_policy_grant *grant, const char *key, const char *value)
{
    if (strcmp(key, "options") == 0)
        return has(&grant->options, value);
    for (size_t i = 0; i < GRANT_KEYS_COUNT; i++)
        if (strcmp(grant_keys[i].key, key) == 0)
            return has(granted_list(grant, &grant_keys[i]), value);
    return false;
}

/* A subcommand has what its tool is granted, so a grant to the tool can change it, too. */
const struct ck_policy_grant *ck_extend_grant_of(const struct ck_policy *policy, const struct choke_change *change)
{
    const struct ck_policy_grant *found = NULL;
    const char *subcommand;
    size_t length = 0;
    const char *key = split_field(change->field, &subcommand, &length);
    for (uint32_t i = 0; change->tool && change->after && i < policy->grants_count; i++) {
        const struct ck_policy_grant *grant = &policy->grants[i];
        if (strcmp(grant->name, change->tool) != 0 || !grants_value(grant, key, change->after))
            continue;
        if (!grant->subcommand)
            found = found ? found : grant;
        else if (subcommand && strlen(grant->subcommand) == length &&
                 memcmp(grant->subcommand, subcommand, length) == 0)
            found = grant;
    }
    return found;
}
