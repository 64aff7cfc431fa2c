/* request.h - makes a request of the library from the arguments of run and explain. */
#ifndef CK_MCP_REQUEST_H
#define CK_MCP_REQUEST_H

#include "mcp/server.h"

struct ck_mcp_request {
    struct choke_request request;
    const char **argv;   /* owned; the strings belong to the arguments */
    const char **egress; /* the same; NULL: none */
    char **env;          /* owned, with its strings; NULL: none */
    const char *rule;    /* what refused it, if the server did; else NULL */
    char root[CK_MCP_AREA_NAME_MAX];
};

/*
 * arguments passed the schema and must live as long as the request, and so must area. Returns 0, or
 * a negative errno and *error. Call ck_mcp_request_done in either case.
 */
int ck_mcp_request_build(struct ck_mcp_request *ret_request, const struct ck_mcp_server *server,
                         const struct ck_mcp_area *area, const json_t *arguments, struct choke_error *error);
/* How much of a truncated stream of this length is its beginning. */
size_t ck_mcp_request_head_bytes(size_t output_bytes);
void ck_mcp_request_done(struct ck_mcp_request *request);

#endif
