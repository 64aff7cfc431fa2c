/*
 * stream.h - "run --json --stream": output as JSON lines while it arrives (docs/adr/0048).
 *
 *   1. ck_stream_init
 *   2. ck_stream_write   for every piece of output; waits for the reader.
 *   3. ck_stream_end     writes the bytes that waited for the rest of a character.
 *
 * A line has at most CK_STREAM_LINE_MAX bytes, so a pipe takes it whole or not at all. Memory is
 * this struct, whatever the tool writes.
 */
#ifndef CK_CLI_STREAM_H
#define CK_CLI_STREAM_H

#include "base/base64.h"
#include "chokepoint.h"
#include "front/outlet.h"

#include <limits.h>

#define CK_STREAM_LINE_MAX ((size_t)PIPE_BUF)
/* Of the output in one line: as base64 it fits with {"stream":"stdout","base64":""} around it. */
#define CK_STREAM_PIECE_MAX ((CK_STREAM_LINE_MAX - 64) / 4 * 3)

struct ck_stream_side {
    const char *name;
    char piece[CK_STREAM_PIECE_MAX];
    size_t used;
    uint64_t passed_bytes; /* in lines that were written whole */
};

struct ck_stream_writer {
    struct ck_outlet *outlet;
    struct ck_stream_side out, err;
};

void ck_stream_init(struct ck_stream_writer *writer, struct ck_outlet *outlet);

/* A choke_output_fn; data is a struct ck_stream_writer. A failed write is noted in the outlet. */
void ck_stream_write(void *data, enum choke_stream stream, const void *bytes, size_t length);

void ck_stream_end(struct ck_stream_writer *writer);

#endif
