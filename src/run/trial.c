/* trial.c - see trial.h; the caller's half. */
#include "run/trial.h"

#include "base/clock.h"
#include "base/fd.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#define PATIENCE_NS (3 * CK_NS_PER_S) /* a trial ends itself after two seconds */

static int ask(struct ck_launcher *launcher, uint32_t trial, int *ret_fd)
{
    const struct ck_wire_try request = {.kind = CK_WIRE_TRY, .trial = trial};
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return -errno;
    CK_FD ours = pair[0];
    CK_FD theirs = pair[1];
    int result = ck_launcher_ask(launcher, &request, sizeof request, &theirs, 1);
    if (result == 0)
        *ret_fd = ck_fd_take(&ours);
    return result;
}

/* An end of file without an answer: the trial was ended, or replaced by what it should not have been able to run. */
static void hear(int fd, uint64_t deadline_ns, struct ck_wire_tried *ret_tried)
{
    struct pollfd polled = {.fd = fd, .events = POLLIN};
    for (;;) {
        uint64_t now = ck_clock_now_ns();
        int left_ms = now < deadline_ns ? (int)((deadline_ns - now) / CK_NS_PER_MS) + 1 : 0;
        int ready = poll(&polled, 1, left_ms);
        if (ready < 0 && errno == EINTR)
            continue;
        struct ck_wire_tried tried;
        ssize_t got = ready > 0 ? recv(fd, &tried, sizeof tried, MSG_DONTWAIT) : 0;
        if (ready > 0 && got == (ssize_t)sizeof tried && tried.kind == CK_WIRE_TRIED && tried.trial == ret_tried->trial)
            *ret_tried = tried;
        else
            ret_tried->error = ready > 0 ? ECONNRESET : ETIMEDOUT;
        return;
    }
}

int ck_trial_all(struct ck_launcher *launcher, struct ck_wire_tried ret_tried[CK_TRIALS])
{
    int fds[CK_TRIALS];
    int result = 0;
    for (uint32_t i = 0; i < CK_TRIALS; i++) {
        fds[i] = -1;
        ret_tried[i] = (struct ck_wire_tried){.trial = i};
        if (i > 0 && result == 0)
            result = ask(launcher, i, &fds[i]);
    }
    uint64_t deadline_ns = ck_clock_now_ns() + PATIENCE_NS;
    for (uint32_t i = 1; i < CK_TRIALS; i++) {
        if (result == 0)
            hear(fds[i], deadline_ns, &ret_tried[i]);
        ck_fd_close(&fds[i]);
    }
    return result;
}
