/* connection.c - see connection.h. */
#include "guard/connection.h"

#include "base/clock.h"
#include "base/fd.h"
#include "front/text.h"
#include "guard/handover.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define MESSAGES_ROUND 8 /* of one door, so that a fast one does not stop the others */

struct ck_guard_connection *ck_guard_connection_new(int fd, uint64_t now_ns)
{
    struct ck_guard_connection *connection = calloc(1, sizeof(*connection));
    if (!connection) {
        ck_fd_close(&fd);
        return NULL;
    }
    connection->fd = fd;
    connection->since_ns = now_ns;
    return connection;
}

void ck_guard_connection_free(struct ck_guard_connection *connection)
{
    ck_door_call_done(&connection->call);
    for (unsigned i = 0; i < connection->relays_count; i++)
        ck_guard_relay_end(&connection->relays[i]);
    ck_fd_close(&connection->fd);
    free(connection);
}

void ck_guard_connection_busy(int fd)
{
    static const struct ck_door_simple busy = {.kind = CK_DOOR_BUSY};
    (void)send(fd, &busy, sizeof(busy), MSG_DONTWAIT | MSG_NOSIGNAL);
    ck_fd_close(&fd);
}

/* ---- the end ---- */

static void set_end(struct ck_guard_connection *connection, enum ck_door_how how, int value)
{
    connection->end = (struct ck_door_end){.kind = CK_DOOR_END, .how = (uint32_t)how, .value = (uint32_t)value};
    connection->state = CK_GUARD_DRAINING;
}

static __attribute__((format(printf, 2, 3))) void say(struct ck_guard_connection *connection, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(connection->says, sizeof(connection->says), format, args);
    va_end(args);
    connection->end.says_bytes = length < 0                                ? 0
                                 : length >= (int)sizeof(connection->says) ? (uint32_t)sizeof(connection->says) - 1
                                                                           : (uint32_t)length;
}

/* A call that did not run. */
static void refuse(struct ck_guard_connection *connection, const struct choke_error *error)
{
    bool missing = error->outcome == CHOKE_TOOL_MISSING;
    set_end(connection, CK_DOOR_EXITED, missing ? CK_DOOR_STATUS_NOT_FOUND : CK_DOOR_STATUS_REFUSED);
    say(connection, "chokepoint: %s\n", error->message);
}

static void fail(struct ck_guard_connection *connection, struct ck_guard_calls *calls, const char *why)
{
    calls->malformed++;
    set_end(connection, CK_DOOR_EXITED, CK_DOOR_STATUS_REFUSED);
    say(connection, "chokepoint: the call was refused: %s\n", why);
}

