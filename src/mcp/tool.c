/* tool.c - the table of tools, and what tools/list says of each. */
#include "mcp/tool.h"

#include "front/jansson.h"
#include "gather/probes.h"
#include "mcp/grammar.h"
#include "mcp/words.h"

#include <string.h>

static const struct ck_mcp_tool *const tools[] = {&ck_mcp_tool_run, &ck_mcp_tool_explain, &ck_mcp_tool_tools,
                                                  &ck_mcp_tool_gather, &ck_mcp_tool_lint};

const struct ck_mcp_tool *ck_mcp_tool_find(const char *name)
{
    for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++)
        if (strcmp(tools[i]->name, name) == 0)
            return tools[i];
    return NULL;
}

static json_t *find_offer(const struct ck_mcp_server *server, const char *name)
{
    size_t index;
    json_t *offer;

    json_array_foreach(json_object_get(server->offer, "tools"), index, offer)
    {
        if (strcmp(json_string_value(json_object_get(offer, "name")), name) == 0)
            return offer;
    }
    return NULL;
}

const json_t *ck_mcp_tool_schema(const struct ck_mcp_server *server, const struct ck_mcp_tool *tool)
{
    return json_object_get(find_offer(server, tool->name), "inputSchema");
}

json_t *ck_mcp_tool_refusal(const struct choke_error *error, json_t *structured)
{
    struct choke_error shown = *error;

    if (shown.outcome == CHOKE_NONE)
        shown.outcome = CHOKE_SPAWN_FAILED;
    (void)json_object_set_new(structured, "error", ck_jansson_error(&shown));
    json_t *text = json_sprintf("Refused (%s): %s", choke_outcome_name(shown.outcome), shown.message);
    return ck_mcp_words_result(json_pack("[o]", ck_mcp_words_block(text)), structured, true);
}

/* ---- annotations ---- */

/* Does a jail hold for this tool here? Asked by its version, which every entry should allow. */
static bool has_jail(struct ck_mcp_server *server, const json_t *tool)
{
    const json_t *version = json_object_get(tool, "version_args");
    const char *argv[] = {json_string_value(json_object_get(tool, "name")),
                          json_string_value(json_array_get(version, 0)), NULL};
    const struct choke_request request = {.argv = argv,
                                          .root = server->root.path,
                                          .cwd = ".",
                                          .timeout_ms = CHOKE_TIMEOUT_FROM_POLICY,
                                          .stdin_fd = -1,
                                          .jail = server->options->jail,
                                          .require_jail = server->options->require_jail};
    struct choke_decision *decision = NULL;
    struct choke_error error;

    bool held = choke_explain(server->context, &request, &decision, &error) == 0 && decision->outcome == CHOKE_NONE &&
                decision->jail && strcmp(decision->jail, "none") != 0;
    choke_decision_free(decision);
    return held;
}

/* The workspace of the entry, and of each subcommand that has its own. */
static bool has_workspace(const json_t *tool, const char *workspace)
{
    const json_t *subcommands = json_object_get(json_object_get(tool, "args"), "subcommands");
    size_t index;
    json_t *subcommand;

    if (strcmp(json_string_value(json_object_get(tool, "workspace")), workspace) == 0)
        return true;
    json_array_foreach(subcommands, index, subcommand)
    {
        const char *own = json_string_value(json_object_get(subcommand, "workspace"));
        if (own && strcmp(own, workspace) == 0)
            return true;
    }
    return false;
}

static bool is_direct(const json_t *tool)
{
    return strcmp(json_string_value(json_object_get(tool, "route")), "direct") == 0;
}

/*
 * Must: claim read_only only if no call that this server accepts can change or reach anything: every
 * tool is external with a read-only workspace, a jail holds, and no egress was given.
 */
static struct ck_mcp_traits find_traits(struct ck_mcp_server *server, bool (*is_used)(const json_t *, const void *),
                                        const void *data)
{
    struct ck_mcp_traits traits = {
        .known = true, .read_only = !server->options->egress, .open_world = server->options->egress};
    bool held = false;
    size_t index;
    json_t *tool;

    json_array_foreach(json_object_get(server->policy_json, "tools"), index, tool)
    {
        if (!ck_mcp_grammar_is_callable(tool) || !is_used(tool, data))
            continue;
        bool writes = has_workspace(tool, "rw");
        traits.read_only = traits.read_only && !is_direct(tool) && !writes && !has_workspace(tool, "overlay");
        traits.destructive = traits.destructive || is_direct(tool) || writes;
        traits.open_world = traits.open_world || is_direct(tool);
        /* Trying costs time: only if it matters, and until it is known. */
        held = held || (traits.read_only && has_jail(server, tool));
    }
    traits.read_only = traits.read_only && held && server->options->jail != CHOKE_JAIL_NONE;
    return traits;
}

static bool is_any(const json_t *tool, const void *data)
{
    (void)tool;
    (void)data;
    return true;
}

static bool is_in_probes(const json_t *tool, const void *data)
{
    const struct ck_probes *probes = data;
    const char *name = json_string_value(json_object_get(tool, "name"));

    for (size_t i = 0; i < probes->count; i++)
        for (size_t j = 0; j < probes->items[i].call_count; j++)
            if (strcmp(probes->items[i].calls[j].argv[0], name) == 0)
                return true;
    return false;
}

/* Looked up once: the policy does not change while the server runs. */
static void know_traits(struct ck_mcp_server *server)
{
    struct ck_probes probes = {0};
    struct choke_error error;

    if (server->run_traits.known)
        return;
    server->run_traits = find_traits(server, is_any, NULL);
    server->gather_traits = server->run_traits;
    if (ck_probes_load(NULL, NULL, &probes, &error) == 0)
        server->gather_traits = find_traits(server, is_in_probes, &probes);
    ck_probes_done(&probes);
}

/* explain, tools and lint read only. */
static json_t *annotations(const struct ck_mcp_server *server, const char *name)
{
    static const struct ck_mcp_traits reading = {.known = true, .read_only = true};
    const struct ck_mcp_traits *traits = &reading;
    bool is_run = strcmp(name, "run") == 0;

    if (is_run)
        traits = &server->run_traits;
    else if (strcmp(name, "gather") == 0)
        traits = &server->gather_traits;
    return json_pack("{s:b, s:b, s:b, s:b}", "readOnlyHint", traits->read_only, "destructiveHint", traits->destructive,
                     "idempotentHint", traits->read_only, "openWorldHint", traits->open_world);
}

json_t *ck_mcp_tool_list(struct ck_mcp_server *server)
{
    json_t *list = json_array();
    int bad = 0;

    know_traits(server);
    for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++) {
        json_t *entry = json_copy(find_offer(server, tools[i]->name));
        bad |= json_object_set_new(entry, "annotations", annotations(server, tools[i]->name));
        bad |= json_array_append_new(list, entry);
    }
    if (!bad)
        return list;
    json_decref(list);
    return NULL;
}
