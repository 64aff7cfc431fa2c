/* trial.c - asks the keeper for trials and proofs, and waits for the answers. See trial.h. */
#include "run/trial.h"

#include "base/clock.h"
#include "base/fd.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#define PATIENCE_NS (12 * CK_NS_PER_S) /* a trial is killed after ten seconds (keeper/nolibc.c) */

/* Sends the request with the socket for the answer, and then fds. */
static int ask(struct ck_launcher *launcher, const struct ck_wire_try *request, const int *fds, unsigned count,
               int *ret_fd)
{
    int pair[2];
    int sent[1 + CK_WIRE_PROOF_FDS];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return -errno;
    CK_FD ours = pair[0];
    CK_FD theirs = pair[1];
    sent[0] = theirs;
    for (unsigned i = 0; i < count; i++)
        sent[1 + i] = fds[i];
    int r = ck_launcher_ask(launcher, request, sizeof(*request), sent, 1 + count);
    if (r == 0)
        *ret_fd = ck_fd_take(&ours);
    return r;
}

/*
 * Waits for one answer of this size. 0 or a negative errno. -ECONNRESET is an end of file without
 * an answer: the child was killed, or it was replaced by a program that it should not have been
 * able to execute.
 */
static int receive(int fd, uint64_t deadline_ns, void *ret_answer, size_t size)
{
    struct pollfd polled = {.fd = fd, .events = POLLIN};
    int ready;
    do {
        uint64_t now = ck_clock_now_ns();
        ready = poll(&polled, 1, now < deadline_ns ? (int)((deadline_ns - now) / CK_NS_PER_MS) + 1 : 0);
    } while (ready < 0 && errno == EINTR);
    if (ready <= 0)
        return -ETIMEDOUT;
    return recv(fd, ret_answer, size, MSG_DONTWAIT) == (ssize_t)size ? 0 : -ECONNRESET;
}

static void receive_trial(int fd, uint64_t deadline_ns, struct ck_wire_tried *ret_tried)
{
    struct ck_wire_tried tried;
    int r = receive(fd, deadline_ns, &tried, sizeof(tried));
    if (r == 0 && tried.kind == CK_WIRE_TRIED && tried.trial == ret_tried->trial)
        *ret_tried = tried;
    else
        ret_tried->error = r < 0 ? -r : ECONNRESET;
}

int ck_trial_all(struct ck_launcher *launcher, struct ck_wire_tried ret_tried[CK_TRIALS])
{
    int fds[CK_TRIALS];
    int r = 0;
    for (uint32_t i = 0; i < CK_TRIALS; i++) {
        fds[i] = -1;
        ret_tried[i] = (struct ck_wire_tried){.trial = i};
        if (i > 0 && r == 0)
            r = ask(launcher, &(struct ck_wire_try){.kind = CK_WIRE_TRY, .trial = i}, NULL, 0, &fds[i]);
    }
    /* All trials were started above and run in parallel, so one deadline is enough. */
    uint64_t deadline_ns = ck_clock_now_ns() + PATIENCE_NS;
    for (uint32_t i = 1; i < CK_TRIALS; i++) {
        if (r == 0)
            receive_trial(fds[i], deadline_ns, &ret_tried[i]);
        ck_fd_close(&fds[i]);
    }
    return r;
}

static int prove(struct ck_launcher *launcher, enum ck_wire_kind kind, const int *fds, unsigned count,
                 struct ck_wire_proved *ret_proved)
{
    const struct ck_wire_try request = {.kind = (uint32_t)kind};
    CK_FD fd = -1;
    int r = ask(launcher, &request, fds, count, &fd);
    if (r < 0)
        return r;
    r = receive(fd, ck_clock_now_ns() + PATIENCE_NS, ret_proved, sizeof(*ret_proved));
    if (r < 0 || ret_proved->kind != CK_WIRE_PROVED)
        *ret_proved = (struct ck_wire_proved){.error = r < 0 ? -r : ECONNRESET};
    return 0;
}

int ck_trial_jail(struct ck_launcher *launcher, int program_fd, struct ck_wire_proved *ret_proved)
{
    return prove(launcher, CK_WIRE_PROVE, &program_fd, 1, ret_proved);
}

int ck_trial_no_userns(struct ck_launcher *launcher, const int *fds, struct ck_wire_proved *ret_proved)
{
    return prove(launcher, CK_WIRE_PROVE_NO_USERNS, fds, CK_WIRE_PROOF_FDS, ret_proved);
}
