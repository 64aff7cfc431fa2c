/*
 * chunked.h - finds the end of a chunked body.
 *
 * The bytes are passed on unchanged, with extensions and trailers; only the framing is read, as
 * strictly as heads are. Trailers must be fields. Fields about framing, routing or the sender are
 * refused: a program that merges trailers into the head would read another request than the one
 * that was checked.
 */
#ifndef CK_EGRESS_CHUNKED_H
#define CK_EGRESS_CHUNKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct ck_host_secrets;

/* Zero-filled: before the first chunk. */
struct ck_chunked {
    const struct ck_host_secrets *secrets; /* headers that must not be trailers either; NULL: none */
    int state;
    uint64_t left;     /* of the chunk's data */
    size_t line_bytes; /* of the current line */
    size_t digits;     /* of the chunk's size */
    size_t tail_bytes; /* of all trailers */
    char name[64];     /* of the current trailer; no name that matters is longer */
    size_t name_bytes;
    bool done; /* the last LF was read */
};

/*
 * How many of the bytes belong to the body; fewer than length only if the body ends there. -EPROTO
 * if it is malformed.
 */
ssize_t ck_chunked_scan(struct ck_chunked *chunked, const char *data, size_t length);

#endif
