/*
 * message.h - one message of the client, checked by the rules of JSON-RPC and of the revision that
 * it belongs to. Pure: the fuzzer calls it with any bytes.
 *
 * Two eras of the protocol differ in more than details: 2026-07-28 ("modern") has no session, and
 * every request says its revision in params._meta; the revisions before it ("legacy") begin with
 * initialize. Each message is taken by itself: a client may use both.
 */
#ifndef CK_MCP_MESSAGE_H
#define CK_MCP_MESSAGE_H

#include "mcp/fault.h"

#include <stdbool.h>

#define CK_MCP_MODERN_VERSION "2026-07-28"
#define CK_MCP_LEGACY_VERSION "2025-11-25"
#define CK_MCP_OLDEST_VERSION "2025-06-18"
#define CK_MCP_META(name) "io.modelcontextprotocol/" name

#define CK_MCP_ID_MAX ((size_t)256) /* bytes of an id that is a string */

enum ck_mcp_era { CK_MCP_LEGACY, CK_MCP_MODERN };
enum ck_mcp_kind { CK_MCP_REQUEST, CK_MCP_NOTIFICATION, CK_MCP_RESPONSE };

/* Members point into document. */
struct ck_mcp_message {
    json_t *document; /* owned */
    enum ck_mcp_kind kind;
    enum ck_mcp_era era;
    const char *method;   /* NULL for a response */
    const json_t *id;     /* NULL for a notification */
    const json_t *params; /* an object; NULL: none */
    const json_t *meta;   /* params._meta, an object; NULL: none */
    const json_t *result; /* of a response; NULL: it is an error */
};

/*
 * Returns 0, or -1 and *fault. Then message has the id if there is a valid one, so that the client
 * knows which request failed. Call ck_mcp_message_done in either case.
 */
int ck_mcp_message_parse(struct ck_mcp_message *message, const char *text, size_t length, struct ck_mcp_fault *fault);
void ck_mcp_message_done(struct ck_mcp_message *message);

/* A member of the client's meta that the modern era names: "logLevel". NULL: none. */
const json_t *ck_mcp_message_meta(const struct ck_mcp_message *message, const char *name);

/* A string member of params; NULL: none, another type, or a NUL in it. */
const char *ck_mcp_message_text(const struct ck_mcp_message *message, const char *name);

#endif
