/*
 * reader.h - messages from the client: one line of JSON each, of bounded length.
 *
 *   1. ck_mcp_reader_fill   when the descriptor is readable: one read(2).
 *   2. ck_mcp_reader_next   until it returns CK_MCP_LINE_NONE.
 *   3. ck_mcp_reader_done
 *
 * A line that is too long is dropped as it arrives and reported once, so memory is bounded whatever
 * the client sends.
 */
#ifndef CK_MCP_READER_H
#define CK_MCP_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define CK_MCP_MESSAGE_MAX ((size_t)4 << 20)

enum ck_mcp_line {
    CK_MCP_LINE_NONE,    /* no complete line yet */
    CK_MCP_LINE_WHOLE,   /* a line, without its end */
    CK_MCP_LINE_TOO_LONG /* a line of more than CK_MCP_MESSAGE_MAX bytes was dropped */
};

struct ck_mcp_reader {
    char *bytes;    /* owned */
    size_t size;    /* allocated */
    size_t start;   /* of what is not returned yet */
    size_t used;    /* the end of what was read */
    size_t scanned; /* no newline before this */
    bool dropping;  /* in a line that is too long */
};

/* Returns the number of bytes, 0 at the end of input, or a negative errno. */
ssize_t ck_mcp_reader_fill(struct ck_mcp_reader *reader, int fd);

/* The same from memory, for tests: takes at most length bytes and returns how many. */
size_t ck_mcp_reader_add(struct ck_mcp_reader *reader, const char *bytes, size_t length);

/* The line is valid until the next fill. Empty lines are left out. */
enum ck_mcp_line ck_mcp_reader_next(struct ck_mcp_reader *reader, const char **ret_line, size_t *ret_length);

void ck_mcp_reader_done(struct ck_mcp_reader *reader); /* zero-filled is fine */

#endif
