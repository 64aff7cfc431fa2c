/*
 * build.h - what the runtime trace has built: the repository's Dockerfile in other words (dockerfile.h), with the ids of
 * images that the daemon has.
 *
 *   1. read    the Dockerfile, once: what is built is what was read, whatever the file is by then
 *   2.         the daemon is asked for the names in it: a line each, "sha256:ID ORDERS" (`bases` in policy/probes.yaml)
 *   3. write   the text to be built, to a descriptor that holds it in memory
 *
 * An image that has orders for builds on it (ONBUILD) is not built on: what they name would be fetched.
 */
#ifndef CK_GATHER_TRACE_BUILD_H
#define CK_GATHER_TRACE_BUILD_H

#include "chokepoint.h"
#include "gather/evidence/evidence.h"
#include "gather/trace/dockerfile.h"

struct ck_trace_build {
    struct ck_dockerfile *dockerfile; /* NULL: not read yet */
    int fd;                           /* what is built, from its beginning on; -1: not written yet */
};

void ck_trace_build_init(struct ck_trace_build *build);
void ck_trace_build_done(struct ck_trace_build *build);

/* No link on the way from root to path is followed. */
int ck_trace_build_read(struct ck_trace_build *build, const char *root, const char *path, struct choke_error *error);

int ck_trace_build_write(struct ck_trace_build *build, const struct ck_answer *bases, struct choke_error *error);

#endif
