/*
 * relay.c - moves bytes between two sockets, by splice or by copying.
 *
 * splice(2) moves references to the pages of one socket's queue into a pipe, and from there into
 * the queue of the other socket, so that a proxy needs no copy. The pipe is emptied before it is
 * filled again: EAGAIN then has one meaning on each side. Must not use SPLICE_F_MORE: the kernel
 * would hold back the last bytes.
 */
#include "egress/relay.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PIPE_BYTES (1024 * 1024) /* what an unprivileged user may have (fs.pipe-max-size) */
#define PIPES_IDLE_MAX 16
#define PIPES_BORROWED_MAX 32 /* half of what the pipes of an unprivileged user may hold together */
/* first size of a buffer; it doubles */
#define BUFFER_FIRST 4096
/* a piece, where bytes are copied for lack of a pipe */
#define COPY_BYTES 16384

/* Lent to a stream, or in the list of free ones. Nonblocking at both ends. */
struct ck_relay_pipe {
    struct ck_relay_pipe *next;
    int read_fd, write_fd;
    size_t capacity;
};

/* ---- pipes ------------------------------------------------------------------------------- */

static void pipe_free(struct ck_relay_pipe *pipe)
{
    ck_fd_close(&pipe->read_fd);
    ck_fd_close(&pipe->write_fd);
    free(pipe);
}

static struct ck_relay_pipe *pipe_new(int fd_limit)
{
    int ends[2];
    struct ck_relay_pipe *pipe = malloc(sizeof(*pipe));
    if (!pipe)
        return NULL;
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0) {
        free(pipe);
        return NULL;
    }
    /* The kernel gives the lowest free number, so a high one means that descriptors are scarce. */
    if (fd_limit != 0 && (ends[0] >= fd_limit || ends[1] >= fd_limit)) {
        ck_fd_close(&ends[0]);
        ck_fd_close(&ends[1]);
        free(pipe);
        return NULL;
    }
    /* Beyond fs.pipe-user-pages-soft the kernel refuses, and the pipe keeps its size. */
    int size = fcntl(ends[1], F_SETPIPE_SZ, PIPE_BYTES);
    if (size < 0)
        size = fcntl(ends[1], F_GETPIPE_SZ);
    *pipe = (struct ck_relay_pipe){.read_fd = ends[0], .write_fd = ends[1], .capacity = size > 0 ? (size_t)size : 4096};
    return pipe;
}

/* NULL: bytes are copied instead. */
static struct ck_relay_pipe *borrow(struct ck_relay_pipes *pipes)
{
    struct ck_relay_pipe *pipe = pipes->free;
    if (pipes->borrowed >= PIPES_BORROWED_MAX || pipes->withheld)
        return NULL;
    if (pipe) {
        pipes->free = pipe->next;
        pipes->count--;
    } else {
        pipe = pipe_new(pipes->fd_limit);
    }
    pipes->borrowed += !!pipe;
    return pipe;
}

unsigned ck_relay_pipes_left(const struct ck_relay_pipes *pipes)
{
    return PIPES_BORROWED_MAX - pipes->borrowed;
}

static void give_back(struct ck_relay_pipes *pipes, struct ck_relay_pipe *pipe, bool empty)
{
    pipes->borrowed--;
    /* A pipe that still holds bytes of one connection must not serve another. */
    if (!empty || pipes->count >= PIPES_IDLE_MAX) {
        pipe_free(pipe);
        return;
    }
    pipe->next = pipes->free;
    pipes->free = pipe;
    pipes->count++;
}

void ck_relay_pipes_done(struct ck_relay_pipes *pipes)
{
    for (struct ck_relay_pipe *pipe = pipes->free, *next; pipe; pipe = next) {
        next = pipe->next;
        pipe_free(pipe);
    }
    *pipes = (struct ck_relay_pipes){0};
}

/* ---- buffers ----------------------------------------------------------------------------- */

int ck_relay_buffer_reserve(struct ck_relay_buffer *buffer, size_t capacity)
{
    if (capacity <= buffer->capacity)
        return 0;
    char *data = realloc(buffer->data, capacity);
    if (!data)
        return -ENOMEM;
    buffer->data = data;
    buffer->capacity = capacity;
    return 0;
}

