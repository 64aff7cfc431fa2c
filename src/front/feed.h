/*
 * feed.h - a FIFO as a tool's standard input.
 *
 * A FIFO must not be opened in the usual way: that waits for a writer, and no deadline exists yet. Opened without waiting,
 * a FIFO that nobody writes to reads as ended at once. So the tool gets a pipe, and what comes through the FIFO is moved
 * there while the run is waited for: the tool waits for its input as it would have, and the run's deadline holds.
 *
 *   1. ck_feed_begin   makes the pipe; tool_fd is for the request.
 *   2. ck_feed_poll    what to wait for, before each wait.
 *   3. ck_feed_move    after it.
 *   4. ck_feed_end     zero-filled but for the descriptors -1 is fine.
 */
#ifndef CK_FRONT_FEED_H
#define CK_FRONT_FEED_H

#include <poll.h>
#include <stdbool.h>

struct ck_feed {
    int from_fd; /* the FIFO; the caller's. -1: there is nothing to move, or no more */
    int to_fd;
    int tool_fd;
    bool is_full; /* the tool has to read first */
};

#define CK_FEED_NONE \
    (struct ck_feed) \
    { \
        .from_fd = -1, .to_fd = -1, .tool_fd = -1 \
    }

/* 0 or a negative errno. */
int ck_feed_begin(struct ck_feed *feed, int fifo_fd);
struct pollfd ck_feed_poll(const struct ck_feed *feed);
void ck_feed_move(struct ck_feed *feed, short revents);
void ck_feed_end(struct ck_feed *feed);

#endif
