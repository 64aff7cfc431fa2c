/*
 * method.c - the methods of the protocol: a table with the eras that have each.
 */
#include "base/quote.h"
#include "mcp/tool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_ITEMS 50
#define LIST_TTL_MS 60000 /* the policy is read once, so lists do not change while the server runs */
#define CHANGING_TTL_MS 0

#define LEGACY (1U << CK_MCP_LEGACY)
#define MODERN (1U << CK_MCP_MODERN)

/* A result; or NULL and *fault; or NULL without a fault if the answer comes later. */
typedef json_t *(*handler)(struct ck_mcp_server *server, const struct ck_mcp_message *message,
                           struct ck_mcp_fault *fault);

struct method {
    const char *name;
    unsigned eras;
    handler handle;
    int ttl_ms;
    bool is_late; /* the answer comes later */
};

/* ---- the session ---- */

static json_t *capabilities(void)
{
    return json_pack("{s:{}, s:{s:b}, s:{}, s:{}, s:{}}", "tools", "resources", "subscribe", true, "prompts",
                     "completions", "logging");
}

static const char *instructions(const struct ck_mcp_server *server)
{
    return json_string_value(json_object_get(server->offer, "instructions"));
}

static bool is_legacy_version(const char *version)
{
    return version && (strcmp(version, CK_MCP_LEGACY_VERSION) == 0 || strcmp(version, CK_MCP_OLDEST_VERSION) == 0);
}

/* A client with another revision gets the newest one that has sessions, and decides. */
static json_t *initialize(struct ck_mcp_server *server, const struct ck_mcp_message *message,
                          struct ck_mcp_fault *fault)
{
    const char *version = ck_mcp_message_text(message, "protocolVersion");
    const json_t *client = json_object_get(message->params, "capabilities");

    if (!version || !json_is_object(client)) {
        (void)ck_mcp_fault_set(fault, CK_MCP_INVALID_PARAMS, "'protocolVersion' and 'capabilities' are required");
        return NULL;
    }
    server->has_roots = json_is_object(json_object_get(client, "roots"));
    return json_pack("{s:s, s:o, s:{s:s, s:s, s:s}, s:s}", "protocolVersion",
                     is_legacy_version(version) ? version : CK_MCP_LEGACY_VERSION, "capabilities", capabilities(),
                     "serverInfo", "name", "chokepoint", "title", "chokepoint", "version", choke_version(),
                     "instructions", instructions(server));
}

static json_t *discover(struct ck_mcp_server *server, const struct ck_mcp_message *message, struct ck_mcp_fault *fault)
{
    (void)message;
    (void)fault;
    return json_pack("{s:[s,s,s], s:o, s:s}", "supportedVersions", CK_MCP_MODERN_VERSION, CK_MCP_LEGACY_VERSION,
                     CK_MCP_OLDEST_VERSION, "capabilities", capabilities(), "instructions", instructions(server));
}

static json_t *ping(struct ck_mcp_server *server, const struct ck_mcp_message *message, struct ck_mcp_fault *fault)
{
    (void)server;
    (void)message;
    (void)fault;
    return json_object();
}

static json_t *set_level(struct ck_mcp_server *server, const struct ck_mcp_message *message, struct ck_mcp_fault *fault)
{
    const char *name = ck_mcp_message_text(message, "level");
    int level = name ? ck_mcp_log_level(name) : -1;

    if (level < 0) {
        (void)ck_mcp_fault_set(fault, CK_MCP_INVALID_PARAMS,
                               "'level' must be debug, info, notice, warning, error, critical, alert or emergency");
        return NULL;
    }
    server->log_level = level;
    return json_object();
}

/* ---- lists ---- */

/* A cursor is the number of the first item in decimal. */
static int read_cursor(const struct ck_mcp_message *message, size_t count, size_t *ret_first,
                       struct ck_mcp_fault *fault)
{
    const json_t *given = json_object_get(message->params, "cursor");
    const char *text = ck_mcp_message_text(message, "cursor");
    char *end = NULL;

