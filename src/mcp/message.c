/*
 * message.c - see message.h.
 *
 * The depth is checked before jansson parses: it calls itself for each level. A repeated key is an
 * error, because two readers may disagree on which of the two counts. A NUL inside a string is
 * accepted here, so that the request has an answer; whoever uses the string refuses it.
 */
#include "mcp/message.h"

#include "base/json.h"
#include "base/quote.h"

#include <string.h>

static bool is_id(const json_t *id)
{
    return json_is_integer(id) || (json_is_string(id) && json_string_length(id) <= CK_MCP_ID_MAX);
}

/* NULL: not a string, or with a NUL in it. */
static const char *text_of(const json_t *value)
{
    const char *text = json_string_value(value);
    return text && strlen(text) == json_string_length(value) ? text : NULL;
}

/* A request, a notification or a response; by the members that it has. */
static int check_kind(struct ck_mcp_message *message, struct ck_mcp_fault *fault)
{
    const json_t *id = json_object_get(message->document, "id");
    const json_t *method = json_object_get(message->document, "method");
    const json_t *error = json_object_get(message->document, "error");

    if (id && !is_id(id))
        return ck_mcp_fault_set(fault, CK_MCP_INVALID_REQUEST,
                                "'id' must be an integer, or a string of at most %zu bytes", CK_MCP_ID_MAX);
    message->id = id;
    message->method = text_of(method);
    message->result = json_object_get(message->document, "result");
    if (method && !message->method)
        return ck_mcp_fault_set(fault, CK_MCP_INVALID_REQUEST, "'method' must be a string");
    if (message->method && (message->result || error))
        return ck_mcp_fault_set(fault, CK_MCP_INVALID_REQUEST, "a request has no 'result' and no 'error'");
    if (!message->method && (!id || !message->result == !error))
        return ck_mcp_fault_set(fault, CK_MCP_INVALID_REQUEST,
                                "a message has a 'method', or an 'id' with either a 'result' or an 'error'");
    message->kind = !message->method ? CK_MCP_RESPONSE : id ? CK_MCP_REQUEST : CK_MCP_NOTIFICATION;
    return 0;
}

static int check_params(struct ck_mcp_message *message, struct ck_mcp_fault *fault)
{
    message->params = json_object_get(message->document, "params");
    if (message->params && !json_is_object(message->params)) {
        message->params = NULL;
        return ck_mcp_fault_set(fault, CK_MCP_INVALID_PARAMS, "'params' must be an object");
    }
    message->meta = json_object_get(message->params, "_meta");
    if (message->meta && !json_is_object(message->meta)) {
        message->meta = NULL;
        return ck_mcp_fault_set(fault, CK_MCP_INVALID_PARAMS, "'params._meta' must be an object");
    }
    return 0;
}

static int unsupported(const char *version, struct ck_mcp_fault *fault)
{
    char shown[64];

    fault->data = json_pack("{s:[s,s,s], s:s}", "supported", CK_MCP_MODERN_VERSION, CK_MCP_LEGACY_VERSION,
                            CK_MCP_OLDEST_VERSION, "requested", version);
    return ck_mcp_fault_set(fault, CK_MCP_UNSUPPORTED_VERSION,
                            "unsupported protocol version '%s'; with this form of request use " CK_MCP_MODERN_VERSION,
                            ck_quote(shown, sizeof(shown), version, strlen(version)));
}

/* A request that names its revision is modern. It must also say what its client can do. */
static int check_era(struct ck_mcp_message *message, struct ck_mcp_fault *fault)
{
    const json_t *version = ck_mcp_message_meta(message, "protocolVersion");

    if (!version)
        return 0;
    message->era = CK_MCP_MODERN;
    if (!text_of(version))
        return ck_mcp_fault_set(fault, CK_MCP_INVALID_PARAMS,
                                "'params._meta." CK_MCP_META("protocolVersion") "' must be a string");
    if (strcmp(text_of(version), CK_MCP_MODERN_VERSION) != 0)
        return unsupported(text_of(version), fault);
    if (message->kind == CK_MCP_REQUEST && !json_is_object(ck_mcp_message_meta(message, "clientCapabilities")))
        return ck_mcp_fault_set(
            fault, CK_MCP_INVALID_PARAMS,
            "'params._meta." CK_MCP_META("clientCapabilities") "' is missing; it must be an object");
    return 0;
}

static int check_envelope(const struct ck_mcp_message *message, struct ck_mcp_fault *fault)
{
    const char *version = json_string_value(json_object_get(message->document, "jsonrpc"));

    if (!json_is_object(message->document))
        return ck_mcp_fault_set(fault, CK_MCP_INVALID_REQUEST,
                                "a message is one JSON object; batches are not part of the protocol");
    if (!version || strcmp(version, "2.0") != 0)
        return ck_mcp_fault_set(fault, CK_MCP_INVALID_REQUEST, "'jsonrpc' must be \"2.0\"");
    return 0;
}

int ck_mcp_message_parse(struct ck_mcp_message *message, const char *text, size_t length, struct ck_mcp_fault *fault)
{
    json_error_t error;

    *message = (struct ck_mcp_message){0};
    if (ck_json_is_deep(text, length))
        return ck_mcp_fault_set(fault, CK_MCP_INVALID_REQUEST, "the message is nested deeper than %d levels",
                                CK_JSON_DEPTH_MAX);
    message->document = json_loadb(text, length, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_ANY, &error);
    if (!message->document)
        return ck_mcp_fault_set(fault, CK_MCP_PARSE_ERROR, "not valid JSON: column %d: %s", error.column,
                                CK_QUOTE(error.text));
    const json_t *id = json_object_get(message->document, "id");
    message->id = id && is_id(id) ? id : NULL;
    if (check_envelope(message, fault) < 0 || check_kind(message, fault) < 0)
        return -1;
    if (message->kind == CK_MCP_RESPONSE)
        return 0;
    return check_params(message, fault) < 0 ? -1 : check_era(message, fault);
}

void ck_mcp_message_done(struct ck_mcp_message *message)
{
    json_decref(message->document);
    *message = (struct ck_mcp_message){0};
}

const json_t *ck_mcp_message_meta(const struct ck_mcp_message *message, const char *name)
{
    char key[64] = CK_MCP_META("");
    size_t used = strlen(key);

    if (strlen(name) >= sizeof(key) - used)
        return NULL;
    memcpy(key + used, name, strlen(name) + 1);
    return json_object_get(message->meta, key);
}

const char *ck_mcp_message_text(const struct ck_mcp_message *message, const char *name)
{
    return text_of(json_object_get(message->params, name));
}
