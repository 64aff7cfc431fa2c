/*
 * outbox.h - messages to the client, in order. Nothing else is written to its descriptor.
 *
 * A client may read slowly or not at all. Messages wait in memory and are written as far as the
 * client reads; ck_mcp_outbox_is_full says when the server must not take more work.
 */
#ifndef CK_MCP_OUTBOX_H
#define CK_MCP_OUTBOX_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* What may wait before no more input is read. Answers of calls that run come on top of it. */
#define CK_MCP_OUTBOX_FULL ((size_t)8 << 20)

struct ck_mcp_outbox {
    int fd;
    char *bytes; /* owned */
    size_t size;
    size_t start; /* what is before it was written */
    size_t used;
    int error; /* the first errno of a write, or ENOMEM; everything after it is dropped */
};

/* Takes message; NULL counts as no memory. */
void ck_mcp_outbox_add(struct ck_mcp_outbox *outbox, json_t *message);

/* Writes what fits without blocking. Call it when the descriptor is writable. */
void ck_mcp_outbox_flush(struct ck_mcp_outbox *outbox);

static inline bool ck_mcp_outbox_is_empty(const struct ck_mcp_outbox *outbox)
{
    return outbox->start == outbox->used;
}

static inline bool ck_mcp_outbox_is_full(const struct ck_mcp_outbox *outbox)
{
    return outbox->used - outbox->start >= CK_MCP_OUTBOX_FULL;
}

void ck_mcp_outbox_done(struct ck_mcp_outbox *outbox);

#endif
