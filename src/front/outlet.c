/*
 * outlet.c - writes to a descriptor without blocking in write(2); see outlet.h.
 *
 * It polls before every write and writes no more than poll promised: a pipe that polls writable
 * accepts at least PIPE_BUF bytes without blocking. A regular file never blocks in this sense and
 * gets everything at once.
 */
#include "front/outlet.h"

#include "base/clock.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

void ck_outlet_deadline(struct ck_outlet *outlet, uint64_t timeout_ms)
{
    if (__builtin_add_overflow(ck_clock_now_ms(), timeout_ms, &outlet->deadline_ms))
        outlet->deadline_ms = UINT64_MAX;
}

/* For poll: -1 waits without a limit, 0 does not wait. */
static int remaining_ms(const struct ck_outlet *outlet)
{
    if (outlet->deadline_ms == 0)
        return -1;
    uint64_t now = ck_clock_now_ms();
    if (now >= outlet->deadline_ms)
        return 0;
    uint64_t remaining = outlet->deadline_ms - now;
    return remaining > INT_MAX ? INT_MAX : (int)remaining;
}

/* True if a write will not block, or will report an error. */
static bool wait_writable(struct ck_outlet *outlet)
{
    /* poll ignores a wake_fd of -1. */
    struct pollfd fds[] = {{.fd = outlet->fd, .events = POLLOUT}, {.fd = outlet->wake_fd, .events = POLLIN}};
    int r;

    do
        r = poll(fds, 2, remaining_ms(outlet));
    while (r < 0 && errno == EINTR);
    if (r < 0)
        outlet->error = errno;
    /* wake_fd became readable, or the deadline has passed: stop waiting, and drop the rest. */
    else if (fds[0].revents == 0)
        outlet->cut = true;
    return r > 0 && fds[0].revents != 0;
}

/* Without a deadline and a wake_fd a write may block, so everything is written at once. */
static size_t piece_bytes(const struct ck_outlet *outlet)
{
    struct stat status;

    if (outlet->wake_fd < 0 && outlet->deadline_ms == 0)
        return SSIZE_MAX;
    return fstat(outlet->fd, &status) == 0 && S_ISREG(status.st_mode) ? SSIZE_MAX : PIPE_BUF;
}

void ck_outlet_write(struct ck_outlet *outlet, const void *data, size_t length)
{
    const char *bytes = data;
    size_t most = piece_bytes(outlet);

    while (length > 0 && outlet->error == 0 && !outlet->cut) {
        if (!wait_writable(outlet))
            return;
        /*
         * EAGAIN is possible: another process may have made the descriptor nonblocking. Then poll
         * again.
         */
        ssize_t written = write(outlet->fd, bytes, length < most ? length : most);
        if (written > 0) {
            bytes += written;
            length -= (size_t)written;
        } else if (written < 0 && errno != EINTR && errno != EAGAIN) {
            outlet->error = errno;
        }
    }
}

/* Formatted first, so that a line goes out with one write if possible. */
void ck_outlet_print(struct ck_outlet *outlet, const char *format, ...)
{
    char *text = NULL;
    va_list args;

    va_start(args, format);
    int length = vasprintf(&text, format, args);
    va_end(args);
    if (length < 0) {
        outlet->error = ENOMEM;
        return;
    }
    ck_outlet_write(outlet, text, (size_t)length);
    free(text);
}
