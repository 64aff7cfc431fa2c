/*
 * log.c - log messages to the client. In the legacy era all events of the library, from the level
 * that the client has set; in the modern era what concerns one call, if its request asks for it.
 */
#include "front/jansson.h"
#include "mcp/server.h"

#include <string.h>

/* The levels of the protocol, the least important first. */
static const char *const levels[] = {"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"};

int ck_mcp_log_level(const char *name)
{
    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
        if (strcmp(levels[i], name) == 0)
            return (int)i;
    return -1;
}

static void send_message(struct ck_mcp_server *server, const char *level, json_t *data)
{
    ck_mcp_notify(server, "notifications/message",
                  json_pack("{s:s, s:s, s:o}", "level", level, "logger", "chokepoint", "data", data));
}

/*
 * Called by the library while it works; it only adds to the outbox. A client that does not read must
 * not make the outbox grow, so then events are dropped: the audit log has them.
 */
void ck_mcp_log_event(void *data, const struct choke_event *event)
{
    struct ck_mcp_server *server = data;
    const char *level = event->level == CHOKE_DEBUG ? "debug" : event->level == CHOKE_INFO ? "info" : "warning";

    if (!server->initialized || ck_mcp_log_level(level) < server->log_level || ck_mcp_outbox_is_full(&server->outbox))
        return;
    json_t *object = json_pack("{s:s}", "event", event->name);
    for (size_t i = 0; i < event->field_count; i++)
        (void)json_object_set_new(object, event->fields[i].key, ck_jansson_text(event->fields[i].value));
    send_message(server, level, object);
}

void ck_mcp_log_call(struct ck_mcp_call *call, const char *level, json_t *data)
{
    if (call->era == CK_MCP_MODERN && call->log_level >= 0 && ck_mcp_log_level(level) >= call->log_level)
        send_message(call->server, level, data);
    else
        json_decref(data);
}
