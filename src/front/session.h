/*
 * session.h - one run in the foreground: signals, the loop, and the outlets for output.
 *
 *   1. ck_session_begin   SIGINT, SIGTERM and SIGHUP arrive through a descriptor from here on.
 *   2. ck_session_wait    until the job has ended; a signal or a closed reader cancels it.
 *   3. ck_session_end     restores the signals.
 *
 * SIGHUP stays ignored if it was ignored (nohup). There is no signal handler, and the tool inherits
 * nothing: the library gives it an empty signal mask.
 */
#ifndef CK_FRONT_SESSION_H
#define CK_FRONT_SESSION_H

#include "chokepoint.h"
#include "front/feed.h"
#include "front/outlet.h"

#include <signal.h>

struct ck_session {
    struct ck_outlet out;   /* the tool's standard output, or the report */
    struct ck_outlet err;   /* the tool's standard error */
    struct ck_outlet notes; /* chokepoint's own lines, also on standard error; a failure here ends nothing */
    struct ck_feed feed;    /* moves the tool's standard input while the job is waited for */
    int signal_fd;          /* -1: not begun */
    int signal;             /* the first signal that asked to stop; 0: none */
    bool pipe_ignored;      /* SIGPIPE was ignored before: a closed reader is an error like others */
    sigset_t saved_mask;
};

void ck_session_init(struct ck_session *session);
int ck_session_begin(struct ck_session *session, struct choke_error *error);
int ck_session_wait(struct ck_session *session, struct choke_context *context, const struct choke_job *job,
                    struct choke_error *error);

/*
 * Reads a pending signal, if there is one. A signal cancels all jobs, and so does a closed reader
 * of the output.
 */
void ck_session_handle_signal(struct ck_session *session, struct choke_context *context);

/* Readers of the output are waited for until timeout_ms from now. */
void ck_session_deadline(struct ck_session *session, uint64_t timeout_ms);

void ck_session_end(struct ck_session *session);

#endif
