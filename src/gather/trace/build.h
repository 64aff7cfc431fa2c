/*
 * build.h - what the runtime trace builds: the repository's Dockerfile, rewritten (dockerfile.h)
 * with the ids of local images.
 *
 *   1. read    the Dockerfile, once: later changes of the file have no effect
 *   2.         the daemon is asked for the names in it: one line each, "sha256:ID ORDERS" (`bases`
 *              in policy/probes.yaml)
 *   3. write   the text to build, to a descriptor in memory
 *
 * An image with ONBUILD instructions is not used as a base: what they name would be fetched.
 */
#ifndef CK_GATHER_TRACE_BUILD_H
#define CK_GATHER_TRACE_BUILD_H

#include "chokepoint.h"
#include "gather/evidence/evidence.h"
#include "gather/trace/dockerfile.h"

struct ck_trace_build {
    struct ck_dockerfile *dockerfile; /* NULL: not read yet */
    int fd;                           /* the text to build, at offset 0; -1: not written yet */
};

void ck_trace_build_init(struct ck_trace_build *build);
void ck_trace_build_done(struct ck_trace_build *build);

/* Follows no symlink between root and path. */
int ck_trace_build_read(struct ck_trace_build *build, const char *root, const char *path, struct choke_error *error);

int ck_trace_build_write(struct ck_trace_build *build, const struct ck_answer *bases, struct choke_error *error);

#endif