static void send_end(struct ck_guard_connection *connection)
{
    struct iovec parts[2] = {{.iov_base = &connection->end, .iov_len = sizeof(connection->end)},
                             {.iov_base = connection->says, .iov_len = connection->end.says_bytes}};
    const struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    if (connection->fd >= 0)
        (void)sendmsg(connection->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    ck_fd_close(&connection->fd);
    connection->state = CK_GUARD_OVER;
}

/* ---- descriptors ---- */

/*
 * A caller without one of the three: EBADF for what the tool reads or writes there, as without guard. The
 * number must not be free, or the next file that the tool opens would be its output.
 */
static int add_null(struct choke_guard_inherited *inherited, int number)
{
    int fd = open("/dev/null", (number == 0 ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    inherited->fds[number] = fd;
    inherited->numbers[number] = number;
    return 0;
}

static int copy_stream(struct ck_guard_connection *connection, int number, int *fd)
{
    struct ck_guard_relay *relay = &connection->relays[connection->relays_count];
    int cage_fd = ck_fd_take(fd);
    int r = ck_guard_relay_begin(relay, cage_fd, number == 0, fd);
    connection->relays_count += r == 0 ? 1 : 0;
    return r;
}

/*
 * The three streams first, then the others that may be given; those that may not are left out. A call
 * whose stream may not be given is refused: it would read or write something else.
 */
static int hand_over(struct ck_guard_connection *connection, struct choke_guard_inherited *ret_inherited,
                     const char **ret_why)
{
    struct choke_guard_inherited *from = &connection->call.inherited;
    int r = 0;
    *ret_inherited = *from;
    for (int i = 0; i < 3; i++)
        ret_inherited->fds[i] = -1;
    ret_inherited->fd_count = 3;
    for (unsigned i = 0; i < from->fd_count && r == 0; i++) {
        int number = from->numbers[i];
        enum ck_handover how = ck_handover_of(from->fds[i]);
        if (number > 2 && how == CK_HANDOVER_DIRECT) {
            ret_inherited->numbers[ret_inherited->fd_count] = number;
            ret_inherited->fds[ret_inherited->fd_count++] = ck_fd_take(&from->fds[i]);
        } else if (number <= 2 && how != CK_HANDOVER_REFUSED) {
            ret_inherited->numbers[number] = number;
            ret_inherited->fds[number] = ck_fd_take(&from->fds[i]);
            if (how == CK_HANDOVER_COPIED)
                r = copy_stream(connection, number, &ret_inherited->fds[number]);
        } else if (number <= 2) {
            *ret_why = ck_handover_name(from->fds[i]);
            r = -EPERM;
        }
    }
    for (int i = 0; i < 3 && r == 0; i++)
        r = ret_inherited->fds[i] < 0 ? add_null(ret_inherited, i) : 0;
    return r;
}

/* ---- the call ---- */

static void start(struct ck_guard_connection *connection, struct choke_guard *guard, struct ck_guard_calls *calls)
{
    struct ck_door_call *call = &connection->call;
    struct choke_guard_inherited inherited;
    struct choke_error error = {0};
    const char *why = NULL;
    int r = hand_over(connection, &inherited, &why);
    if (r < 0) {
        choke_guard_inherited_done(&inherited);
        (void)ck_text_error(&error, CHOKE_DISALLOWED, -r, "a stream of the call cannot be given to the tool: it is %s",
                            why ? why : strerror(-r));
        calls->refused++;
        refuse(connection, &error);
        return;
    }
    const struct choke_guard_call wanted = {.file = call->file,
                                            .executed = call->executed,
                                            .argv = call->argv,
                                            .variables = call->variables,
                                            .cwd = call->cwd,
                                            .inherited = &inherited,
                                            .job_data = connection};
    if (choke_guard_call(guard, &wanted, &connection->job, &error) < 0) {
        calls->refused++;
        refuse(connection, &error);
        return;
    }
    connection->state = CK_GUARD_RUNNING;
    connection->since_ns = ck_clock_now_ns();
    /* The texts are copied by now; they may be large. */
    ck_door_call_done(call);
    call->whole = true;
}

/* The door is gone: by its death, or because it was told to end. */
static void lose(struct ck_guard_connection *connection, struct ck_guard_calls *calls)
{
    ck_fd_close(&connection->fd);
    if (connection->state == CK_GUARD_COLLECTING) {
        calls->abandoned++;
        connection->state = CK_GUARD_OVER;
    } else if (connection->state == CK_GUARD_RUNNING) {
        choke_cancel(connection->job);
    } else {
        connection->state = CK_GUARD_OVER;
    }
}

/* What it has said may still be there, but nobody waits for the answer. */
static bool is_gone(const struct ck_guard_connection *connection)
{
    struct pollfd polled = {.fd = connection->fd};
    return poll(&polled, 1, 0) > 0;
}

/* -EAGAIN: there is none now. 0: the door is gone. fds: as many as a message may have, and one more. */
static ssize_t receive_one(int fd, struct iovec *part, int *ret_fds, unsigned *ret_count)
{
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE((CK_DOOR_FDS_PER_MESSAGE + 1) * sizeof(int))];
    } control;
    struct msghdr message = {
        .msg_iov = part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
    *ret_count = 0;
    ssize_t got = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (got < 0)
        return errno == EINTR ? -EAGAIN : -errno;
    const struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) {
        *ret_count = (unsigned)((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        memcpy(ret_fds, CMSG_DATA(header), *ret_count * sizeof(int));
    }
    /* What the kernel had no room for is lost, and with it the meaning of the message. */
    return (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0 ? -EPROTO : got;
}

/* False: nothing more can be received now. */
static bool receive_message(struct ck_guard_connection *connection, struct choke_guard *guard,
                            struct ck_guard_calls *calls)
{
    static char buffer[CK_DOOR_MESSAGE_MAX];
    struct iovec part = {.iov_base = buffer, .iov_len = sizeof(buffer)};
    int fds[CK_DOOR_FDS_PER_MESSAGE + 1];
    unsigned count = 0;
    int sig = 0;
    ssize_t got = receive_one(connection->fd, &part, fds, &count);
    if (got == -EAGAIN)
        return false;
    if (got == 0 || got == -ECONNRESET) {
        lose(connection, calls);
        return false;
    }
    /* With 0 bytes it only closes the descriptors. */
    int r = ck_door_call_take(&connection->call, buffer, got < 0 ? 0 : (size_t)got, fds, count, &sig);
    if (r == 2) {
        choke_guard_signal(connection->job, sig);
    } else if (r == 1 && !is_gone(connection)) {
        start(connection, guard, calls);
    } else if (r < 0 && connection->state == CK_GUARD_COLLECTING) {
        fail(connection, calls, r == -ENOMEM ? "out of memory" : "its messages are malformed");
    } else if (r != 0) {
        lose(connection, calls);
    }
    return connection->fd >= 0 && r >= 0;
}

void ck_guard_connection_receive(struct ck_guard_connection *connection, struct choke_guard *guard,
                                 struct ck_guard_calls *calls)
{
    for (int i = 0; i < MESSAGES_ROUND && connection->fd >= 0 && connection->state <= CK_GUARD_RUNNING; i++)
        if (!receive_message(connection, guard, calls))
            break;
    ck_guard_connection_move(connection);
}

void ck_guard_connection_report_start(struct ck_guard_connection *connection)
{
    static const struct ck_door_simple started = {.kind = CK_DOOR_STARTED};
    if (connection->fd >= 0)
        (void)send(connection->fd, &started, sizeof(started), MSG_DONTWAIT | MSG_NOSIGNAL);
    connection->reported = true;
}

void ck_guard_connection_expire(struct ck_guard_connection *connection, struct ck_guard_calls *calls)
{
    fail(connection, calls, "its messages did not come in time");
    ck_guard_connection_move(connection);
}

/* ---- the result ---- */

void ck_guard_connection_ended(struct ck_guard_connection *connection, struct ck_guard_calls *calls)
{
    const struct choke_result *result = choke_job_result(connection->job);
    bool ran = !!result->jail;
    calls->ran += ran ? 1 : 0;
    calls->refused += ran ? 0 : 1;
    calls->unrecorded += result->unrecorded ? 1 : 0;
    if (result->outcome == CHOKE_EXITED) {
        set_end(connection, CK_DOOR_EXITED, result->exit_code);
    } else if (result->outcome == CHOKE_SIGNALED) {
        set_end(connection, CK_DOOR_SIGNALED, result->signal);
    } else if (result->outcome == CHOKE_TIMEOUT) {
        set_end(connection, CK_DOOR_EXITED, CK_DOOR_STATUS_TIMEOUT);
        say(connection, "chokepoint: %s\n", result->error.message);
    } else if (result->outcome == CHOKE_CANCELLED) {
        set_end(connection, CK_DOOR_SIGNALED, SIGKILL);
    } else {
        refuse(connection, &result->error);
    }
    choke_job_free(connection->job);
    connection->job = NULL;
    ck_guard_connection_move(connection);
}

void ck_guard_connection_move(struct ck_guard_connection *connection)
{
    bool idle = true;
    for (unsigned i = 0; i < connection->relays_count; i++) {
        struct ck_guard_relay *relay = &connection->relays[i];
        bool over = relay->pipe_fd < 0 || ck_guard_relay_move(relay);
        idle = idle && (over || relay->to_tool || connection->fd < 0);
    }
    if (connection->state != CK_GUARD_DRAINING || !idle)
        return;
    /* Before the door ends: the next process may read from the same file. */
    for (unsigned i = 0; i < connection->relays_count; i++)
        ck_guard_relay_end(&connection->relays[i]);
    connection->relays_count = 0;
    send_end(connection);
}
