/* call.c - see call.h. */
#include "mcp/call.h"

#include "base/clock.h"
#include "front/jansson.h"
#include "mcp/server.h"

#include <stdlib.h>

#define PROGRESS_MS 250 /* between two notifications about one call */

/* Of the modern era only; -1: the request asks for no log. */
static int wanted_level(const struct ck_mcp_message *message)
{
    const char *level = json_string_value(ck_mcp_message_meta(message, "logLevel"));
    return level ? ck_mcp_log_level(level) : -1;
}

struct ck_mcp_call *ck_mcp_call_new(struct ck_mcp_server *server, const struct ck_mcp_message *message)
{
    struct ck_mcp_call *call = calloc(1, sizeof(*call));
    json_t *token = json_object_get(message->meta, "progressToken");

    if (!call)
        return NULL;
    call->server = server;
    call->era = message->era;
    call->area.fd = -1;
    call->log_level = wanted_level(message);
    /* A deep copy: jansson's message is freed, and a thread may read the arguments. */
    call->id = json_deep_copy(message->id);
    call->arguments = json_deep_copy(json_object_get(message->params, "arguments"));
    if (json_is_string(token) || json_is_integer(token))
        call->token = json_deep_copy(token);
    if (call->id)
        return call;
    ck_mcp_call_free(call);
    return NULL;
}

void ck_mcp_call_free(struct ck_mcp_call *call)
{
    if (!call)
        return;
    choke_job_free(call->job);
    json_decref(call->id);
    json_decref(call->arguments);
    json_decref(call->token);
    json_decref(call->answer);
    free(call->document);
    ck_mcp_area_done(&call->area);
    free(call);
}

void ck_mcp_call_end(struct ck_mcp_call *call, json_t *answer)
{
    call->answer = answer;
    call->state = CK_MCP_CALL_ENDED;
}

void ck_mcp_call_cancel(struct ck_mcp_call *call)
{
    call->cancelled = true;
    if (call->job)
        choke_cancel(call->job);
    if (call->task)
        ck_mcp_task_stop(call->task);
    if (call->state == CK_MCP_CALL_WAITING)
        call->state = CK_MCP_CALL_ENDED;
}

/*
 * Progress that the client does not read is dropped: the value says where the call is, and the next
 * one says it again.
 */
void ck_mcp_call_progress(struct ck_mcp_call *call, double value, double total, const char *message)
{
    uint64_t now_ms = ck_clock_now_ms();

    call->progress_due_ms = now_ms + PROGRESS_MS;
    if (!call->token || call->cancelled || !(value > call->progress) || ck_mcp_outbox_is_full(&call->server->outbox))
        return;
    call->progress = value;
    call->progress_ms = now_ms;
    ck_mcp_notify(call->server, "notifications/progress",
                  json_pack("{s:O, s:f, s:f, s:o}", "progressToken", call->token, "progress", value, "total", total,
                            "message", ck_jansson_text(message)));
}
