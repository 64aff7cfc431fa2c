/*
 * load.c - loads YAML text into a policy. See load.h.
 *
 * Seven steps; each relies on what the one before has checked:
 *   survey  text into a tree with positions; refuses what no policy may contain   (yaml_tree.h)
 *   schema  the tree against the table of keys and types                          (schema.h)
 *   fill    libcyaml fills structs by the same table; they are copied into one arena, with an
 *           index by name
 *   check   the values: names, paths, variables, limits                           (check.h)
 *   compile the argument rules into tables                                        (rules.h)
 *   merge   with `extends` or `catalog`: entries of the build, and what was granted
 *           (catalog.h, extend.h)
 *   names   the tools that `guard` names, in the whole policy (profile.h)
 *
 * libcyaml grows a list entry by entry, and an arena cannot give memory back. So libcyaml works on
 * the heap, and the copy is kept.
 */
#include "policy/load.h"

#include "base/error.h"
#include "base/quote.h"
#include "base/yaml_text.h"
#include "policy/catalog.h"
#include "policy/check.h"
#include "policy/extend.h"
#include "policy/profile.h"
#include "policy/rules.h"
#include "policy/schema.h"
#include "policy/tables.h"
#include "policy/yaml_tree.h"

#include <cyaml/cyaml.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* of one policy in memory */
#define ARENA_MAX_BYTES ((size_t)16 << 20)

/* No log function: libcyaml prints nothing. Aliases were refused before. */
static const cyaml_config_t cyaml_config = {
    .log_level = CYAML_LOG_ERROR,
    .mem_fn = cyaml_mem,
    .flags = CYAML_CFG_NO_ALIAS,
};

/* ---- the copy ---------------------------------------------------------------------------- */

/* Copies *text, if it is not NULL, and points it at the copy. */
static bool copy_text(struct ck_arena *arena, const char **text)
{
    if (*text)
        *text = ck_arena_strdup(arena, *text);
    return !!*text;
}

/* True for NULL, which copy_text takes for a lack of memory. */
static bool copy_optional(struct ck_arena *arena, const char **text)
{
    return !*text || copy_text(arena, text);
}

/* One more entry, so that the list ends with a NULL. from belongs to libcyaml. */
static bool copy_list(struct ck_arena *arena, struct ck_list *list)
{
    const char *const *from = list->items;
    list->items = ck_arena_array(arena, (size_t)list->count + 1, sizeof(*list->items));
    bool good = !!list->items;
    for (uint32_t i = 0; good && i < list->count; i++) {
        list->items[i] = from[i];
        good = copy_text(arena, &list->items[i]);
    }
    return good;
}

static bool copy_variables(struct ck_arena *arena, struct ck_variable **variables, uint32_t count)
{
    const struct ck_variable *from = *variables;
    *variables = ck_arena_array(arena, count, sizeof(*from));
    bool good = !!*variables;
    for (uint32_t i = 0; good && i < count; i++) {
        (*variables)[i] = from[i];
        good = copy_text(arena, &(*variables)[i].name) && copy_text(arena, &(*variables)[i].value);
    }
    return good;
}

static bool copy_rules(struct ck_arena *arena, struct ck_rules *rules, const struct ck_yaml_node *node)
{
    /*
     * libcyaml leaves 0 for an absent key, which is a type too; so the tree is asked. The same for
     * has_execs.
     */
    rules->has_first = !!ck_yaml_node_value(node, "first");
    return copy_list(arena, &rules->options) && copy_list(arena, &rules->inject) && copy_list(arena, &rules->require) &&
           copy_list(arena, &rules->deny) && copy_list(arena, &rules->first_unless) &&
           copy_list(arena, &rules->schemes);
}

static bool copy_sets(struct ck_arena *arena, struct ck_args *args)
{
    const struct ck_option_set *from = args->sets;
    args->sets = ck_arena_array(arena, args->sets_count, sizeof(*from));
    bool good = !!args->sets;
    for (uint32_t i = 0; good && i < args->sets_count; i++) {
        args->sets[i] = from[i];
        good = copy_text(arena, &args->sets[i].name) && copy_list(arena, &args->sets[i].options);
    }
    return good;
}

