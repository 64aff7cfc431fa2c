/*
 * listener.c - answers the system calls that the filter of a run notifies its first process of
 * (seccomp_unotify(2)).
 *
 * The kernel allows one listener in a chain of filters. So all that init wants to know of comes
 * through this one: connections (direct_attempts.c), executions (exec_names.c) and, if the caller
 * wants to know why a tool failed, files (why.c).
 *
 *  Must     answer every notification: the process that caused it waits.
 *  Must not make a system call that is notified: nobody would answer.
 */
#include "run/keeper/listener.h"

#include "base/door_wire.h"
#include "run/keeper/cage.h"
#include "run/keeper/direct_attempts.h"
#include "run/keeper/exec_names.h"
#include "run/keeper/native_jail.h"
#include "run/keeper/nolibc.h"
#include "run/keeper/why.h"
#include "sys/raw.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/ioctl.h>

#define ROOM 256 /* the structs of the kernel may be longer than ours */
/* From Linux 5.19; the headers of the build may be older. */
#define WAIT_KILLABLE 32u
/* From Linux 6.6: the processor of the process that asks goes to us at once, and back with the answer. */
#define SET_FLAGS SECCOMP_IOW(4, uint64_t)
#define SYNC_WAKE_UP 1

union notif_request {
    uint8_t room[ROOM];
    struct seccomp_notif notif;
};

union notif_reply {
    uint8_t room[ROOM];
    struct seccomp_notif_resp notif;
};

/* The kernel may have longer structs, but they must fit into ROOM. */
static long check_sizes(void)
{
    struct seccomp_notif_sizes sizes = {0};
    long r = CK_RAW3(seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes);
    if (r < 0)
        return r;
    bool known = sizes.seccomp_notif >= sizeof(struct seccomp_notif) &&
                 sizes.seccomp_notif_resp >= sizeof(struct seccomp_notif_resp);
    return known && sizes.seccomp_notif <= ROOM && sizes.seccomp_notif_resp <= ROOM ? 0 : -ENOTSUP;
}

/*
 * WAIT_KILLABLE: a signal with a handler does not interrupt a call that we have received. Without
 * it an execve could fail with EINTR, which no program expects.
 */
long ck_listener_install(const void *code, uint32_t count)
{
    const struct sock_fprog filter = {.len = (unsigned short)count, .filter = (void *)(uintptr_t)code};
    const unsigned flags = SECCOMP_FILTER_FLAG_NEW_LISTENER;
    long r = check_sizes();
    if (r < 0)
        return r;
    r = CK_RAW3(seccomp, SECCOMP_SET_MODE_FILTER, flags | WAIT_KILLABLE, &filter);
    if (r == -EINVAL)
        r = CK_RAW3(seccomp, SECCOMP_SET_MODE_FILTER, flags, &filter);
    /* Without it an answer only takes longer. */
    if (r >= 0)
        (void)CK_RAW3(ioctl, r, SET_FLAGS, SYNC_WAKE_UP);
    /*
     * EBUSY: a filter of this process already has a listener, for as long as we live. That is an
     * answer, not a shortage.
     */
    return r == -EBUSY ? -EOPNOTSUPP : r;
}

long ck_listener_begin(struct ck_listener *listener)
{
    static const uint64_t ended = UINT64_C(1) << (SIGCHLD - 1);
    if (listener->ended_fd >= 0)
        return 0;
    long r = CK_RAW4(rt_sigprocmask, SIG_BLOCK, &ended, NULL, sizeof(ended));
    if (r == 0)
        r = CK_RAW4(signalfd4, -1, &ended, sizeof(ended), O_CLOEXEC | O_NONBLOCK);
    listener->ended_fd = (int)r;
    return r < 0 ? r : 0;
}

bool ck_listener_still_asks(int listener_fd, const struct seccomp_notif *asked)
{
    return CK_RAW3(ioctl, listener_fd, SECCOMP_IOCTL_NOTIF_ID_VALID, &asked->id) == 0;
}

/* Begins to use it. */
static struct ck_exec_names *names_of(struct ck_listener *listener)
{
    listener->executed = true;
    listener->exec_names->jail = listener->jail;
    listener->exec_names->sealed = listener->sealed;
    listener->exec_names->tool = listener->tool;
    return listener->exec_names;
}

/*
 * 0: the call continues in the kernel. Negative: it fails with this errno. CK_CAGE_ANSWERED: it has its
 * answer.
 */
static int32_t judge(struct ck_listener *listener, const struct seccomp_notif *asked)
{
    if (asked->data.nr == CK_DOOR_CONNECT)
        return ck_cage_connect(names_of(listener), listener->fd, listener->caller_fd, asked);
    if (ck_exec_names_concerns(asked))
        return ck_exec_names_judge(names_of(listener), listener->fd, asked);
    if (ck_why_concerns(asked)) {
        ck_why_look(names_of(listener), listener->fd, asked);
        return 0;
    }
    listener->attempts->found_one = false;
    int32_t error = ck_direct_attempts_judge(listener->attempts, listener->fd, asked);
    if (listener->jail->program->why != 0 && listener->attempts->found_one)
        ck_why_connection(names_of(listener), asked, &listener->attempts->last);
    return error;
}

/*
 * The process may have been killed meanwhile: then there is nothing to receive, or nobody to
 * answer.
 */
static void answer(struct ck_listener *listener)
{
    union notif_request question = {.room = {0}};
    union notif_reply reply = {.room = {0}};
    if (CK_RAW3(ioctl, listener->fd, SECCOMP_IOCTL_NOTIF_RECV, &question) < 0)
        return;
    reply.notif.id = question.notif.id;
    reply.notif.error = judge(listener, &question.notif);
    if (reply.notif.error == CK_CAGE_ANSWERED)
        return;
    reply.notif.flags = reply.notif.error == 0 ? (uint32_t)SECCOMP_USER_NOTIF_FLAG_CONTINUE : 0;
    if (CK_RAW3(ioctl, listener->fd, SECCOMP_IOCTL_NOTIF_SEND, &reply) != -EINVAL)
        return;
    /*
     * Before Linux 5.5 a notified call cannot continue. Then the proof fails, and the jail is used
     * without a listener.
     */
    reply.notif.flags = 0;
    reply.notif.error = -ENOSYS;
    (void)CK_RAW3(ioctl, listener->fd, SECCOMP_IOCTL_NOTIF_SEND, &reply);
}

void ck_listener_wait(struct ck_listener *listener)
{
    struct pollfd polled[2] = {{.fd = listener->ended_fd, .events = POLLIN}, {.fd = listener->fd, .events = POLLIN}};
    for (;;) {
        long r = CK_RAW5(ppoll, polled, 2, NULL, NULL, 0);
        if (r > 0 && (polled[1].revents & POLLIN) != 0)
            answer(listener);
        if (r > 0 && (polled[0].revents & POLLIN) != 0)
            return;
    }
}

void ck_listener_end(const struct ck_listener *listener)
{
    if (listener->executed)
        ck_exec_names_end(listener->exec_names);
}

void ck_listener_drain(const struct ck_listener *listener)
{
    ck_nolibc_drain_signals(listener->ended_fd);
}
