/*
 * session.c - one loop over two descriptors: the library's, and one for signals. If the tool's
 * standard input is a FIFO (feed.h), there is a third.
 *
 * SIGPIPE stays blocked until the process ends. So a closed reader is an error of write(), and the
 * job can be ended in an orderly way.
 */
#include "front/session.h"

#include "front/text.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

/*
 * A blocked signal is queued even if it is ignored, so the disposition that nohup or another parent
 * has set is checked here.
 */
static bool is_ignored(int signal)
{
    struct sigaction action;
    return sigaction(signal, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

void ck_session_init(struct ck_session *session)
{
    sigset_t pipe_only;

    *session = (struct ck_session){
        .out = CK_OUTLET(STDOUT_FILENO),
        .err = CK_OUTLET(STDERR_FILENO),
        .notes = CK_OUTLET(STDERR_FILENO),
        .feed = CK_FEED_NONE,
        .signal_fd = -1,
        .pipe_ignored = is_ignored(SIGPIPE),
    };
    (void)sigemptyset(&pipe_only);
    (void)sigaddset(&pipe_only, SIGPIPE);
    (void)sigprocmask(SIG_BLOCK, &pipe_only, NULL);
}

/* A pending signal ends the wait of every outlet. */
static void set_wake(struct ck_session *session, int fd)
{
    session->out.wake_fd = fd;
    session->err.wake_fd = fd;
    session->notes.wake_fd = fd;
}

void ck_session_deadline(struct ck_session *session, uint64_t timeout_ms)
{
    ck_outlet_deadline(&session->out, timeout_ms);
    ck_outlet_deadline(&session->err, timeout_ms);
    ck_outlet_deadline(&session->notes, timeout_ms);
}

int ck_session_begin(struct ck_session *session, struct choke_error *error)
{
    sigset_t wanted;

    (void)sigemptyset(&wanted);
    (void)sigaddset(&wanted, SIGINT);
    (void)sigaddset(&wanted, SIGTERM);
    if (!is_ignored(SIGHUP))
        (void)sigaddset(&wanted, SIGHUP);
    /*
     * Made before the signals are blocked, so that a failure leaves the mask unchanged. A signal in
     * between ends the process as usual: nothing has been started yet.
     */
    int fd = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
    if (fd < 0)
        return ck_text_error(error, CHOKE_NONE, errno, "cannot watch for signals: %s", strerror(errno));
    (void)sigprocmask(SIG_BLOCK, &wanted, &session->saved_mask);
    session->signal_fd = fd;
    set_wake(session, fd);
    return 0;
}

/* 0: none is pending. The descriptor does not block. */
static int take_signal(const struct ck_session *session)
{
    struct signalfd_siginfo info;
    return read(session->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info) ? (int)info.ssi_signo : 0;
}

void ck_session_handle_signal(struct ck_session *session, struct choke_context *context)
{
    int signal = take_signal(session);

    /* The first signal decides the exit status. From then on slow readers are not waited for. */
    if (signal != 0 && session->signal == 0) {
        session->signal = signal;
        ck_session_deadline(session, 0);
    }
    if (signal != 0 || session->out.error != 0 || session->err.error != 0)
        choke_cancel_all(context);
}

int ck_session_wait(struct ck_session *session, struct choke_context *context, const struct choke_job *job,
                    struct choke_error *error)
{
    while (!choke_job_result(job)) {
        struct pollfd fds[] = {{.fd = choke_fd(context), .events = POLLIN},
                               {.fd = session->signal_fd, .events = POLLIN},
                               ck_feed_poll(&session->feed)};
        int ready = poll(fds, 3, -1);
        if (ready < 0 && errno != EINTR)
            return ck_text_error(error, CHOKE_NONE, errno, "cannot wait for the tool: %s", strerror(errno));
        if (ready > 0)
            ck_feed_move(&session->feed, fds[2].revents);
        ck_session_handle_signal(session, context);
        int r = choke_dispatch(context, error);
        if (r < 0)
            return r;
    }
    return 0;
}

void ck_session_end(struct ck_session *session)
{
    if (session->signal_fd < 0)
        return;
    while (take_signal(session) != 0) /* the job has ended: queued signals have nothing to cancel */
        ;
    (void)close(session->signal_fd);
    session->signal_fd = -1;
    /* The outlets may still be used for the report. */
    set_wake(session, -1);
    (void)sigprocmask(SIG_SETMASK, &session->saved_mask, NULL);
}