/* The keys that a tool and a subcommand share. node is the mapping of either. */
static bool copy_keys(struct ck_arena *arena, struct ck_tool *tool, const struct ck_yaml_node *node)
{
    tool->has_execs = !!ck_yaml_node_value(node, "execs");
    tool->has_workspace = !!ck_yaml_node_value(node, "workspace");
    return copy_list(arena, &tool->execs) && copy_list(arena, &tool->uses) && copy_list(arena, &tool->egress) &&
           copy_list(arena, &tool->env) && copy_variables(arena, &tool->set_env, tool->set_env_count);
}

static bool copy_subcommand(struct ck_arena *arena, struct ck_subcommand *subcommand, const struct ck_yaml_node *node)
{
    subcommand->line = node->line;
    for (unsigned i = 0; i < CK_SUBCOMMAND_KEYS; i++)
        if (ck_yaml_node_value(node, ck_subcommand_keys[i].key))
            subcommand->given |= 1U << i;
    return copy_text(arena, &subcommand->name) && copy_rules(arena, &subcommand->rules, node) &&
           copy_keys(arena, &subcommand->own, node);
}

/* list is the same list in the tree, entry by entry. */
static bool copy_subcommands(struct ck_arena *arena, struct ck_args *args, const struct ck_yaml_node *list)
{
    const struct ck_subcommand *from = args->subcommands;
    if (!list)
        return true;
    args->subcommands = ck_arena_array(arena, args->subcommands_count, sizeof(*from));
    bool good = !!args->subcommands;
    const struct ck_yaml_node *node = list + 1;
    for (uint32_t i = 0; good && i < args->subcommands_count; i++, node += node->span) {
        args->subcommands[i] = from[i];
        good = copy_subcommand(arena, &args->subcommands[i], node);
    }
    return good;
}

/* From the tree, because libcyaml cannot fill a list of lists. */
static bool copy_vector(struct ck_arena *arena, struct ck_list *vector, const struct ck_yaml_node *list)
{
    vector->items = ck_arena_array(arena, (size_t)list->count + 1, sizeof(*vector->items));
    bool good = !!vector->items;
    const struct ck_yaml_node *word = list + 1;
    for (uint32_t i = 0; good && i < list->count; i++, word += word->span) {
        vector->items[i] = word->text;
        good = copy_text(arena, &vector->items[i]);
        vector->count++;
    }
    return good;
}

static bool copy_exact(struct ck_arena *arena, struct ck_args *args, const struct ck_yaml_node *list)
{
    if (!list)
        return true;
    args->exact = ck_arena_array(arena, list->count, sizeof(*args->exact));
    bool good = !!args->exact;
    const struct ck_yaml_node *entry = list + 1;
    for (uint32_t i = 0; good && i < list->count; i++, entry += entry->span) {
        good = copy_vector(arena, &args->exact[i], entry);
        args->exact_count++;
    }
    return good;
}

/* tool->args is NULL for an entry without the key. */
static bool copy_args(struct ck_arena *arena, struct ck_tool *tool, const struct ck_yaml_node *tool_node)
{
    if (!tool->args)
        return true;
    const struct ck_yaml_node *node = ck_yaml_node_value(tool_node, "args");
    struct ck_args *args = ck_arena_array(arena, 1, sizeof(*args));
    if (!args)
        return false;
    *args = *tool->args;
    /* libcyaml has no positions. */
    args->line = node->line;
    tool->args = args;
    return copy_rules(arena, &args->rules, node) && copy_sets(arena, args) &&
           copy_subcommands(arena, args, ck_yaml_node_value(node, "subcommands")) &&
           copy_exact(arena, args, ck_yaml_node_value(node, "exact"));
}

/*
 * *tool is a copy of what libcyaml filled; its pointers are replaced by copies one after another.
 */
