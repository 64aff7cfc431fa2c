/*
 * outbox.c - see outbox.h.
 *
 * The flags of the descriptor are not changed, because other processes may share it. A pipe or a
 * socket that polls writable takes PIPE_BUF bytes without blocking, so it is polled before each
 * write of that size.
 */
#include "mcp/outbox.h"

#include "base/fd.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

/* 15 digits print a time in microseconds as it was measured. */
#define DUMP_FLAGS (JSON_COMPACT | JSON_REAL_PRECISION(15))

static bool make_room(struct ck_mcp_outbox *outbox, size_t length)
{
    if (outbox->start > 0) {
        memmove(outbox->bytes, outbox->bytes + outbox->start, outbox->used - outbox->start);
        outbox->used -= outbox->start;
        outbox->start = 0;
    }
    if (length <= outbox->size - outbox->used)
        return true;
    size_t size = outbox->used + length;
    /* Doubled, so that many messages do not copy the whole for each of them. */
    size = size < outbox->size * 2 ? outbox->size * 2 : size;
    char *bytes = realloc(outbox->bytes, size);
    if (!bytes)
        return false;
    outbox->bytes = bytes;
    outbox->size = size;
    return true;
}

void ck_mcp_outbox_add(struct ck_mcp_outbox *outbox, json_t *message)
{
    char *text = json_dumps(message, DUMP_FLAGS);
    size_t length = text ? strlen(text) : 0;

    json_decref(message);
    if (!text || !make_room(outbox, length + 1)) {
        outbox->error = outbox->error ? outbox->error : ENOMEM;
    } else if (outbox->error == 0) {
        memcpy(outbox->bytes + outbox->used, text, length);
        outbox->bytes[outbox->used + length] = '\n';
        outbox->used += length + 1;
    }
    free(text);
}

static bool is_writable(const struct ck_mcp_outbox *outbox)
{
    struct pollfd fd = {.fd = outbox->fd, .events = POLLOUT};
    return poll(&fd, 1, 0) > 0;
}

void ck_mcp_outbox_flush(struct ck_mcp_outbox *outbox)
{
    while (!ck_mcp_outbox_is_empty(outbox) && outbox->error == 0 && is_writable(outbox)) {
        size_t left = outbox->used - outbox->start;
        ssize_t written = ck_fd_write(outbox->fd, outbox->bytes + outbox->start, left < PIPE_BUF ? left : PIPE_BUF);
        if (written == -EAGAIN)
            return;
        if (written < 0)
            outbox->error = (int)-written;
        else
            outbox->start += (size_t)written;
    }
}

void ck_mcp_outbox_done(struct ck_mcp_outbox *outbox)
{
    free(outbox->bytes);
    *outbox = (struct ck_mcp_outbox){.fd = -1};
}