    *ret_first = 0;
    if (!given)
        return 0;
    errno = 0;
    if (text && text[0] >= '1' && text[0] <= '9')
        *ret_first = strtoul(text, &end, 10);
    if (end && *end == '\0' && errno == 0 && *ret_first < count)
        return 0;
    return ck_mcp_fault_set(fault, CK_MCP_INVALID_PARAMS, "'cursor' is not one that this list has returned");
}

json_t *ck_mcp_method_page(const struct ck_mcp_message *message, const char *key, json_t *items,
                           struct ck_mcp_fault *fault)
{
    size_t count = json_array_size(items), first;
    char next[24];

    if (!items || read_cursor(message, count, &first, fault) < 0) {
        json_decref(items);
        return NULL;
    }
    json_t *page = json_array();
    for (size_t i = first; i < count && i < first + PAGE_ITEMS; i++)
        (void)json_array_append(page, json_array_get(items, i));
    json_decref(items);
    json_t *result = json_pack("{s:o}", key, page);
    if (count > first + PAGE_ITEMS) {
        (void)snprintf(next, sizeof(next), "%zu", first + PAGE_ITEMS);
        (void)json_object_set_new(result, "nextCursor", json_string(next));
    }
    return result;
}

static json_t *list_tools(struct ck_mcp_server *server, const struct ck_mcp_message *message,
                          struct ck_mcp_fault *fault)
{
    return ck_mcp_method_page(message, "tools", ck_mcp_tool_list(server), fault);
}

static json_t *list_templates(struct ck_mcp_server *server, const struct ck_mcp_message *message,
                              struct ck_mcp_fault *fault)
{
    return ck_mcp_method_page(message, "resourceTemplates", json_incref(json_object_get(server->offer, "templates")),
                              fault);
}

static json_t *list_prompts(struct ck_mcp_server *server, const struct ck_mcp_message *message,
                            struct ck_mcp_fault *fault)
{
    return ck_mcp_method_page(message, "prompts", json_incref(json_object_get(server->offer, "prompts")), fault);
}

/*
 * Lists do not change while the server runs; resources do. The subscription is accepted for what can
 * be announced, and ends when it is cancelled.
 */
static json_t *listen(struct ck_mcp_server *server, const struct ck_mcp_message *message, struct ck_mcp_fault *fault)
{
    const json_t *wanted = json_object_get(message->params, "notifications");

    if (!json_is_object(wanted)) {
        (void)ck_mcp_fault_set(fault, CK_MCP_INVALID_PARAMS, "'notifications' is required and must be an object");
        return NULL;
    }
    json_t *accepted = ck_mcp_resource_subscriptions(server, json_object_get(wanted, "resourceSubscriptions"));
    if (ck_mcp_calls_listen(server, message, accepted, fault) == 0)
        ck_mcp_notify(server, "notifications/subscriptions/acknowledged",
                      json_pack("{s:O, s:{s:O}}", "notifications", accepted, "_meta", CK_MCP_META("subscriptionId"),
                                message->id));
    json_decref(accepted);
    return NULL;
}

