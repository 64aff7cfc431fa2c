/*
 * describe.c - writes a policy as JSON. See describe.h.
 *
 * No member is ever left out: so a reader of the JSON can distinguish null from a key that this
 * release does not know. All text of a loaded policy is UTF-8 (yaml_tree.h), which jansson
 * requires.
 */
#include "policy/describe.h"

#include "base/quote.h"
#include "policy/rules.h"

#include <jansson.h>

#define FORMAT 1 /* the version of this JSON, not of the policy */

/* Constructors return NULL when out of memory. Setting NULL is then an error, collected in bad. */
struct object {
    json_t *json; /* NULL: no memory; setting a member of NULL is an error too */
    int bad;
};

static struct object object_new(void)
{
    return (struct object){.json = json_object()};
}

/* Takes over the reference to value, also on failure. */
static void set(struct object *object, const char *key, json_t *value)
{
    object->bad |= json_object_set_new(object->json, key, value);
}

/* Gives the object to the caller, or frees it if one member failed. */
static json_t *take(struct object *object)
{
    if (!object->bad)
        return object->json;
    json_decref(object->json);
    return NULL;
}

/* null for a key that the policy does not have. */
static json_t *text(const char *value)
{
    return value ? json_string(value) : json_null();
}

/* 0 means that the policy does not set it. */
static json_t *number_or_null(uint32_t value)
{
    return value != 0 ? json_integer(value) : json_null();
}

