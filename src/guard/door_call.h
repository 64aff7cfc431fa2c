/*
 * door_call.h - the messages of one door, put together to a call (base/door_wire.h).
 *
 * Pure: it reads no descriptor. Every byte may come from hostile code.
 */
#ifndef CK_GUARD_DOOR_CALL_H
#define CK_GUARD_DOOR_CALL_H

#include "base/door_wire.h"
#include "chokepoint.h"

/* Zero-filled it is empty. */
struct ck_door_call {
    bool begun;
    bool whole;
    struct ck_door_begin begin;
    char *text; /* grows as bytes arrive */
    size_t text_at, text_room;
    struct choke_guard_inherited inherited;
    /* once it is whole; they point into text */
    const char *cwd, *file, *executed;
    const char **argv, **variables;
};

void ck_door_call_done(struct ck_door_call *call);

/*
 * One message with its descriptors, which the call takes. 0: more is to come. 1: the call is whole.
 * 2: a signal, in *ret_signal. -EPROTO: it is malformed; -ENOMEM. After a failure the call is only to
 * be freed.
 */
int ck_door_call_take(struct ck_door_call *call, const void *message, size_t size, int *fds, unsigned fd_count,
                      int *ret_signal);

#endif
