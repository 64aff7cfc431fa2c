/*
 * session.h - one run in the foreground: signals, the loop, and where output goes.
 *
 *   1. ck_session_begin   SIGINT, SIGTERM and SIGHUP come by a descriptor from here on.
 *   2. ck_session_wait    until the job has ended; a signal or a lost reader cancels it.
 *   3. ck_session_end     signals act as they did before.
 *
 * SIGHUP stays ignored where it was (nohup). There is no handler, and nothing is inherited by the tool: the library
 * gives it a clean mask.
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
    struct ck_outlet notes; /* our own lines, also on standard error; losing them ends nothing */
    struct ck_feed feed;    /* of the tool's standard input, while it is waited for */
    int signal_fd;          /* -1: not begun */
    int signal;             /* the first that asked to stop, 0 if none */
    sigset_t saved_mask;
};

void ck_session_init(struct ck_session *session);
int ck_session_begin(struct ck_session *session, struct choke_error *error);
int ck_session_wait(struct ck_session *session, struct choke_context *context, const struct choke_job *job,
                    struct choke_error *error);

/* Takes a signal that came, if one did: all jobs are cancelled by it, and where nobody reads our output any more. */
void ck_session_handle_signal(struct ck_session *session, struct choke_context *context);

/* From timeout_ms from now on nobody is waited for who should read our output. */
void ck_session_deadline(struct ck_session *session, uint64_t timeout_ms);

void ck_session_end(struct ck_session *session);

#endif
