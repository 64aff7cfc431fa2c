/*
 * relay.h - moves bytes from one socket to another, in one direction.
 *
 * A stream has two paths. Bytes that must be checked (heads, the first TLS message, chunked bodies)
 * are in its buffer; those at its start that may be sent are "ready". Once nothing more must be
 * checked, "left" says how many bytes pass unread, by splice through a pipe: they never enter this
 * process.
 *
 * Nothing is read while something waits to be written. So a side that does not accept its bytes
 * stops the other one, and a stream holds at most one buffer and one pipe. A pipe is borrowed only
 * while something is in it, and there are few: one takes two descriptors and a MiB of kernel
 * memory. Without a pipe bytes are copied.
 */
#ifndef CK_EGRESS_RELAY_H
#define CK_EGRESS_RELAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ck_relay_pipe;

/* Zero-filled is empty. */
struct ck_relay_pipes {
    struct ck_relay_pipe *free; /* not lent now */
    unsigned count;             /* of these */
    unsigned borrowed;          /* lent to streams */
    bool withheld;              /* the next borrower already has its share */
    int fd_limit;               /* no pipe has a descriptor from this number on; 0: no limit */
};

void ck_relay_pipes_done(struct ck_relay_pipes *pipes);

/* How many can still be lent. */
unsigned ck_relay_pipes_left(const struct ck_relay_pipes *pipes);

struct ck_relay_buffer {
    char *data;
    size_t length;
    size_t capacity;
};

enum ck_wait {
    CK_WAIT_NOTHING = 0, /* everything ready is sent, and nothing may pass unread */
    CK_WAIT_SOURCE,      /* nothing to read */
    CK_WAIT_SINK,        /* it does not accept more */
    CK_WAIT_TURN,        /* moved as much as one turn may; both sides may be ready */
    CK_WAIT_END,         /* the source has ended, and everything is sent */
    CK_WAIT_SPENT,       /* the budget is used up */
};

/* Zero-filled is a stream that passes nothing. */
struct ck_relay_stream {
    struct ck_relay_buffer buffer; /* read, not yet written */
    size_t ready;                  /* of these may be sent */
    /* of these were written by the proxy itself, and are not counted */
    size_t own;
    uint64_t left;              /* may pass unread once the buffer is empty; UINT64_MAX: all */
    struct ck_relay_pipe *pipe; /* NULL: nothing is in a pipe */
    size_t piped;               /* bytes in it */
    bool ended;                 /* the source has ended */
    bool broken_pipe;           /* the peer of the sink was gone: a SIGPIPE may have been raised */
    uint64_t moved;             /* since it was last set to 0 */
    enum ck_wait wait;          /* why the last pump stopped */
};

/* What is left in it is lost. */
void ck_relay_stream_done(struct ck_relay_stream *stream, struct ck_relay_pipes *pipes);

/* Makes room for this many bytes. Returns 0 or -ENOMEM. */
int ck_relay_buffer_reserve(struct ck_relay_buffer *buffer, size_t capacity);
int ck_relay_buffer_append(struct ck_relay_buffer *buffer, const void *data, size_t length);
/* Puts other bytes in the place of the first ones. Returns 0 or -ENOMEM. */
int ck_relay_buffer_replace(struct ck_relay_buffer *buffer, size_t length, const void *data, size_t data_length);
void ck_relay_buffer_drop(struct ck_relay_buffer *buffer, size_t length);
void ck_relay_buffer_done(struct ck_relay_buffer *buffer);

/*
 * Reads once into the buffer, which grows up to max_bytes. Returns 1: something arrived, or the
 * source ended (stream->ended); 0: nothing is there, or no room; a negative errno: the connection
 * is broken, or no memory.
 */
int ck_relay_stream_fill(struct ck_relay_stream *stream, int from_fd, size_t max_bytes);

/*
 * Moves what it can without waiting from fds[0] to fds[1], at most turn_bytes and at most *budget,
 * which is reduced. stream->wait then says what it waits for. Returns 0, or a negative errno: one
 * of the two is broken.
 */
int ck_relay_stream_pump(struct ck_relay_stream *stream, struct ck_relay_pipes *pipes, const int fds[2],
                         uint64_t turn_bytes, uint64_t *budget);

#endif
