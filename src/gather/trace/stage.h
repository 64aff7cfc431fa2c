/*
 * stage.h - a directory with all that a trace needs inside a container whose image may hold nothing else: strace as
 * it is on this machine, with its loader and libraries, and the witness (src/run/keeper/witness.c).
 *
 *   witness  strace  loader  lib/
 *
 * The loader is a copy that reads no file but those in lib: not /etc/ld.so.preload, not /etc/ld.so.cache.
 *
 * Everybody may read it, for the container's user may be anyone; nobody but the caller can write there. Nothing in it is
 * a secret.
 */
#ifndef CK_GATHER_TRACE_STAGE_H
#define CK_GATHER_TRACE_STAGE_H

#include "chokepoint.h"
#include "gather/temporary.h"

/* CHOKE_TOOL_MISSING in error->outcome where there is no strace. On failure nothing is left. */
int ck_trace_stage_make(struct choke_context *context, struct ck_temporary *ret_stage, struct choke_error *error);

#endif
