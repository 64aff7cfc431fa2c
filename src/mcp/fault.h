/* fault.h - an error of the protocol: what becomes the member "error" of an answer. */
#ifndef CK_MCP_FAULT_H
#define CK_MCP_FAULT_H

#include <jansson.h>

enum ck_mcp_code {
    CK_MCP_PARSE_ERROR = -32700,
    CK_MCP_INVALID_REQUEST = -32600,
    CK_MCP_METHOD_NOT_FOUND = -32601,
    CK_MCP_INVALID_PARAMS = -32602,
    CK_MCP_INTERNAL_ERROR = -32603,
    CK_MCP_BUSY = -32000,
    CK_MCP_NO_RESOURCE_LEGACY = -32002,  /* before 2026-07-28 */
    CK_MCP_UNSUPPORTED_VERSION = -32022, /* since 2026-07-28 */
};

#define CK_MCP_FAULT_MAX 1280

/* Zero-filled: no fault. */
struct ck_mcp_fault {
    int code;
    char message[CK_MCP_FAULT_MAX];
    json_t *data; /* owned; NULL: none */
};

/* Returns -1. */
int ck_mcp_fault_set(struct ck_mcp_fault *fault, enum ck_mcp_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* {"code","message"} with "data" if there is some. Empties the fault. NULL: no memory. */
json_t *ck_mcp_fault_take(struct ck_mcp_fault *fault);

#endif