static bool copy_tool(struct ck_arena *arena, struct ck_tool *tool, const struct ck_yaml_node *node)
{
    return copy_text(arena, &tool->name) && copy_text(arena, &tool->why) && copy_text(arena, &tool->adr) &&
           copy_optional(arena, &tool->install.apt) && copy_optional(arena, &tool->install.brew) &&
           copy_optional(arena, &tool->install.npm) && copy_optional(arena, &tool->install.url) &&
           copy_list(arena, &tool->version_args) && copy_optional(arena, &tool->path) &&
           copy_optional(arena, &tool->sha256) && copy_list(arena, &tool->reads) && copy_keys(arena, tool, node) &&
           copy_args(arena, tool, node);
}

/* Nodes and tools have the same order. A policy with extends need not have the list. */
static bool copy_tools(struct ck_policy *policy, const struct ck_policy *filled, const struct ck_yaml_tree *tree)
{
    const struct ck_yaml_node *list = ck_yaml_node_value(&tree->nodes[0], "tools");
    const struct ck_yaml_node *node = list ? list + 1 : NULL;
    policy->tools_count = filled->tools_count;
    policy->tools = ck_arena_array(&policy->arena, filled->tools_count, sizeof(*policy->tools));
    bool good = !!policy->tools;
    for (uint32_t i = 0; good && node && i < filled->tools_count; i++, node += node->span) {
        policy->tools[i] = filled->tools[i];
        policy->tools[i].line = node->line;
        good = copy_tool(&policy->arena, &policy->tools[i], node);
    }
    return good;
}

#define COPY_GRANT_KEY(key) good = good && copy_list(arena, &grant->key);

static bool copy_grant(struct ck_arena *arena, struct ck_policy_grant *grant, const struct ck_yaml_node *node)
{
    grant->line = node->line;
    grant->column = node->column;
    bool good = copy_text(arena, &grant->name) && copy_optional(arena, &grant->subcommand) &&
                copy_optional(arena, &grant->why) && copy_optional(arena, &grant->adr) &&
                copy_list(arena, &grant->options);
    CK_POLICY_GRANT_KEYS(COPY_GRANT_KEY)
    return good;
}

static bool copy_grants(struct ck_policy *policy, const struct ck_policy *filled, const struct ck_yaml_tree *tree)
{
    const struct ck_yaml_node *list = ck_yaml_node_value(&tree->nodes[0], "grant");
    if (!list)
        return true;
    const struct ck_yaml_node *node = list + 1;
    policy->grants_count = filled->grants_count;
    policy->grants = ck_arena_array(&policy->arena, filled->grants_count, sizeof(*policy->grants));
    bool good = !!policy->grants;
    for (uint32_t i = 0; good && i < filled->grants_count; i++, node += node->span) {
        policy->grants[i] = filled->grants[i];
        good = copy_grant(&policy->arena, &policy->grants[i], node);
    }
    return good;
}

static bool copy_profile(struct ck_arena *arena, struct ck_profile *profile, const struct ck_yaml_node *node)
{
    profile->line = node->line;
    return copy_optional(arena, &profile->name) && copy_optional(arena, &profile->why) &&
           copy_optional(arena, &profile->adr) && copy_list(arena, &profile->programs) &&
           copy_list(arena, &profile->carriers) && copy_list(arena, &profile->catalog) &&
           copy_list(arena, &profile->inject) && copy_list(arena, &profile->state) &&
           copy_list(arena, &profile->state_data) && copy_list(arena, &profile->read_only) &&
           copy_list(arena, &profile->may_refuse) && copy_list(arena, &profile->egress) &&
           copy_list(arena, &profile->env) && copy_variables(arena, &profile->set_env, profile->set_env_count);
}