int ck_relay_buffer_append(struct ck_relay_buffer *buffer, const void *data, size_t length)
{
    size_t needed;
    if (__builtin_add_overflow(buffer->length, length, &needed))
        return -ENOMEM;
    int r = ck_relay_buffer_reserve(buffer, needed);
    if (r == 0 && length > 0) {
        memcpy(buffer->data + buffer->length, data, length);
        buffer->length = needed;
    }
    return r;
}

int ck_relay_buffer_replace(struct ck_relay_buffer *buffer, size_t length, const void *data, size_t data_length)
{
    size_t rest = buffer->length - length;
    int r = ck_relay_buffer_reserve(buffer, data_length + rest);
    if (r != 0)
        return r;
    memmove(buffer->data + data_length, buffer->data + length, rest);
    memcpy(buffer->data, data, data_length);
    buffer->length = data_length + rest;
    return 0;
}

void ck_relay_buffer_drop(struct ck_relay_buffer *buffer, size_t length)
{
    buffer->length -= length;
    if (buffer->length > 0)
        memmove(buffer->data, buffer->data + length, buffer->length);
}

void ck_relay_buffer_done(struct ck_relay_buffer *buffer)
{
    free(buffer->data);
    *buffer = (struct ck_relay_buffer){0};
}

/* ---- streams ----------------------------------------------------------------------------- */

void ck_relay_stream_done(struct ck_relay_stream *stream, struct ck_relay_pipes *pipes)
{
    ck_relay_buffer_done(&stream->buffer);
    if (stream->pipe)
        give_back(pipes, stream->pipe, stream->piped == 0);
    *stream = (struct ck_relay_stream){0};
}

/* EINTR counts too: epoll reports the descriptor again. */
static bool would_wait(int errnum)
{
    return errnum == EAGAIN || errnum == EINTR;
}

int ck_relay_stream_fill(struct ck_relay_stream *stream, int from_fd, size_t max_bytes)
{
    struct ck_relay_buffer *buffer = &stream->buffer;
    if (stream->ended || buffer->length >= max_bytes)
        return 0;
    if (buffer->length == buffer->capacity) {
        size_t wanted = buffer->capacity < BUFFER_FIRST ? BUFFER_FIRST : buffer->capacity * 2;
        int r = ck_relay_buffer_reserve(buffer, wanted < max_bytes ? wanted : max_bytes);
        if (r != 0)
            return r;
    }
    size_t room = (buffer->capacity < max_bytes ? buffer->capacity : max_bytes) - buffer->length;
    /* MSG_DONTWAIT, so that it does not depend on the flags of the descriptor */
    ssize_t n = recv(from_fd, buffer->data + buffer->length, room, MSG_DONTWAIT);
    if (n < 0)
        return would_wait(errno) ? 0 : -errno;
    if (n == 0)
        stream->ended = true;
    buffer->length += (size_t)n;
    return 1;
}

static size_t lesser(uint64_t a, uint64_t b)
{
    return (size_t)(a < b ? a : b);
}

/* Sends ready bytes of the buffer. Returns as pump_once. */
static int write_ready(struct ck_relay_stream *stream, int to_fd, uint64_t turn_bytes, uint64_t *budget)
{
    /* Bytes of the proxy itself, such as an answer, are sent even if the budget is spent. */
    if (stream->own == 0 && *budget == 0) {
        stream->wait = CK_WAIT_SPENT;
        return 0;
    }
    size_t some = stream->own + lesser(stream->ready - stream->own, lesser(turn_bytes, *budget));
    ssize_t n = send(to_fd, stream->buffer.data, some, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && !would_wait(errno))
        return -errno;
    if (n < 0) {
        stream->wait = CK_WAIT_SINK;
        return 0;
    }
    /* the proxy's own bytes are first in the buffer */
    size_t counted = (size_t)n > stream->own ? (size_t)n - stream->own : 0;
    stream->own -= (size_t)n - counted;
    stream->ready -= (size_t)n;
    stream->moved += counted;
    *budget -= counted;
    ck_relay_buffer_drop(&stream->buffer, (size_t)n);
    return n > 0 ? 1 : 0;
}