static const struct method methods[] = {
    {"initialize", LEGACY, initialize, CK_MCP_NOT_CACHED, false},
    {"ping", LEGACY, ping, CK_MCP_NOT_CACHED, false},
    {"logging/setLevel", LEGACY, set_level, CK_MCP_NOT_CACHED, false},
    {"server/discover", MODERN, discover, LIST_TTL_MS, false},
    {"subscriptions/listen", MODERN, listen, CK_MCP_NOT_CACHED, true},
    {"tools/list", LEGACY | MODERN, list_tools, LIST_TTL_MS, false},
    {"tools/call", LEGACY | MODERN, ck_mcp_calls_accept, CK_MCP_NOT_CACHED, true},
    {"resources/list", LEGACY | MODERN, ck_mcp_resource_list, LIST_TTL_MS, false},
    {"resources/templates/list", LEGACY | MODERN, list_templates, LIST_TTL_MS, false},
    {"resources/subscribe", LEGACY, ck_mcp_resource_subscribe, CK_MCP_NOT_CACHED, false},
    {"resources/unsubscribe", LEGACY, ck_mcp_resource_unsubscribe, CK_MCP_NOT_CACHED, false},
    {"resources/read", LEGACY | MODERN, ck_mcp_resource_read, CHANGING_TTL_MS, false},
    {"prompts/list", LEGACY | MODERN, list_prompts, LIST_TTL_MS, false},
    {"prompts/get", LEGACY | MODERN, ck_mcp_prompt_get, CK_MCP_NOT_CACHED, false},
    {"completion/complete", LEGACY | MODERN, ck_mcp_prompt_complete, CK_MCP_NOT_CACHED, false},
};

/* ---- one message ---- */

static const struct method *find_method(const struct ck_mcp_message *message)
{
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
        if (strcmp(methods[i].name, message->method) == 0 && (methods[i].eras & 1U << message->era) != 0)
            return &methods[i];
    return NULL;
}

/*
 * A second request with the id of one that is not answered yet is refused without an id: with it,
 * the client would take the refusal for the answer to the first.
 */
static void handle_request(struct ck_mcp_server *server, const struct ck_mcp_message *message)
{
    struct ck_mcp_fault fault = {0};
    const struct method *method = find_method(message);

    if (ck_mcp_calls_has(server, message->id)) {
        (void)ck_mcp_fault_set(&fault, CK_MCP_INVALID_REQUEST,
                               "a request with this id is not answered yet; use another id");
        fault.data = json_pack("{s:O}", "duplicate", message->id);
        ck_mcp_reply_fault(server, NULL, &fault);
        return;
    }
    if (!method) {
        (void)ck_mcp_fault_set(&fault, CK_MCP_METHOD_NOT_FOUND, "unknown method '%s'", CK_QUOTE(message->method));
        ck_mcp_reply_fault(server, message->id, &fault);
        return;
    }
    json_t *result = method->handle(server, message, &fault);
    if (fault.code != 0)
        ck_mcp_reply_fault(server, message->id, &fault);
    else if (result || !method->is_late)
        ck_mcp_reply(server, message->era, message->id, result, method->ttl_ms);
}

/* Unknown notifications are ignored, as JSON-RPC says. */
static void handle_notification(struct ck_mcp_server *server, const struct ck_mcp_message *message)
{
    if (strcmp(message->method, "notifications/cancelled") == 0)
        ck_mcp_calls_cancel(server, json_object_get(message->params, "requestId"));
    else if (strcmp(message->method, "notifications/initialized") == 0) {
        server->initialized = true;
        ck_mcp_roots_ask(server);
    } else if (strcmp(message->method, "notifications/roots/list_changed") == 0 && server->initialized)
        ck_mcp_roots_ask(server);
}

void ck_mcp_method_line(struct ck_mcp_server *server, const char *line, size_t length)
{
    struct ck_mcp_message message;
    struct ck_mcp_fault fault = {0};

    if (ck_mcp_message_parse(&message, line, length, &fault) < 0) {
        /* With the id of a request that is being answered it would end that one. */
        bool busy = message.id && ck_mcp_calls_has(server, message.id);
        /* A notification has no answer, also if it is wrong. */
        if (!json_object_get(message.document, "method") || json_object_get(message.document, "id"))
            ck_mcp_reply_fault(server, busy ? NULL : message.id, &fault);
        json_decref(fault.data);
    } else if (message.kind == CK_MCP_REQUEST) {
        handle_request(server, &message);
    } else if (message.kind == CK_MCP_NOTIFICATION) {
        handle_notification(server, &message);
    } else {
        ck_mcp_roots_take(server, &message);
    }
    ck_mcp_message_done(&message);
}
