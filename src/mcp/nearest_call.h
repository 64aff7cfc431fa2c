/*
 * nearest_call.h - the allowed call that a refused one is closest to.
 *
 * Every candidate is judged by choke_explain, so what is returned would run. The number of
 * candidates is bounded.
 */
#ifndef CK_MCP_NEAREST_CALL_H
#define CK_MCP_NEAREST_CALL_H

#include "mcp/server.h"

/*
 * outcome: of the refusal. Returns arguments for the tool run, {"argv",...}; json_null if none is
 * near; NULL: no memory.
 */
json_t *ck_mcp_nearest_call(struct ck_mcp_server *server, const struct ck_mcp_area *area, const json_t *arguments,
                            enum choke_outcome outcome);

#endif
