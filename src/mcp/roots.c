/*
 * roots.c - asks the client for its roots, which can only narrow the server's (area.h).
 *
 * Legacy: the server sends roots/list once the session is open and after each change; calls wait for
 * the answer. A client that says it has roots and does not list them gets the server's root: the
 * root is the boundary, and roots are the client's wish. Modern: the answer to tools/call asks, and
 * the client repeats its request with the roots in it.
 */
#include "base/clock.h"
#include "front/text.h"
#include "mcp/server.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define ANSWER_MS 2000
#define ID_MAX 32

static void write_id(const struct ck_mcp_server *server, char id[ID_MAX])
{
    (void)snprintf(id, ID_MAX, "roots-%u", server->roots_asked);
}

void ck_mcp_roots_ask(struct ck_mcp_server *server)
{
    char id[ID_MAX];

    if (!server->has_roots)
        return;
    server->roots_asked++;
    write_id(server, id);
    server->roots_state = CK_MCP_ROOTS_ASKED;
    server->roots_deadline_ms = ck_clock_now_ms() + ANSWER_MS;
    ck_mcp_outbox_add(&server->outbox,
                      json_pack("{s:s, s:s, s:s}", "jsonrpc", "2.0", "id", id, "method", "roots/list"));
}

/* An answer to an earlier question is ignored: a newer one is on its way. */
void ck_mcp_roots_take(struct ck_mcp_server *server, const struct ck_mcp_message *response)
{
    const char *given = json_string_value(response->id);
    struct choke_error error = {0};
    char id[ID_MAX];

    write_id(server, id);
    if (server->roots_state != CK_MCP_ROOTS_ASKED || !given || strcmp(given, id) != 0)
        return;
    server->roots_state = CK_MCP_ROOTS_KNOWN;
    const json_t *roots = json_object_get(response->result, "roots");
    /* A list that is not valid narrows to nothing: the client wanted less than everything. */
    if (ck_mcp_areas_set(&server->areas, &server->root, roots, &error) < 0) {
        ck_mcp_areas_done(&server->areas);
        server->areas.narrowed = true;
    }
}

bool ck_mcp_roots_pending(struct ck_mcp_server *server)
{
    if (server->roots_state == CK_MCP_ROOTS_ASKED && ck_clock_now_ms() >= server->roots_deadline_ms)
        server->roots_state = CK_MCP_ROOTS_KNOWN;
    return server->roots_state == CK_MCP_ROOTS_ASKED;
}

/* Stateless: the roots are in this request, or they are asked for. */
bool ck_mcp_roots_choose(struct ck_mcp_server *server, const struct ck_mcp_message *message, const char *cwd,
                         struct ck_mcp_area *ret_area, json_t **ret_question, struct choke_error *error)
{
    const json_t *capabilities = ck_mcp_message_meta(message, "clientCapabilities");
    const json_t *responses = json_object_get(message->params, "inputResponses");
    const json_t *answer = json_object_get(responses, "roots");
    const json_t *roots = json_object_get(answer, "roots");
    struct ck_mcp_areas areas = {0};

    if (!answer && json_object_get(capabilities, "roots")) {
        *ret_question = json_pack("{s:s, s:{s:{s:s, s:{}}}}", "resultType", "input_required", "inputRequests", "roots",
                                  "method", "roots/list", "params");
        return false;
    }
    if (answer && !roots)
        (void)ck_text_error(error, CHOKE_INVALID, EINVAL, "'inputResponses.roots' has no list of roots");
    else if (ck_mcp_areas_set(&areas, &server->root, roots, error) == 0)
        (void)ck_mcp_area_choose(&areas, &server->root, cwd, ret_area, error);
    ck_mcp_areas_done(&areas);
    return true;
}
