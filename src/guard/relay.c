/* relay.c - see relay.h. */
#include "guard/relay.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROUNDS 16 /* of one call, so that a fast stream does not stop the others */

int ck_guard_relay_begin(struct ck_guard_relay *relay, int cage_fd, bool to_tool, int *ret_tool_fd)
{
    CK_FD owned = cage_fd;
    struct stat status;
    int pair[2];
    if (fstat(owned, &status) < 0 || pipe2(pair, O_CLOEXEC) < 0)
        return -errno;
    CK_FD ours = pair[to_tool ? 1 : 0];
    CK_FD theirs = pair[to_tool ? 0 : 1];
    bool socket = S_ISSOCK(status.st_mode);
    CK_FD left_fd = to_tool && !socket ? fcntl(theirs, F_DUPFD_CLOEXEC, 3) : -1;
    if (fcntl(ours, F_SETFL, O_NONBLOCK) < 0 || (to_tool && !socket && left_fd < 0))
        return -errno;
    char *buffer = malloc(CK_GUARD_RELAY_BYTES);
    if (!buffer)
        return -ENOMEM;
    *relay = (struct ck_guard_relay){.cage_fd = ck_fd_take(&owned),
                                     .pipe_fd = ck_fd_take(&ours),
                                     .left_fd = ck_fd_take(&left_fd),
                                     .to_tool = to_tool,
                                     .socket = socket,
                                     .buffer = buffer};
    *ret_tool_fd = ck_fd_take(&theirs);
    return 0;
}

static ssize_t result_of(ssize_t r)
{
    return r < 0 ? -errno : r;
}

static ssize_t read_some(struct ck_guard_relay *relay)
{
    int fd = relay->to_tool ? relay->cage_fd : relay->pipe_fd;
    if (relay->to_tool && relay->socket)
        return result_of(recv(fd, relay->buffer, CK_GUARD_RELAY_BYTES, MSG_DONTWAIT));
    return result_of(read(fd, relay->buffer, CK_GUARD_RELAY_BYTES));
}

static ssize_t write_some(const struct ck_guard_relay *relay)
{
    const char *bytes = relay->buffer + relay->at;
    size_t length = relay->end - relay->at;
    if (relay->to_tool)
        return result_of(write(relay->pipe_fd, bytes, length));
    if (relay->socket)
        return result_of(send(relay->cage_fd, bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL));
    return ck_fd_write(relay->cage_fd, bytes, length);
}

/* A file never waits, so then the pipe is what it waits for. */
int ck_guard_relay_waits_for(const struct ck_guard_relay *relay, bool *ret_reads)
{
    bool writes = relay->at < relay->end || (relay->to_tool && !relay->socket);
    *ret_reads = !writes;
    if (relay->pipe_fd < 0)
        return -1;
    return writes == relay->to_tool ? relay->pipe_fd : relay->cage_fd;
}

/* The tool sees the end of its input, or cannot write any more. */
static bool stop(struct ck_guard_relay *relay)
{
    ck_fd_close(&relay->pipe_fd);
    if (relay->left_fd < 0)
        ck_fd_close(&relay->cage_fd);
    return true;
}

bool ck_guard_relay_move(struct ck_guard_relay *relay)
{
    for (int i = 0; i < ROUNDS && relay->pipe_fd >= 0; i++) {
        if (relay->at == relay->end) {
            ssize_t got = read_some(relay);
            if (got == -EAGAIN || got == -EINTR)
                return false;
            if (got <= 0)
                return stop(relay);
            relay->at = 0;
            relay->end = (size_t)got;
        }
        ssize_t written = write_some(relay);
        if (written == -EAGAIN || written == -EINTR)
            return false;
        if (written < 0)
            return stop(relay);
        relay->at += (size_t)written;
    }
    return relay->pipe_fd < 0;
}

void ck_guard_relay_end(struct ck_guard_relay *relay)
{
    int unread = 0;
    if (relay->left_fd >= 0 && ioctl(relay->left_fd, FIONREAD, &unread) == 0) {
        off_t back = (off_t)unread + (off_t)(relay->end - relay->at);
        if (back > 0)
            (void)lseek(relay->cage_fd, -back, SEEK_CUR);
    }
    ck_fd_close(&relay->left_fd);
    ck_fd_close(&relay->pipe_fd);
    ck_fd_close(&relay->cage_fd);
    free(relay->buffer);
    relay->buffer = NULL;
}
