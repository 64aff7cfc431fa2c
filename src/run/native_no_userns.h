/*
 * native_no_userns.h - the part of a plan that is for the native jail without namespaces (R32): where they are forbidden, Landlock
 * and seccomp are what holds.
 *
 * The tool's process has no root of its own, so nothing has another path than outside. What it may read, write and execute
 * is a ruleset of Landlock's, made from the same program that the whole jail is laid out by (jail/native_ops.h); what Landlock
 * does not look at is left to the filter of system calls (sys/seccomp.h). Both are made here, before the process exists.
 */
#ifndef CK_RUN_NATIVE_NO_USERNS_H
#define CK_RUN_NATIVE_NO_USERNS_H

#include "run/plan.h"
#include "sys/scratch.h"

/* The filters of a context, as sealed memory files. */
struct ck_native_no_userns_filters {
    int filter_fds[2]; /* without and with tracing; -1: not made yet */
};

void ck_native_no_userns_init(struct ck_native_no_userns_filters *no_userns_filters);
void ck_native_no_userns_done(struct ck_native_no_userns_filters *no_userns_filters);

/*
 * Fills plan->confine and plan->ruleset_fd from plan->cage, which is given back. The plan has its root and its
 * workspace. 0, or a negative errno and *error (CHOKE_JAIL_UNAVAILABLE and others).
 */
int ck_native_no_userns_plan(const struct ck_plan_sources *sources, struct ck_plan *plan, bool tracing,
                             struct choke_error *error);

/* The directory of the run, once it is made: it may be written. 0 or a negative errno. */
int ck_native_no_userns_allow_scratch(const struct ck_plan *plan, int scratch_fd);

/* For a proof: what a tool without files of its own gets. Both descriptors; that of the ruleset is the caller's. */
int ck_native_no_userns_proof(struct ck_native_no_userns_filters *no_userns_filters, int program_fd,
                              int *ret_ruleset_fd, int *ret_filter_fd, struct choke_error *error);

#endif