static bool copy_guard(struct ck_policy *policy, const struct ck_policy *filled, const struct ck_yaml_tree *tree)
{
    struct ck_arena *arena = &policy->arena;
    const struct ck_yaml_node *node = ck_yaml_node_value(&tree->nodes[0], "guard");
    if (!node)
        return true;
    const struct ck_yaml_node *list = ck_yaml_node_value(node, "profiles");
    struct ck_policy_guard *guard = ck_arena_array(arena, 1, sizeof(*guard));
    if (!guard)
        return false;
    *guard = *filled->guard;
    guard->profiles = ck_arena_array(arena, guard->profiles_count, sizeof(*guard->profiles));
    bool good = !!guard->profiles && copy_list(arena, &guard->shipped) && copy_profile(arena, &guard->own, node);
    for (uint32_t i = 0; good && i < guard->profiles_count; i++) {
        guard->profiles[i] = filled->guard->profiles[i];
        good = copy_profile(arena, &guard->profiles[i], ck_yaml_node_entry(list, i));
    }
    policy->guard = guard;
    return good;
}

/* By name; equal names in the order of the file. qsort is not stable, so the addresses decide. */
static int compare_tools(const void *left, const void *right)
{
    const struct ck_tool *a = *(const struct ck_tool *const *)left;
    const struct ck_tool *b = *(const struct ck_tool *const *)right;
    int order = strcmp(a->name, b->name);
    return order != 0 ? order : (a > b) - (a < b);
}

bool ck_policy_index(struct ck_policy *policy, struct ck_arena *arena)
{
    policy->by_name = ck_arena_array(arena, policy->tools_count, sizeof(*policy->by_name));
    if (!policy->by_name)
        return false;
    for (uint32_t i = 0; i < policy->tools_count; i++)
        policy->by_name[i] = &policy->tools[i];
    qsort(policy->by_name, policy->tools_count, sizeof(*policy->by_name), compare_tools);
    return true;
}

/* ---- loading ----------------------------------------------------------------------------- */

/* From the tree, because libcyaml has no key with two forms. */
static bool copy_upstream(struct ck_policy *policy, const struct ck_yaml_node *node)
{
    if (!node)
        return true;
    struct ck_policy_upstream *upstream = &policy->upstream;
    upstream->environment = node->kind == CK_YAML_SCALAR;
    if (upstream->environment)
        return true;
    const struct ck_yaml_node *file = ck_yaml_node_value(node, "credentials_file");
    upstream->url = ck_yaml_node_value(node, "url")->text;
    upstream->credentials_file = file ? file->text : NULL;
    return copy_text(&policy->arena, &upstream->url) && copy_optional(&policy->arena, &upstream->credentials_file);
}

static bool copy_policy(struct ck_policy *policy, const struct ck_policy *filled, const struct ck_yaml_tree *tree)
{
    policy->version = filled->version;
    policy->file = tree->file;
    policy->adr_dir = filled->adr_dir;
    policy->search_path = filled->search_path;
    policy->extends = filled->extends;
    policy->catalog = filled->catalog;
    policy->remove = filled->remove;
    policy->locked = filled->locked;
    policy->roots = filled->roots;
    return copy_text(&policy->arena, &policy->file) && copy_optional(&policy->arena, &policy->adr_dir) &&
           copy_list(&policy->arena, &policy->search_path) && copy_list(&policy->arena, &policy->remove) &&
           copy_list(&policy->arena, &policy->catalog) && copy_list(&policy->arena, &policy->roots) &&
           copy_upstream(policy, ck_yaml_node_value(&tree->nodes[0], "upstream")) && copy_guard(policy, filled, tree) &&
           copy_grants(policy, filled, tree) && copy_tools(policy, filled, tree) &&
           ck_policy_index(policy, &policy->arena);
}

