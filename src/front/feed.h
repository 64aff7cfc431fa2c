/*
 * feed.h - a FIFO as a tool's standard input.
 *
 * A normal open of a FIFO waits for a writer, and no deadline exists yet. Opened with O_NONBLOCK, a
 * FIFO without a writer reads as ended at once. So the tool gets a pipe, and bytes from the FIFO
 * are moved there while the run is waited for. The tool waits for its input as usual, and the
 * deadline of the run applies.
 *
 *   1. ck_feed_begin   makes the pipe; tool_fd is for the request.
 *   2. ck_feed_poll    what to poll, before each wait.
 *   3. ck_feed_move    after each wait.
 *   4. ck_feed_end     also for a zero-filled struct with descriptors of -1.
 */
#ifndef CK_FRONT_FEED_H
#define CK_FRONT_FEED_H

#include <poll.h>
#include <stdbool.h>

struct ck_feed {
    int from_fd;  /* the FIFO, owned by the caller; -1: nothing to move, or no more */
    int to_fd;    /* the end that is written; -1: closed, so that the tool sees the end */
    int tool_fd;  /* the end that the tool reads */
    bool is_full; /* the tool has to read first */
};

#define CK_FEED_NONE \
    (struct ck_feed) \
    { \
        .from_fd = -1, .to_fd = -1, .tool_fd = -1 \
    }

/* Returns 0 or a negative errno. */
int ck_feed_begin(struct ck_feed *feed, int fifo_fd);
struct pollfd ck_feed_poll(const struct ck_feed *feed);
void ck_feed_move(struct ck_feed *feed, short revents);
void ck_feed_end(struct ck_feed *feed);

#endif
