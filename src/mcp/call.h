/*
 * call.h - one tools/call from its arrival to its answer.
 *
 *   waiting   for its turn, or for the roots of the client
 *   running   a job of the library, or a task in a thread
 *   ended     answer is set; it is sent, unless the call was cancelled
 *
 * A cancelled call stays until what it started has ended. It gets no answer.
 */
#ifndef CK_MCP_CALL_H
#define CK_MCP_CALL_H

#include "chokepoint.h"
#include "mcp/area.h"
#include "mcp/message.h"
#include "mcp/task.h"

struct ck_mcp_server;
struct ck_mcp_tool;

enum ck_mcp_call_state { CK_MCP_CALL_WAITING, CK_MCP_CALL_RUNNING, CK_MCP_CALL_ENDED };

struct ck_mcp_call {
    struct ck_mcp_call *next;
    struct ck_mcp_server *server;
    const struct ck_mcp_tool *tool; /* NULL: subscriptions/listen, which only waits to be cancelled */
    enum ck_mcp_call_state state;
    enum ck_mcp_era era;
    bool cancelled;
    json_t *id;        /* owned */
    json_t *arguments; /* owned; an object or NULL; of a subscription, what was accepted */
    json_t *token;     /* for progress; owned; NULL: none wanted */
    int log_level;     /* of the modern era: log from this level on; -1: nothing */
    struct ck_mcp_area area;
    struct choke_job *job;    /* owned; NULL: none */
    struct ck_mcp_task *task; /* owned; NULL: none */
    json_t *answer;           /* owned; the result, once it has ended */
    char *document;           /* of a gather; owned; NULL: none */

    uint64_t started_ms;
    uint64_t progress_due_ms; /* the next one; 0: none */
    uint64_t progress_ms;     /* when the last one was sent; 0: none was */
    double progress;          /* the last value that was sent */
    uint64_t output_bytes;    /* of the tool so far */
};

/* The call for a request; NULL: no memory. */
struct ck_mcp_call *ck_mcp_call_new(struct ck_mcp_server *server, const struct ck_mcp_message *message);
void ck_mcp_call_free(struct ck_mcp_call *call);

/* Sets the answer. NULL counts as no memory. Takes answer. */
void ck_mcp_call_end(struct ck_mcp_call *call, json_t *answer);

/* Ends what it started; the answer is dropped. */
void ck_mcp_call_cancel(struct ck_mcp_call *call);

/* Sends progress if the client wants it, it is due, and the value has grown. */
void ck_mcp_call_progress(struct ck_mcp_call *call, double value, double total, const char *message);

#endif
