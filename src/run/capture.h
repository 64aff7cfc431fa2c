/*
 * capture.h - one stream of a tool, in bounded memory (R20).
 *
 * Up to the cap every byte is stored. Beyond it the oldest bytes after the head are dropped, and the
 * result is the head, the marker, and the last bytes: exactly cap bytes. Without a head it is the
 * marker and the last cap - 17 bytes. Nothing is allocated before the first byte.
 */
#ifndef CK_RUN_CAPTURE_H
#define CK_RUN_CAPTURE_H

#include "chokepoint.h"

#define CK_TRUNCATED_MARKER "...[TRUNCATED]..."

struct ck_capture {
    char *data;
    size_t start;        /* in data: the first byte of the stream */
    size_t size;         /* of head and ring, from start; at least cap once they are mapped */
    size_t at;           /* where the next byte goes, from start */
    size_t mapped_bytes; /* 0: the memory is from malloc */
    size_t cap;
    size_t head_bytes; /* the first bytes, which are never overwritten */
    uint64_t total_bytes;
};

/* The bytes of a stream that has ended, and the memory that holds them. Zero-filled is empty. */
struct ck_capture_output {
    struct choke_capture view;
    void *memory;
    size_t mapped_bytes;
    bool short_of_memory; /* memory ran out before the cap was reached */
};

/* cap must be at least head_bytes + CHOKE_MIN_OUTPUT_BYTES; the judge has checked that. */
void ck_capture_init(struct ck_capture *capture, size_t cap, size_t head_bytes);
void ck_capture_done(struct ck_capture *capture);

/*
 * Where to read to next, and how many bytes fit there. *ret_room is 0 only if there is no memory at
 * all.
 */
char *ck_capture_room(struct ck_capture *capture, size_t *ret_room);

/* Says that `length` bytes were read to ck_capture_room. */
void ck_capture_add(struct ck_capture *capture, size_t length);

/* Adds bytes that were read elsewhere; without memory they are only counted. */
void ck_capture_copy(struct ck_capture *capture, const char *data, size_t length);

/* The bytes in order. The memory moves to *ret, and the capture is empty afterwards. */
void ck_capture_take(struct ck_capture *capture, struct ck_capture_output *ret);
void ck_capture_output_done(struct ck_capture_output *saved);

#endif
