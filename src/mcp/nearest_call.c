/*
 * nearest_call.c - see nearest_call.h.
 *
 * The search changes one thing at a time: first what is not an argument of the tool (egress, env,
 * cwd), then the name of the tool, then one argument: replaced by a similar name of the grammar, or
 * left out; then options that the entry requires are added. The last resort is the call without any
 * option, and the version of the tool.
 */
#include "mcp/nearest_call.h"

#include "base/nearest.h"
#include "mcp/grammar.h"
#include "mcp/request.h"
#include "mcp/schema.h"
#include "mcp/tool.h"

#include <string.h>

#define TRIES_MAX 96
#define ARGUMENTS_MAX 24 /* of a longer call no arguments are tried one by one */

struct call_search {
    struct ck_mcp_server *server;
    const struct ck_mcp_area *area;
    const json_t *entry; /* of the tool in the policy; NULL: unknown */
    unsigned tries;
};

/* Would the library run it? A tool that is not installed is allowed too. */
static bool is_allowed(struct call_search *search, const json_t *arguments)
{
    struct ck_mcp_request request;
    struct choke_decision *decision = NULL;
    struct choke_error error;
    bool allowed = false;

    if (search->tries++ >= TRIES_MAX)
        return false;
    if (ck_mcp_request_build(&request, search->server, search->area, arguments, &error) == 0 &&
        choke_explain(search->server->context, &request.request, &decision, &error) == 0)
        allowed = decision->outcome == CHOKE_NONE || decision->outcome == CHOKE_TOOL_MISSING;
    choke_decision_free(decision);
    ck_mcp_request_done(&request);
    return allowed;
}

/* Takes argv. The arguments with it, if they are allowed; else NULL. */
static json_t *try_argv(struct call_search *search, const json_t *arguments, json_t *argv)
{
    json_t *candidate = json_copy((json_t *)(uintptr_t)arguments);

    if (json_array_size(argv) > 0 && json_object_set(candidate, "argv", argv) == 0 && is_allowed(search, candidate)) {
        json_decref(argv);
        return candidate;
    }
    json_decref(argv);
    json_decref(candidate);
    return NULL;
}

static const json_t *find_entry(const struct ck_mcp_server *server, const char *name)
{
    size_t index;
    json_t *tool;

    json_array_foreach(json_object_get(server->policy_json, "tools"), index, tool)
    {
        if (strcmp(json_string_value(json_object_get(tool, "name")), name) == 0)
            return tool;
    }
    return NULL;
}

static void offer_list(struct ck_nearest *nearest, const json_t *options)
{
    size_t index;
    json_t *option;

    json_array_foreach(options, index, option)
    {
        ck_nearest_offer(nearest, json_string_value(option));
    }
}

/*
 * A name of the grammar for one argument; NULL: none. An option with a value is in the policy as
 * "--max-count=<number>": the caller gets the part before the equals sign.
 */
static json_t *similar(const struct call_search *search, const char *argument)
{
    const json_t *args = json_object_get(search->entry, "args");
    struct ck_nearest nearest;
    size_t index;
    json_t *subcommand;

    ck_nearest_begin(&nearest, argument, strcspn(argument, "="));
    if (argument[0] == '-')
        offer_list(&nearest, json_object_get(args, "options"));
    json_array_foreach(json_object_get(args, "subcommands"), index, subcommand)
    {
        if (argument[0] == '-')
            offer_list(&nearest, json_object_get(subcommand, "options"));
        else
            ck_nearest_offer(&nearest, json_string_value(json_object_get(subcommand, "name")));
    }
    if (!nearest.best)
        return NULL;
    return json_stringn(nearest.best, strcspn(nearest.best, "=["));
}

/* Replaces or removes one argument, each in turn. */
static json_t *change_one(struct call_search *search, const json_t *arguments)
{
    const json_t *argv = json_object_get(arguments, "argv");
    size_t count = json_array_size(argv);
    json_t *found = NULL;

    if (count > ARGUMENTS_MAX)
        return NULL;
    for (size_t i = 1; i < count && !found; i++) {
        json_t *name = similar(search, json_string_value(json_array_get(argv, i)));
        json_t *changed = json_copy((json_t *)(uintptr_t)argv);
        if (name && json_array_set_new(changed, i, name) == 0)
            found = try_argv(search, arguments, changed);
        else
            json_decref(changed);
    }
    for (size_t i = 1; i < count && !found; i++) {
        json_t *changed = json_copy((json_t *)(uintptr_t)argv);
        (void)json_array_remove(changed, i);
        found = try_argv(search, arguments, changed);
    }
    return found;
}

/* The first words of the call, without options: "git log". */
static json_t *bare_call(const json_t *argv, size_t words)
{
    json_t *bare = json_array();

    for (size_t i = 0; i < json_array_size(argv) && json_array_size(bare) < words; i++)
        if (i == 0 || json_string_value(json_array_get(argv, i))[0] != '-')
            (void)json_array_append(bare, json_array_get(argv, i));
    return bare;
}

