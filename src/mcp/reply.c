/* reply.c - answers and notifications in the form of each era. */
#include "mcp/server.h"

/* What 2026-07-28 adds to every result. */
static json_t *decorate(json_t *result, int ttl_ms)
{
    int bad = 0;

    if (!json_object_get(result, "resultType"))
        bad |= json_object_set_new(result, "resultType", json_string("complete"));
    json_t *meta = json_object_get(result, "_meta");
    if (!meta) {
        bad |= json_object_set_new(result, "_meta", json_object());
        meta = json_object_get(result, "_meta");
    }
    bad |= json_object_set_new(
        meta, CK_MCP_META("serverInfo"),
        json_pack("{s:s, s:s, s:s}", "name", "chokepoint", "title", "chokepoint", "version", choke_version()));
    if (ttl_ms != CK_MCP_NOT_CACHED) {
        bad |= json_object_set_new(result, "ttlMs", json_integer(ttl_ms));
        bad |= json_object_set_new(result, "cacheScope", json_string("private"));
    }
    if (!bad)
        return result;
    json_decref(result);
    return NULL;
}

void ck_mcp_reply(struct ck_mcp_server *server, enum ck_mcp_era era, const json_t *id, json_t *result, int ttl_ms)
{
    if (result && era == CK_MCP_MODERN)
        result = decorate(result, ttl_ms);
    if (!result) {
        struct ck_mcp_fault fault = {0};
        (void)ck_mcp_fault_set(&fault, CK_MCP_INTERNAL_ERROR, "out of memory");
        ck_mcp_reply_fault(server, id, &fault);
        return;
    }
    ck_mcp_outbox_add(&server->outbox, json_pack("{s:s, s:O, s:o}", "jsonrpc", "2.0", "id", id, "result", result));
}

/* Without an id: the schema of the protocol knows no null there. */
void ck_mcp_reply_fault(struct ck_mcp_server *server, const json_t *id, struct ck_mcp_fault *fault)
{
    json_t *error = ck_mcp_fault_take(fault);
    json_t *message = id ? json_pack("{s:s, s:O, s:o}", "jsonrpc", "2.0", "id", id, "error", error)
                         : json_pack("{s:s, s:o}", "jsonrpc", "2.0", "error", error);

    ck_mcp_outbox_add(&server->outbox, message);
}

void ck_mcp_notify(struct ck_mcp_server *server, const char *method, json_t *params)
{
    ck_mcp_outbox_add(&server->outbox,
                      json_pack("{s:s, s:s, s:o}", "jsonrpc", "2.0", "method", method, "params", params));
}
