/* server.h - the state of the server, and what its parts do for each other. */
#ifndef CK_MCP_SERVER_H
#define CK_MCP_SERVER_H

#include "front/session.h"
#include "mcp/area.h"
#include "mcp/call.h"
#include "mcp/mcp.h"
#include "mcp/message.h"
#include "mcp/outbox.h"
#include "mcp/reader.h"

/* What the policy lets a call do, for the annotations of the tools. */
struct ck_mcp_traits {
    bool known;
    bool read_only;
    bool destructive;
    bool open_world;
};

/* In a session of the legacy era: the state of the client's roots. */
enum ck_mcp_roots_state { CK_MCP_ROOTS_NONE, CK_MCP_ROOTS_ASKED, CK_MCP_ROOTS_KNOWN };

struct ck_mcp_server {
    const struct ck_mcp_options *options;
    struct choke_context *context;
    struct choke_policy *policy;
    const char *policy_text; /* JSON; lives as long as policy */
    json_t *policy_json;
    json_t *offer;             /* src/mcp/offer.json */
    struct ck_session session; /* for the signals */
    struct ck_mcp_reader reader;
    struct ck_mcp_outbox outbox;
    struct ck_mcp_call *calls; /* in the order of their arrival */
    char *gather_document;     /* of the last gather; NULL: none */
    struct ck_mcp_root root;
    int wake_fd; /* an eventfd: a task has news */
    struct ck_mcp_traits run_traits, gather_traits;

    /* Of the legacy era. */
    struct ck_mcp_areas areas;
    uint64_t roots_deadline_ms;
    unsigned roots_asked; /* how often; a part of the id */
    enum ck_mcp_roots_state roots_state;
    int log_level;  /* from this level on */
    bool has_roots; /* the client can list its roots */
    bool initialized;
    bool wants_gathered; /* the client has subscribed to the document of the last gather */

    bool lines_left; /* in the reader: the outbox was full */
};

/* ---- reply.c ---- */

#define CK_MCP_NOT_CACHED (-1)

/* Takes result; NULL counts as no memory. ttl_ms: for how long a client may keep it. */
void ck_mcp_reply(struct ck_mcp_server *server, enum ck_mcp_era era, const json_t *id, json_t *result, int ttl_ms);
void ck_mcp_reply_fault(struct ck_mcp_server *server, const json_t *id, struct ck_mcp_fault *fault);
void ck_mcp_notify(struct ck_mcp_server *server, const char *method, json_t *params); /* takes params */

/* ---- method.c ---- */

/* Handles one line of the client. */
void ck_mcp_method_line(struct ck_mcp_server *server, const char *line, size_t length);

/* The cursor and the page of a list. Takes items. NULL: see fault, or no memory. */
json_t *ck_mcp_method_page(const struct ck_mcp_message *message, const char *key, json_t *items,
                           struct ck_mcp_fault *fault);

/* ---- calls.c ---- */

json_t *ck_mcp_calls_accept(struct ck_mcp_server *server, const struct ck_mcp_message *message,
                            struct ck_mcp_fault *fault);
/* subscriptions/listen: returns 0, or -1 and *fault. */
int ck_mcp_calls_listen(struct ck_mcp_server *server, const struct ck_mcp_message *message, json_t *accepted,
                        struct ck_mcp_fault *fault);
bool ck_mcp_calls_has(const struct ck_mcp_server *server, const json_t *id);
void ck_mcp_calls_cancel(struct ck_mcp_server *server, const json_t *id);
/* Starts what may start, takes what has ended, sends what is due. */
void ck_mcp_calls_advance(struct ck_mcp_server *server);
/* Milliseconds until ck_mcp_calls_advance has something to do; -1: only after an event. */
int ck_mcp_calls_wait_ms(const struct ck_mcp_server *server);
/* Ends all calls, within wait_ms. False: a task still runs. */
bool ck_mcp_calls_stop(struct ck_mcp_server *server, int wait_ms);

/* ---- roots.c ---- */

void ck_mcp_roots_ask(struct ck_mcp_server *server);
void ck_mcp_roots_take(struct ck_mcp_server *server, const struct ck_mcp_message *response);
/* Still waiting for the client's answer? After a while it is not waited for any more. */
bool ck_mcp_roots_pending(struct ck_mcp_server *server);
/*
 * The area of a call of the modern era. True: *ret_area is set, or *error says why there is none.
 * False: the client must be asked first, and *ret_question is the answer that does so.
 */
bool ck_mcp_roots_choose(struct ck_mcp_server *server, const struct ck_mcp_message *message, const char *cwd,
                         struct ck_mcp_area *ret_area, json_t **ret_question, struct choke_error *error);

/* ---- log.c ---- */

int ck_mcp_log_level(const char *name); /* -1: unknown */
/* data: the server. */
void ck_mcp_log_event(void *data, const struct choke_event *event);
/* About one call of the modern era, if its request asks for it. Takes data. */
void ck_mcp_log_call(struct ck_mcp_call *call, const char *level, json_t *data);

/* ---- resource.c, prompt.c ---- */

json_t *ck_mcp_resource_list(struct ck_mcp_server *server, const struct ck_mcp_message *message,
                             struct ck_mcp_fault *fault);
json_t *ck_mcp_resource_read(struct ck_mcp_server *server, const struct ck_mcp_message *message,
                             struct ck_mcp_fault *fault);
json_t *ck_mcp_resource_subscribe(struct ck_mcp_server *server, const struct ck_mcp_message *message,
                                  struct ck_mcp_fault *fault);
json_t *ck_mcp_resource_unsubscribe(struct ck_mcp_server *server, const struct ck_mcp_message *message,
                                    struct ck_mcp_fault *fault);
/* {"resourceSubscriptions": [...]} with those of the URIs that exist, or {}. NULL: no memory. */
json_t *ck_mcp_resource_subscriptions(const struct ck_mcp_server *server, const json_t *uris);
/* There is a new document of a gather: tells those who have asked for it. */
void ck_mcp_resource_gathered(struct ck_mcp_server *server);
json_t *ck_mcp_prompt_get(struct ck_mcp_server *server, const struct ck_mcp_message *message,
                          struct ck_mcp_fault *fault);
json_t *ck_mcp_prompt_complete(struct ck_mcp_server *server, const struct ck_mcp_message *message,
                               struct ck_mcp_fault *fault);

#endif