/* What the entry or its subcommand requires, after the words of the subcommand. */
static json_t *with_required(const struct call_search *search, const json_t *argv)
{
    const json_t *args = json_object_get(search->entry, "args");
    const char *first = json_string_value(json_array_get(argv, 1));
    json_t *added = json_copy((json_t *)(uintptr_t)argv);
    const json_t *lists[2] = {json_object_get(args, "require"), NULL};
    size_t at = 1, index;
    json_t *item;

    json_array_foreach(json_object_get(args, "subcommands"), index, item)
    {
        if (first && strcmp(json_string_value(json_object_get(item, "name")), first) == 0) {
            lists[1] = json_object_get(item, "require");
            at = 2;
        }
    }
    for (size_t i = 0; i < 2; i++)
        json_array_foreach(lists[i], index, item)
        {
            (void)json_array_insert(added, at++, item);
        }
    return added;
}

/* ["git", "--version"] */
static json_t *version_call(const struct call_search *search)
{
    json_t *argv = json_pack("[O]", json_object_get(search->entry, "name"));
    (void)json_array_extend(argv, json_object_get(search->entry, "version_args"));
    return argv;
}

static json_t *search_arguments(struct call_search *search, const json_t *arguments)
{
    const json_t *argv = json_object_get(arguments, "argv");
    json_t *found = try_argv(search, arguments, with_required(search, argv));

    if (!found)
        found = change_one(search, arguments);
    for (size_t words = 2; words > 0 && !found; words--)
        found = try_argv(search, arguments, bare_call(argv, words));
    return found ? found : try_argv(search, arguments, version_call(search));
}

/* A copy of argv with the most similar name of a tool. NULL: none is similar. */
static json_t *rename_tool(const struct ck_mcp_server *server, const json_t *argv)
{
    const char *name = json_string_value(json_array_get(argv, 0));
    /* A path is refused; its last part may be a tool. */
    const char *last = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
    struct ck_nearest nearest;
    size_t index;
    json_t *tool;

    ck_nearest_begin(&nearest, last, strlen(last));
    json_array_foreach(json_object_get(server->policy_json, "tools"), index, tool)
    {
        if (ck_mcp_grammar_is_callable(tool))
            ck_nearest_offer(&nearest, json_string_value(json_object_get(tool, "name")));
    }
    if (!nearest.best)
        return NULL;
    json_t *renamed = json_copy((json_t *)(uintptr_t)argv);
    (void)json_array_set_new(renamed, 0, json_string(nearest.best));
    return renamed;
}

static json_t *search_argv(struct call_search *search, json_t *arguments)
{
    const char *name = json_string_value(json_array_get(json_object_get(arguments, "argv"), 0));

    search->entry = find_entry(search->server, name);
    if (!search->entry || !ck_mcp_grammar_is_callable(search->entry)) {
        json_t *renamed = rename_tool(search->server, json_object_get(arguments, "argv"));
        if (!renamed || json_object_set_new(arguments, "argv", renamed) < 0)
            return NULL;
        search->entry = find_entry(search->server, json_string_value(json_array_get(renamed, 0)));
        if (is_allowed(search, arguments))
            return json_incref(arguments);
    }
    return search_arguments(search, arguments);
}

/* The arguments that run knows, each of the right type. NULL: argv is not among them. */
static json_t *known_arguments(const struct ck_mcp_server *server, const json_t *arguments)
{
    const json_t *schema = ck_mcp_tool_schema(server, &ck_mcp_tool_run);
    json_t *known = json_object();
    const char *name;
    json_t *property;
    struct choke_error error;

    json_object_foreach(json_object_get(schema, "properties"), name, property)
    {
        json_t *value = json_object_get(arguments, name);
        /* Without what is not about the decision. */
        if (value && strcmp(name, "stdin") != 0 && ck_mcp_schema_check(property, value, &error) == 0)
            (void)json_object_set_new(known, name, json_deep_copy(value));
    }
    if (json_object_get(known, "argv"))
        return known;
    json_decref(known);
    return NULL;
}

json_t *ck_mcp_nearest_call(struct ck_mcp_server *server, const struct ck_mcp_area *area, const json_t *arguments,
                            enum choke_outcome outcome)
{
    static const char *const extras[] = {"egress", "env", "cwd"};
    struct call_search search = {.server = server, .area = area};
    json_t *found = NULL;

    /* Other outcomes are not about the arguments. */
    if (outcome != CHOKE_DISALLOWED && outcome != CHOKE_ENV_FORBIDDEN && outcome != CHOKE_CWD &&
        outcome != CHOKE_INVALID)
        return json_null();
    json_t *changed = area->fd >= 0 ? known_arguments(server, arguments) : NULL;
    if (!changed)
        return json_null();
    if (is_allowed(&search, changed))
        found = json_incref(changed);
    for (size_t i = 0; i < sizeof(extras) / sizeof(extras[0]) && !found; i++)
        if (json_object_del(changed, extras[i]) == 0 && is_allowed(&search, changed))
            found = json_incref(changed);
    if (!found)
        found = search_argv(&search, changed);
    json_decref(changed);
    return found ? found : json_null();
}
