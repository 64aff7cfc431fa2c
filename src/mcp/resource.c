/* resource.c - what a client can read: the policy, its entries, the last gather, the audit head. */
#include "base/quote.h"
#include "mcp/grammar.h"
#include "mcp/server.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOOL_URI "chokepoint://policy/tools/"
#define GATHER_URI "chokepoint://gather/last"
#define CONTENT_MAX ((size_t)6 << 20) /* clients read messages of at most 10 MiB */

/* The fixed ones, and one for each tool. */
json_t *ck_mcp_resource_list(struct ck_mcp_server *server, const struct ck_mcp_message *message,
                             struct ck_mcp_fault *fault)
{
    json_t *list = json_copy(json_object_get(server->offer, "resources"));
    size_t index;
    json_t *tool;

    json_array_foreach(json_object_get(server->policy_json, "tools"), index, tool)
    {
        const char *name = json_string_value(json_object_get(tool, "name"));
        if (ck_mcp_grammar_is_callable(tool))
            (void)json_array_append_new(list,
                                        json_pack("{s:o, s:o, s:O, s:s}", "uri", json_sprintf(TOOL_URI "%s", name),
                                                  "name", json_sprintf("policy-tool-%s", name), "description",
                                                  json_object_get(tool, "why"), "mimeType", "application/json"));
    }
    return ck_mcp_method_page(message, "resources", list, fault);
}

static json_t *read_tool(const struct ck_mcp_server *server, const char *name)
{
    size_t index;
    json_t *tool;

    json_array_foreach(json_object_get(server->policy_json, "tools"), index, tool)
    {
        if (ck_mcp_grammar_is_callable(tool) && strcmp(json_string_value(json_object_get(tool, "name")), name) == 0) {
            char *text = json_dumps(tool, JSON_COMPACT);
            json_t *string = text ? json_string(text) : NULL;
            free(text);
            return string;
        }
    }
    return NULL;
}

static json_t *read_head(const struct ck_mcp_server *server)
{
    const struct choke_options *options = &server->options->context;
    char path[PATH_MAX], head[CHOKE_AUDIT_HEAD_MAX];
    struct choke_error error = {0};

    if (options->audit_log == CHOKE_AUDIT_OFF)
        return json_string("no calls are recorded: the server was started with --no-audit");
    if (!options->audit_path && choke_audit_default_path(path, sizeof(path), &error) < 0)
        return json_string(error.message);
    if (choke_audit_head(options->audit_path ? options->audit_path : path, NULL, head, &error) < 0)
        return json_sprintf("no head yet: %s", error.message);
    return json_string(head);
}

/* NULL: there is no such resource, or no memory. */
static json_t *read_uri(const struct ck_mcp_server *server, const char *uri, const char **ret_type)
{
    *ret_type = "application/json";
    if (strcmp(uri, "chokepoint://policy") == 0)
        return json_string(server->policy_text);
    if (strcmp(uri, GATHER_URI) == 0)
        return json_string(server->gather_document ? server->gather_document : "null");
    if (strncmp(uri, TOOL_URI, strlen(TOOL_URI)) == 0)
        return read_tool(server, uri + strlen(TOOL_URI));
    *ret_type = "text/plain";
    return strcmp(uri, "chokepoint://audit/head") == 0 ? read_head(server) : NULL;
}

static json_t *no_resource(const struct ck_mcp_message *message, const char *uri, struct ck_mcp_fault *fault)
{
    bool modern = message->era == CK_MCP_MODERN;

    fault->data = json_pack("{s:s}", "uri", uri);
    (void)ck_mcp_fault_set(fault, modern ? CK_MCP_INVALID_PARAMS : CK_MCP_NO_RESOURCE_LEGACY,
                           "there is no resource '%s'", CK_QUOTE(uri));
    return NULL;
}

json_t *ck_mcp_resource_read(struct ck_mcp_server *server, const struct ck_mcp_message *message,
                             struct ck_mcp_fault *fault)
{
    const char *uri = ck_mcp_message_text(message, "uri");
    const char *type;

    if (!uri) {
        (void)ck_mcp_fault_set(fault, CK_MCP_INVALID_PARAMS, "'uri' is required");
        return NULL;
    }
    json_t *text = read_uri(server, uri, &type);
    if (!text)
        return no_resource(message, uri, fault);
    if (json_string_length(text) > CONTENT_MAX) {
        json_decref(text);
        (void)ck_mcp_fault_set(fault, CK_MCP_INTERNAL_ERROR,
                               "the resource is too large for a message; use 'chokepoint gather --out FILE'");
        return NULL;
    }
    return json_pack("{s:[{s:s, s:s, s:o}]}", "contents", "uri", uri, "mimeType", type, "text", text);
}

/* ---- subscriptions: the document of the last gather is the one that changes by a call ---- */

static bool exists(const struct ck_mcp_server *server, const char *uri)
{
    const char *type;
    json_t *text = uri ? read_uri(server, uri, &type) : NULL;

    json_decref(text);
    return text;
}

static json_t *set_subscription(struct ck_mcp_server *server, const struct ck_mcp_message *message, bool wanted,
                                struct ck_mcp_fault *fault)
{
    const char *uri = ck_mcp_message_text(message, "uri");

    if (!exists(server, uri))
        return no_resource(message, uri ? uri : "", fault);
    if (strcmp(uri, GATHER_URI) == 0)
        server->wants_gathered = wanted;
    return json_object();
}

json_t *ck_mcp_resource_subscribe(struct ck_mcp_server *server, const struct ck_mcp_message *message,
                                  struct ck_mcp_fault *fault)
{
    return set_subscription(server, message, true, fault);
}

json_t *ck_mcp_resource_unsubscribe(struct ck_mcp_server *server, const struct ck_mcp_message *message,
                                    struct ck_mcp_fault *fault)
{
    return set_subscription(server, message, false, fault);
}

json_t *ck_mcp_resource_subscriptions(const struct ck_mcp_server *server, const json_t *uris)
{
    json_t *accepted = json_array();
    size_t index;
    json_t *uri;

    json_array_foreach(uris, index, uri)
    {
        if (exists(server, json_string_value(uri)))
            (void)json_array_append(accepted, uri);
    }
    if (json_array_size(accepted) > 0)
        return json_pack("{s:o}", "resourceSubscriptions", accepted);
    json_decref(accepted);
    return json_object();
}

static bool is_subscribed(const struct ck_mcp_call *call)
{
    size_t index;
    json_t *uri;

    json_array_foreach(json_object_get(call->arguments, "resourceSubscriptions"), index, uri)
    {
        if (strcmp(json_string_value(uri), GATHER_URI) == 0)
            return !call->cancelled;
    }
    return false;
}

void ck_mcp_resource_gathered(struct ck_mcp_server *server)
{
    if (server->wants_gathered)
        ck_mcp_notify(server, "notifications/resources/updated", json_pack("{s:s}", "uri", GATHER_URI));
    for (const struct ck_mcp_call *call = server->calls; call; call = call->next)
        if (!call->tool && is_subscribed(call))
            ck_mcp_notify(
                server, "notifications/resources/updated",
                json_pack("{s:s, s:{s:O}}", "uri", GATHER_URI, "_meta", CK_MCP_META("subscriptionId"), call->id));
}