/* From the pipe to the sink. The budget was spent when the bytes entered the pipe. */
static int pipe_out(struct ck_relay_stream *stream, int to_fd, uint64_t turn_bytes)
{
    ssize_t n = splice(stream->pipe->read_fd, NULL, to_fd, NULL, lesser(stream->piped, turn_bytes),
                       SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
    if (n < 0 && !would_wait(errno)) {
        /* splice has no MSG_NOSIGNAL, so the caller must discard a SIGPIPE. */
        stream->broken_pipe = errno == EPIPE;
        return -errno;
    }
    if (n < 0) {
        stream->wait = CK_WAIT_SINK;
        return 0;
    }
    stream->piped -= (size_t)n;
    stream->moved += (uint64_t)n;
    return 1;
}

/*
 * Without a pipe (too many are lent, or no descriptor is left) bytes are copied: slower, but the
 * connection continues.
 */
static int copy_in(struct ck_relay_stream *stream, int from_fd, size_t most)
{
    int r = ck_relay_buffer_reserve(&stream->buffer, COPY_BYTES);
    if (r == 0)
        r = ck_relay_stream_fill(stream, from_fd, most < COPY_BYTES ? most : COPY_BYTES);
    if (r == 0)
        stream->wait = CK_WAIT_SOURCE;
    stream->ready = stream->buffer.length;
    if (r > 0 && stream->left != UINT64_MAX)
        stream->left -= stream->ready;
    return r;
}

/* From the source into the empty pipe, at most what may pass. */
static int pipe_in(struct ck_relay_stream *stream, struct ck_relay_pipes *pipes, int from_fd, uint64_t turn_bytes,
                   uint64_t *budget)
{
    size_t most = lesser(lesser(stream->left, *budget), turn_bytes);
    if (most == 0) {
        stream->wait = CK_WAIT_SPENT;
        return 0;
    }
    if (!stream->pipe)
        stream->pipe = borrow(pipes);
    if (!stream->pipe)
        return copy_in(stream, from_fd, most);
    if (most > stream->pipe->capacity)
        most = stream->pipe->capacity;
    ssize_t n = splice(from_fd, NULL, stream->pipe->write_fd, NULL, most, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
    if (n < 0 && !would_wait(errno))
        return -errno;
    if (n < 0) {
        stream->wait = CK_WAIT_SOURCE;
        return 0;
    }
    if (n == 0)
        stream->ended = true;
    stream->piped = (size_t)n;
    *budget -= (uint64_t)n;
    if (stream->left != UINT64_MAX)
        stream->left -= (uint64_t)n;
    return 1;
}

/*
 * One step. Returns 1: continue, or the turn is over; 0: stream->wait says why not; a negative
 * errno.
 */
static int pump_once(struct ck_relay_stream *stream, struct ck_relay_pipes *pipes, const int fds[2],
                     uint64_t turn_bytes, uint64_t *budget)
{
    bool passes = stream->left > 0 && stream->buffer.length == 0 && !stream->ended;
    /* There is more to do, but the turn is used up. */
    if (turn_bytes == 0 && (stream->piped > 0 || stream->ready > stream->own || passes))
        return 1;
    if (stream->piped > 0)
        return pipe_out(stream, fds[1], turn_bytes);
    if (stream->ready > 0)
        return write_ready(stream, fds[1], turn_bytes, budget);
    if (stream->ended) {
        stream->wait = CK_WAIT_END;
        return 0;
    }
    if (stream->left == 0 || stream->buffer.length > 0) {
        stream->wait = CK_WAIT_NOTHING;
        return 0;
    }
    return pipe_in(stream, pipes, fds[0], turn_bytes, budget);
}

int ck_relay_stream_pump(struct ck_relay_stream *stream, struct ck_relay_pipes *pipes, const int fds[2],
                         uint64_t turn_bytes, uint64_t *budget)
{
    uint64_t until = stream->moved + turn_bytes;
    int r = 1;
    do
        r = pump_once(stream, pipes, fds, until - stream->moved, budget);
    while (r > 0 && stream->moved < until);
    if (r > 0)
        stream->wait = CK_WAIT_TURN;
    if (stream->pipe && stream->piped == 0) {
        give_back(pipes, stream->pipe, true);
        stream->pipe = NULL;
    }
    /*
     * What had to be checked is sent, and nothing more will be checked. A tunnel can live long, so
     * the buffer is freed.
     */
    if (stream->left == UINT64_MAX && stream->buffer.length == 0)
        ck_relay_buffer_done(&stream->buffer);
    return r < 0 ? r : 0;
}