/* An array with what make returns for each index; NULL when out of memory. */
static json_t *array(uint32_t count, const void *from, json_t *(*make)(const void *from, uint32_t index))
{
    json_t *array = json_array();
    /* Appending NULL fails, so a failed make needs no check of its own. */
    for (uint32_t i = 0; array && i < count; i++)
        if (json_array_append_new(array, make(from, i)) < 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

/* The *_entry functions are callbacks of array: from is the owner of the list. */
static json_t *list_entry(const void *from, uint32_t index)
{
    return json_string(((const struct ck_list *)from)->items[index]);
}

static json_t *list(const struct ck_list *list)
{
    return array(list->count, list, list_entry);
}

/* ---- the keys that a tool and a subcommand share ------------------------------------------- */

static json_t *variable_entry(const void *from, uint32_t index)
{
    const struct ck_variable *variable = &((const struct ck_variable *)from)[index];
    struct object object = object_new();
    set(&object, "name", text(variable->name));
    set(&object, "value", text(variable->value));
    set(&object, "when", text(variable->offline ? "offline" : NULL));
    return take(&object);
}

static json_t *limits(const struct ck_tool *tool)
{
    struct object object = object_new();
    for (size_t i = 0; i < CK_LIMIT_KEYS; i++)
        set(&object, ck_limit_keys[i].key, number_or_null(ck_policy_limit(&tool->limits, &ck_limit_keys[i])));
    return take(&object);
}

static json_t *execs(const struct ck_tool *tool)
{
    /* null and [] differ: no list, and a list that allows nothing. */
    return tool->has_execs ? list(&tool->execs) : json_null();
}

static json_t *uses(const struct ck_tool *tool)
{
    return list(&tool->uses);
}

static json_t *env(const struct ck_tool *tool)
{
    return list(&tool->env);
}

static json_t *set_env(const struct ck_tool *tool)
{
    return array(tool->set_env_count, tool->set_env, variable_entry);
}

static json_t *egress(const struct ck_tool *tool)
{
    return list(&tool->egress);
}

static json_t *workspace(const struct ck_tool *tool)
{
    return text(ck_policy_workspace_name(tool->workspace));
}

static json_t *workspace_code(const struct ck_tool *tool)
{
    return json_boolean(tool->workspace_code);
}

static json_t *loopback(const struct ck_tool *tool)
{
    return json_boolean(tool->loopback);
}

static json_t *require_jail(const struct ck_tool *tool)
{
    return json_boolean(tool->require_jail);
}

static const struct {
    const char *key;
    json_t *(*value)(const struct ck_tool *tool);
} shared_keys[] = {
    {"execs", execs},
    {"uses", uses},
    {"env", env},
    {"set_env", set_env},
    {"egress", egress},
    {"workspace", workspace},
    {"workspace_code", workspace_code},
    {"loopback", loopback},
    {"require_jail", require_jail},
    {"limits", limits},
};

/* null for a key that a subcommand does not have: the tool's applies. */
static void set_keys(struct object *object, const struct ck_tool *tool, const struct ck_subcommand *subcommand)
{
    for (size_t i = 0; i < sizeof(shared_keys) / sizeof(shared_keys[0]); i++) {
        bool given = !subcommand || ck_policy_subcommand_has(subcommand, shared_keys[i].key);
        set(object, shared_keys[i].key, given ? shared_keys[i].value(tool) : json_null());
    }
}

/* ---- arguments --------------------------------------------------------------------------- */

static json_t *option_entry(const void *from, uint32_t index)
{
    return json_string(((const struct ck_rules *)from)->table[index].text);
}

/* The members of a tool's args and of a subcommand that are the same. */
static void set_rules(struct object *object, const struct ck_rules *rules)
{
    set(object, "options", array(rules->table_count, rules, option_entry));
    set(object, "inject", list(&rules->inject));
    set(object, "require", list(&rules->require));
    set(object, "deny", list(&rules->deny));
    set(object, "operands", text(ck_notation_type_name(rules->operands)));
    set(object, "first", rules->has_first ? text(ck_notation_type_name(rules->first)) : json_null());
    set(object, "first_unless", list(&rules->first_unless));
    set(object, "schemes", list(&rules->schemes));
    set(object, "order", text(rules->options_first ? "options_first" : "mixed"));
}

static json_t *set_entry(const void *from, uint32_t index)
{
    const struct ck_option_set *option_set = &((const struct ck_args *)from)->sets[index];
    struct object object = object_new();
    set(&object, "name", text(option_set->name));
    set(&object, "options", list(&option_set->options));
    return take(&object);
}

static json_t *subcommand_entry(const void *from, uint32_t index)
{
    const struct ck_subcommand *subcommand = &((const struct ck_args *)from)->subcommands[index];
    struct object object = object_new();
    set(&object, "name", text(subcommand->name));
    set_rules(&object, &subcommand->rules);
    set_keys(&object, &subcommand->own, subcommand);
    set(&object, "line", json_integer(subcommand->line));
    return take(&object);
}

static json_t *vector_entry(const void *from, uint32_t index)
{
    return list(&((const struct ck_args *)from)->exact[index]);
}

/* null: any argument is allowed. */
static json_t *arguments(const struct ck_args *args)
{
    if (!args)
        return json_null();
    struct object object = object_new();
    set(&object, "sets", array(args->sets_count, args, set_entry));
    set_rules(&object, &args->rules);
    set(&object, "exact", array(args->exact_count, args, vector_entry));
    /* The model has the negation, so that zero-filled is the default. */
    set(&object, "bundles", json_boolean(!args->no_bundles));
    set(&object, "command", args->command ? text("after_options") : json_null());
    set(&object, "subcommands", array(args->subcommands_count, args, subcommand_entry));
    return take(&object);
}

/* ---- tools ------------------------------------------------------------------------------- */

/* An entry without platforms is for all of them, and the list says so. */
static json_t *platforms(unsigned bits)
{
    static const enum ck_platform all[] = {CK_PLATFORM_LINUX, CK_PLATFORM_MACOS};
    json_t *names = json_array();
    int bad = 0;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (bits == 0 || (bits & all[i]) != 0)
            bad |= json_array_append_new(names, text(ck_policy_platform_name(all[i])));
    if (!bad)
        return names;
    json_decref(names);
    return NULL;
}

static json_t *install(const struct ck_install *install)
{
    struct object object = object_new();
    set(&object, "apt", text(install->apt));
    set(&object, "brew", text(install->brew));
    set(&object, "npm", text(install->npm));
    set(&object, "url", text(install->url));
    return take(&object);
}

static json_t *tool_entry(const void *from, uint32_t index)
{
    const struct ck_tool *tool = &((const struct ck_policy *)from)->tools[index];
    struct object object = object_new();
    set(&object, "name", text(tool->name));
    set(&object, "why", text(tool->why));
    set(&object, "adr", text(tool->adr));
    set(&object, "route", text(ck_policy_route_name(tool->route)));
    set(&object, "required", json_boolean(tool->required));
    set(&object, "platforms", platforms(tool->platforms));
    set(&object, "install", install(&tool->install));
    set(&object, "version_args", list(&tool->version_args));
    set(&object, "args", arguments(tool->args));
    set(&object, "path", text(tool->path));
    set(&object, "sha256", text(tool->sha256));
    set_keys(&object, tool, NULL);
    set(&object, "credentials", text(tool->allow_credentials ? "allow" : "refuse"));
    set(&object, "reads", list(&tool->reads));
    set(&object, "root_at", text(ck_policy_root_at_name(tool->root_at)));
    set(&object, "line", json_integer(tool->line));
    return take(&object);
}

/* ---- guard ------------------------------------------------------------------------------- */

/* The keys that the section and a profile share. */
static void set_cage(struct object *object, const struct ck_profile *profile)
{
    bool overlay = profile->workspace == CK_WORKSPACE_OVERLAY;
    set(object, "why", text(profile->why));
    set(object, "adr", text(profile->adr));
    set(object, "programs", list(&profile->programs));
    set(object, "carriers", list(&profile->carriers));
    set(object, "catalog", list(&profile->catalog));
    set(object, "inject", list(&profile->inject));
    set(object, "state", list(&profile->state));
    set(object, "state_data", list(&profile->state_data));
    set(object, "read_only", list(&profile->read_only));
    set(object, "may_refuse", list(&profile->may_refuse));
    set(object, "egress", list(&profile->egress));
    set(object, "env", list(&profile->env));
    set(object, "set_env", array(profile->set_env_count, profile->set_env, variable_entry));
    set(object, "workspace", text(ck_policy_workspace_name(overlay ? CK_WORKSPACE_OVERLAY : CK_WORKSPACE_RW)));
    set(object, "workspace_code", json_boolean(profile->workspace_code));
    set(object, "jit", json_boolean(profile->jit));
}

static json_t *profile_entry(const void *from, uint32_t index)
{
    const struct ck_profile *profile = &((const struct ck_policy_guard *)from)->profiles[index];
    struct object object = object_new();
    set(&object, "name", text(profile->name));
    set_cage(&object, profile);
    set(&object, "line", json_integer(profile->line));
    return take(&object);
}

/* null: the policy has no such section. */
static json_t *guard(const struct ck_policy_guard *guard)
{
    if (!guard)
        return json_null();
    struct object object = object_new();
    set_cage(&object, &guard->own);
    set(&object, "shipped", list(&guard->shipped));
    set(&object, "profiles", array(guard->profiles_count, guard, profile_entry));
    return take(&object);
}

/* A path need not be UTF-8. json_string fails for text that is not UTF-8; then it is escaped. */
static json_t *file(const char *path)
{
    json_t *string = json_string(path);
    return string ? string : json_string(CK_QUOTE(path));
}

/* Measured first, then written into our memory, whatever allocator the host gave to jansson. */
static const char *write_line(const json_t *json, struct ck_arena *arena)
{
    size_t length = json_dumpb(json, NULL, 0, JSON_COMPACT);
    char *line = length > 0 ? ck_arena_alloc(arena, length + 1) : NULL;
    return line && json_dumpb(json, line, length, JSON_COMPACT) == length ? line : NULL;
}

static json_t *upstream(const struct ck_policy_upstream *upstream)
{
    if (!upstream->url)
        return upstream->environment ? text(CK_POLICY_ENVIRONMENT) : json_null();
    struct object object = object_new();
    set(&object, "url", text(upstream->url));
    set(&object, "credentials_file", text(upstream->credentials_file));
    return take(&object);
}

const char *ck_policy_cage_json(const struct ck_profile *profile, struct ck_arena *arena)
{
    struct object object = object_new();
    set_cage(&object, profile);
    json_t *json = take(&object);
    const char *line = json ? write_line(json, arena) : NULL;
    json_decref(json);
    return line;
}

const char *ck_policy_json(const struct ck_policy *policy, struct ck_arena *arena)
{
    struct object object = object_new();
    set(&object, "format", json_integer(FORMAT));
    set(&object, "file", file(policy->file));
    set(&object, "version", json_integer(policy->version));
    set(&object, "adr_dir", text(policy->adr_dir));
    set(&object, "search_path", list(&policy->search_path));
    set(&object, "locked", json_boolean(policy->locked));
    set(&object, "roots", policy->roots.count > 0 ? list(&policy->roots) : json_null());
    set(&object, "upstream", upstream(&policy->upstream));
    set(&object, "guard", guard(policy->guard));
    set(&object, "tools", array(policy->tools_count, policy, tool_entry));
    json_t *json = take(&object);
    const char *line = json ? write_line(json, arena) : NULL;
    /* NULL is allowed. */
    json_decref(json);
    return line;
}
