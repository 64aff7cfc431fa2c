/*
 * receiver.h - the process of the next tool receives its plan itself, in place of its warden
 * (docs/adr/0155).
 *
 * While the process waits, the warden does not read from the socket of the caller. What the process
 * cannot run it hands back to the warden, which goes on as if it had received it.
 *
 *  Must     change `state` before anything that depends on it: the process before it receives, the
 *           warden before it ends the process. Only one of them succeeds, so no message is lost.
 *  Must not receive a second message: the next one may be a cancel, and is for the warden.
 */
#ifndef CK_RUN_KEEPER_RECEIVER_H
#define CK_RUN_KEEPER_RECEIVER_H

#include "run/wire.h"

#include <stdbool.h>
#include <stdint.h>

enum ck_receiver_state {
    CK_RECEIVER_NONE, /* zero-filled: the warden receives */
    CK_RECEIVER_WAITING,
    CK_RECEIVER_RECEIVING,
    CK_RECEIVER_TAKEN,
    CK_RECEIVER_HANDED_BACK,
    CK_RECEIVER_ENDED
};

/* In memory that the warden and the process share. */
struct ck_receiver {
    uint32_t state; /* enum ck_receiver_state */
    int socket_fd;  /* of the caller; the same number in both */
    bool jailed;    /* its plans are for a native jail */
    bool sealed;    /* they are sealed */
    unsigned char *inbox;
    long got; /* the message: its length, or a negative errno */
    int fds[CK_WIRE_FDS_MAX];
    unsigned fd_count;
};

/* What the warden learns when it has waited. */
enum ck_receiver_outcome {
    CK_RECEIVER_STAYS,    /* nothing has happened */
    CK_RECEIVER_IDLE,     /* nothing has happened, and the time is over */
    CK_RECEIVER_GONE,     /* the process has ended, and no message was received */
    CK_RECEIVER_RUNS,     /* it runs the plan in the inbox */
    CK_RECEIVER_RECEIVED, /* a message is in the inbox, for the warden */
    CK_RECEIVER_LOST,     /* somebody killed it after it had received a message, or the caller is gone */
};

bool ck_receiver_change(struct ck_receiver *receiver, uint32_t from, uint32_t to);
void ck_receiver_set(struct ck_receiver *receiver, uint32_t to);
uint32_t ck_receiver_state_of(const struct ck_receiver *receiver);

/* Whether a plan needs nothing of the warden before its tool exists. jailed: the process is in a native jail. */
bool ck_receiver_is_plain(const struct ck_wire_plan *plan, bool jailed);

/* In the process: waits for a message and receives it. False: the warden wants the process to end. */
bool ck_receiver_receive(struct ck_receiver *receiver);

/* Whether that is a plan which the process can run. The warden names what is wrong with any other. */
bool ck_receiver_can_run(const struct ck_receiver *receiver);

#endif
