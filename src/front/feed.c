/*
 * feed.c - moves bytes from a FIFO to a tool's standard input; see feed.h.
 *
 * The FIFO is open with O_NONBLOCK. Before a first writer has come and gone, poll(2) does not
 * report a hang-up on it: the kernel compares a count of writers with the one at the time of the
 * open. So what poll reports is input or the end.
 */
#include "front/feed.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define MOVE_BYTES ((size_t)1 << 16)

static void close_one(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -1;
}

int ck_feed_begin(struct ck_feed *feed, int fifo_fd)
{
    /* The pipe blocks for the tool; splice below is nonblocking by its flag. */
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -errno;
    *feed = (struct ck_feed){.from_fd = fifo_fd, .to_fd = ends[1], .tool_fd = ends[0]};
    return 0;
}

void ck_feed_end(struct ck_feed *feed)
{
    /* Owned by the caller, so it is not closed here. */
    feed->from_fd = -1;
    close_one(&feed->to_fd);
    close_one(&feed->tool_fd);
}

/* poll(2) ignores a descriptor of -1. */
struct pollfd ck_feed_poll(const struct ck_feed *feed)
{
    if (feed->from_fd >= 0 && feed->is_full)
        return (struct pollfd){.fd = feed->to_fd, .events = POLLOUT};
    return (struct pollfd){.fd = feed->from_fd, .events = POLLIN};
}

/* splice returns EAGAIN for either end, so the pipe is polled to see which one it was. */
static bool has_no_room(const struct ck_feed *feed)
{
    struct pollfd room = {.fd = feed->to_fd, .events = POLLOUT};
    return poll(&room, 1, 0) == 0;
}

/* SIGPIPE, from a tool that has closed its input, is blocked (session.c). */
void ck_feed_move(struct ck_feed *feed, short revents)
{
    if (feed->from_fd < 0 || revents == 0)
        return;
    ssize_t moved = splice(feed->from_fd, NULL, feed->to_fd, NULL, MOVE_BYTES, SPLICE_F_NONBLOCK);
    feed->is_full = moved < 0 && errno == EAGAIN && has_no_room(feed);
    if (moved > 0 || (moved < 0 && (errno == EAGAIN || errno == EINTR)))
        return;
    feed->from_fd = -1; /* the last writer is gone, or the tool has closed its input */
    close_one(&feed->to_fd);
}