/* filled and all that it points to is freed with the schema; nothing of it may be in the policy. */
static int fill(struct ck_policy *policy, const struct ck_yaml_tree *tree, const void *text, size_t length,
                struct choke_error *error)
{
    struct ck_policy *filled = NULL;
    cyaml_err_t code = cyaml_load_data(text, length, &cyaml_config, &ck_policy_schema, (cyaml_data_t **)&filled, NULL);
    /* The survey has parsed this same text. So a parser error here can only mean out of memory. */
    if (code == CYAML_ERR_OOM || code == CYAML_ERR_LIBYAML_PARSER || code == CYAML_ERR_LIBYAML_PARSER_INIT)
        return ck_error_oom(error);
    if (code != CYAML_OK || !filled)
        return ck_error_at(error, 1, 1, "policy '%s': cannot be loaded: %s", CK_QUOTE(tree->file),
                           cyaml_strerror(code));
    bool copied = copy_policy(policy, filled, tree);
    (void)cyaml_free(&cyaml_config, &ck_policy_schema, filled, 0);
    return copied ? 0 : ck_error_oom(error);
}

/* The arrays of the result are in the arena and in the tables of the build. */
static int merge(struct ck_policy *policy, const struct ck_yaml_tree *tree, const struct ck_policy_source *source,
                 struct choke_error *error)
{
    const struct ck_policy *extended = source->base, *catalog = source->catalog;
    if (policy->extends && !extended)
        extended = ck_policy_default(&policy->arena);
    if (policy->catalog.count > 0 && !catalog)
        catalog = ck_policy_catalog(&policy->arena);
    if ((policy->extends && !extended) || (policy->catalog.count > 0 && !catalog))
        return ck_error_oom(error);
    struct ck_policy base = policy->extends ? *extended : (struct ck_policy){0};
    int r = policy->catalog.count > 0 ? ck_catalog_take(policy, catalog, tree, &base, error) : 0;
    return r < 0 ? r : ck_extend_apply(policy, &base, tree, error);
}

/* The text of source is without a byte order mark. */
static int load(struct ck_policy *policy, struct ck_yaml_tree *tree, const struct ck_policy_source *source,
                struct choke_error *error)
{
    int r = ck_schema_check(tree, error);
    if (r == 0)
        r = fill(policy, tree, source->text, source->length, error);
    if (r < 0)
        return r;
    r = ck_policy_check(policy, tree, error);
    /* The rules need a tree that fits the schema, and no more. */
    if (ck_yaml_tree_continues(tree, r))
        r = ck_yaml_tree_both(r, ck_rules_compile(policy, tree, error));
    if (r == 0 && ck_policy_is_merged(policy))
        r = merge(policy, tree, source, error);
    /* Carriers may be entries of the build. */
    return r < 0 || source->is_of_build ? r : ck_profile_check_names(policy, tree, source->catalog, error);
}

int ck_policy_parse(const char *file, const void *text, size_t length, struct ck_policy **ret_policy,
                    struct choke_error *error)
{
    const struct ck_policy_source source = {.file = file, .text = text, .length = length};
    return ck_policy_parse_source(&source, ret_policy, error);
}

int ck_policy_parse_source(const struct ck_policy_source *source, struct ck_policy **ret_policy,
                           struct choke_error *error)
{
    __attribute__((cleanup(ck_yaml_tree_done))) struct ck_yaml_tree tree = {0};
    /* A byte order mark at the beginning is skipped; anywhere else it is refused as invisible. */
    size_t mark = ck_yaml_text_mark(source->text, source->length);
    struct ck_policy_source plain = *source;
    plain.text = (const char *)source->text + mark;
    plain.length -= mark;
    int r = ck_yaml_tree_parse(&tree, plain.file, plain.text, plain.length, error);
    if (r < 0)
        return r;
    tree.faults = plain.faults;
    struct ck_policy *policy = calloc(1, sizeof(*policy));
    if (!policy)
        return ck_error_oom(error);
    policy->arena.max_bytes = ARENA_MAX_BYTES;
    r = load(policy, &tree, &plain, error);
    if (r < 0) {
        ck_policy_free(policy);
        return r;
    }
    *ret_policy = policy;
    return 0;
}

/* Everything is in the arena. */
void ck_policy_free(struct ck_policy *policy)
{
    if (!policy)
        return;
    ck_arena_done(&policy->arena);
    free(policy);
}
