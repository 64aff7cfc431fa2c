/*
 * stage.h - a directory with everything that a trace needs inside a container with an arbitrary
 * image: strace from this machine with its loader and libraries, and the witness
 * (src/run/keeper/witness.c).
 *
 *   witness  strace  loader  lib/
 *
 * The loader is a copy that reads only the files in lib: not /etc/ld.so.preload, not
 * /etc/ld.so.cache.
 *
 * Everyone may read it, because the container's user may be anyone; only the caller can write
 * there. Nothing in it is secret.
 */
#ifndef CK_GATHER_TRACE_STAGE_H
#define CK_GATHER_TRACE_STAGE_H

#include "chokepoint.h"
#include "gather/temporary.h"

/*
 * error->outcome is CHOKE_TOOL_MISSING if strace is not installed. After a failure nothing is left.
 */
int ck_trace_stage_make(struct choke_context *context, struct ck_temporary *ret_stage, struct choke_error *error);

#endif
