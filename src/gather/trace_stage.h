/*
 * trace_stage.h - a directory with all that a trace needs inside a container whose image may hold nothing else: strace as
 * it is on this machine, with its loader and libraries, and the witness (src/run/keeper/witness.c).
 *
 *   witness  strace  loader  lib/
 *
 * Everybody may read it, for the container's user may be anyone; nobody but the caller can write there. Nothing in it is
 * a secret. Whoever made it holds a lock on it: one that nobody holds any more was left by a program that was killed, and
 * is removed by the next one of the same user.
 */
#ifndef CK_GATHER_TRACE_STAGE_H
#define CK_GATHER_TRACE_STAGE_H

#include "chokepoint.h"

#define CK_STAGE_PATH_MAX 64

struct ck_stage {
    char path[CK_STAGE_PATH_MAX]; /* "" where there is none */
    int lock_fd;
};

/* CHOKE_TOOL_MISSING in error->outcome where there is no strace. On failure nothing is left. */
int ck_stage_make(struct choke_context *context, struct ck_stage *ret_stage, struct choke_error *error);
void ck_stage_done(struct ck_stage *stage); /* zero-filled is fine */

#endif
