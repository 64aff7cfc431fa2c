/*
 * chunked.h - where a chunked body ends.
 *
 * The bytes pass as they are, extensions and trailers too; only the frame is read, as strictly as heads are. Trailers must
 * be fields, and none that says how the message is framed, where it goes or who sends it: whoever joins trailers with the
 * head would read another request than the one that was judged.
 */
#ifndef CK_EGRESS_CHUNKED_H
#define CK_EGRESS_CHUNKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Zero-filled: before the first chunk. */
struct ck_chunked {
    int state;
    uint64_t left;     /* of the chunk's data */
    size_t line_bytes; /* of the line that is being read */
    size_t digits;     /* of the chunk's size */
    size_t tail_bytes; /* of all trailers */
    char name[32];     /* of the trailer that is being read; no name that matters is longer */
    size_t name_bytes;
    bool done;
};

/*
 * How many of the bytes belong to the body, which ends at fewer than length only if it is done. -EPROTO: it is malformed.
 */
ssize_t ck_chunked_scan(struct ck_chunked *chunked, const char *data, size_t length);

#endif
