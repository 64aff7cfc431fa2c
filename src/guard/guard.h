/*
 * guard.h - runs a program that does not use the library, so that the policy decides about every
 * execution in its whole tree (docs/adr/0100).
 *
 * Must: end everything that it started before it returns; bound what the tree can make it hold. Must
 * not: take anything in a message of a door for granted; wait for the tree, other than in its loop.
 */
#ifndef CK_GUARD_GUARD_H
#define CK_GUARD_GUARD_H

#include "chokepoint.h"

/* Statuses of guard itself; every other one is PROGRAM's. */
#define CK_GUARD_STATUS_TIMEOUT 124
#define CK_GUARD_STATUS_FAILED 125
#define CK_GUARD_STATUS_SIGNAL 128 /* plus the number of the signal */

struct ck_guard_options {
    struct choke_options context;
    const char *const *argv; /* PROGRAM */
    const char *root;        /* absolute */
    const char *cwd;         /* absolute */
    const char *profile;     /* NULL: none */
    const char *const *egress;
    uint64_t timeout_ms;        /* 0: none */
    const char *report;         /* a file for the summary as JSON; NULL: none */
    const char *const *secrets; /* as in struct choke_guard_request */
    const char *secret_ca;
    bool quiet;   /* no summary on standard error */
    bool dry_run; /* only say what the cage would have, on standard output */
};

/* The exit status; or a negative errno and *error if PROGRAM was not started. */
int ck_guard_run(const struct ck_guard_options *options, struct choke_error *error);

#endif
