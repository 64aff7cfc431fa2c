/* reader.c - see reader.h. */
#include "mcp/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIRST_BYTES ((size_t)64 << 10)
/* A message with its carriage return and newline, and one more: a full buffer without a newline is a message too long. */
#define MOST_BYTES (CK_MCP_MESSAGE_MAX + 3)

/* What was returned makes room for more. */
static void compact(struct ck_mcp_reader *reader)
{
    if (reader->start == 0)
        return;
    memmove(reader->bytes, reader->bytes + reader->start, reader->used - reader->start);
    reader->used -= reader->start;
    reader->scanned -= reader->start;
    reader->start = 0;
}

/* Makes room for at least one byte; a line that fills the largest buffer is dropped. */
static int make_room(struct ck_mcp_reader *reader)
{
    compact(reader);
    if (reader->used < reader->size)
        return 0;
    if (reader->size == MOST_BYTES) {
        reader->dropping = true;
        reader->used = reader->scanned = 0;
        return 0;
    }
    size_t size = reader->size == 0 ? FIRST_BYTES : reader->size * 2;
    if (size > MOST_BYTES)
        size = MOST_BYTES;
    char *bytes = realloc(reader->bytes, size);
    if (!bytes)
        return -ENOMEM;
    reader->bytes = bytes;
    reader->size = size;
    return 0;
}

ssize_t ck_mcp_reader_fill(struct ck_mcp_reader *reader, int fd)
{
    int r = make_room(reader);
    if (r < 0)
        return r;
    ssize_t got;
    do
        got = read(fd, reader->bytes + reader->used, reader->size - reader->used);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return -errno;
    reader->used += (size_t)got;
    return got;
}

size_t ck_mcp_reader_add(struct ck_mcp_reader *reader, const char *bytes, size_t length)
{
    if (make_room(reader) < 0)
        return 0;
    size_t room = reader->size - reader->used;
    size_t taken = length < room ? length : room;

    memcpy(reader->bytes + reader->used, bytes, taken);
    reader->used += taken;
    return taken;
}

/* NULL: the line has not ended yet. What was scanned is not scanned again. */
static char *find_end(struct ck_mcp_reader *reader)
{
    if (reader->used == reader->scanned)
        return NULL;
    char *end = memchr(reader->bytes + reader->scanned, '\n', reader->used - reader->scanned);
    if (!end)
        reader->scanned = reader->used;
    return end;
}

enum ck_mcp_line ck_mcp_reader_next(struct ck_mcp_reader *reader, const char **ret_line, size_t *ret_length)
{
    for (char *end; (end = find_end(reader));) {
        const char *line = reader->bytes + reader->start;
        size_t length = (size_t)(end - line);
        bool dropped = reader->dropping;

        reader->start = reader->scanned = (size_t)(end + 1 - reader->bytes);
        reader->dropping = false;
        if (length > 0 && line[length - 1] == '\r')
            length--;
        if (dropped || length > CK_MCP_MESSAGE_MAX)
            return CK_MCP_LINE_TOO_LONG;
        if (length == 0)
            continue;
        *ret_line = line;
        *ret_length = length;
        return CK_MCP_LINE_WHOLE;
    }
    return CK_MCP_LINE_NONE;
}

void ck_mcp_reader_done(struct ck_mcp_reader *reader)
{
    free(reader->bytes);
    *reader = (struct ck_mcp_reader){0};
}
