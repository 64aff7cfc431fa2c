/* tool.h - the tools of the server. Each has exactly one of answer, start and work. */
#ifndef CK_MCP_TOOL_H
#define CK_MCP_TOOL_H

#include "mcp/server.h"

struct ck_mcp_tool {
    const char *name; /* its description is in src/mcp/offer.json */
    bool is_rooted;   /* works beneath the root, so the roots of the client narrow it */
    json_t *(*answer)(struct ck_mcp_call *call);
    /* Starts a job, or ends the call. */
    void (*start)(struct ck_mcp_call *call);
    json_t *(*work)(struct ck_mcp_task *task, void *call); /* in a thread */
    /* The answer to a call that is refused before it begins. */
    json_t *(*refuse)(struct ck_mcp_call *call, const struct choke_error *error);
};

extern const struct ck_mcp_tool ck_mcp_tool_run;
extern const struct ck_mcp_tool ck_mcp_tool_explain;
extern const struct ck_mcp_tool ck_mcp_tool_tools;
extern const struct ck_mcp_tool ck_mcp_tool_gather;
extern const struct ck_mcp_tool ck_mcp_tool_lint;

/* NULL: unknown. */
const struct ck_mcp_tool *ck_mcp_tool_find(const char *name);
const json_t *ck_mcp_tool_schema(const struct ck_mcp_server *server, const struct ck_mcp_tool *tool);

/* All of them with their annotations, for tools/list. NULL: no memory. */
json_t *ck_mcp_tool_list(struct ck_mcp_server *server);

/* A job of the tool run has ended. */
void ck_mcp_run_ended(struct ck_mcp_call *call, const struct choke_result *result);

/* Answers of refusals, with {"error"} as structured content. */
json_t *ck_mcp_tool_refusal(const struct choke_error *error, json_t *structured);

/* explain as an answer, for the tool and for a prompt. */
json_t *ck_mcp_explain_answer(struct ck_mcp_server *server, const struct ck_mcp_area *area, const json_t *arguments);

/* The list of tools as an answer; name NULL: all. */
json_t *ck_mcp_tools_answer(struct ck_mcp_server *server, const char *name);

#endif
