/*
 * connection.h - one door: from its connection to the end of its tool.
 *
 *   collecting  its messages arrive
 *   running     its tool runs; signals are passed on
 *   draining    the tool has ended; copies of its output are still written
 *   over        to be freed
 *
 * A door that closes its connection before the end cancels its tool. A connection whose tool still
 * runs then is kept, without a socket, until the job has ended.
 */
#ifndef CK_GUARD_CONNECTION_H
#define CK_GUARD_CONNECTION_H

#include "chokepoint.h"
#include "guard/door_call.h"
#include "guard/relay.h"

#define CK_GUARD_RELAYS 3 /* of 0, 1 and 2 */

enum ck_guard_state { CK_GUARD_COLLECTING, CK_GUARD_RUNNING, CK_GUARD_DRAINING, CK_GUARD_OVER };

struct ck_guard_connection {
    struct ck_guard_connection *next;
    enum ck_guard_state state;
    int fd;            /* -1: closed */
    uint64_t since_ns; /* it was opened then, or its tool was started */
    bool reported;     /* the door knows that its tool has been started */
    struct ck_door_call call;
    struct choke_job *job;
    struct ck_guard_relay relays[CK_GUARD_RELAYS];
    unsigned relays_count;
    struct ck_door_end end;
    char says[CK_DOOR_SAYS_MAX];
};

/* What happened to the connections of a guard. */
struct ck_guard_calls {
    uint64_t ran;
    uint64_t refused;    /* by the policy, or because the tool could not be started */
    uint64_t malformed;  /* the messages were no call, or did not come */
    uint64_t abandoned;  /* the door was gone before its call was whole */
    uint64_t busy;       /* told to connect again */
    uint64_t unrecorded; /* calls, and PROGRAM, of which a record could not be written */
};

/* NULL: no memory; fd is closed. */
struct ck_guard_connection *ck_guard_connection_new(int fd, uint64_t now_ns);
void ck_guard_connection_free(struct ck_guard_connection *connection);

/* Tells a door to connect again later, and closes fd. */
void ck_guard_connection_busy(int fd);

/* The socket is readable. */
void ck_guard_connection_receive(struct ck_guard_connection *connection, struct choke_guard *guard,
                                 struct ck_guard_calls *calls);

/* Its tool runs and has the streams: says so to the door, which closes its own. */
void ck_guard_connection_report_start(struct ck_guard_connection *connection);

/* Its messages did not come in time. */
void ck_guard_connection_expire(struct ck_guard_connection *connection, struct ck_guard_calls *calls);

/* Its job has ended: takes the result. The job is freed. */
void ck_guard_connection_ended(struct ck_guard_connection *connection, struct ck_guard_calls *calls);

/* Copies what can be copied, and ends when nothing more is to come. */
void ck_guard_connection_move(struct ck_guard_connection *connection);

#endif
