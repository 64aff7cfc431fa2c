/*
 * native_no_userns.h - the part of a plan for the native jail without user namespaces (R32). If the
 * machine forbids user namespaces, Landlock and seccomp enforce the jail.
 *
 * The tool has no separate root, so every path is the same as outside. A Landlock ruleset says
 * what it may read, write and execute. The ruleset is made from the same program as the root of the
 * full native jail (jail/native_ops.h). The system call filter forbids what Landlock does not check
 * (sys/seccomp.h). Both are made here, before the process exists.
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
 * Fills plan->no_userns and plan->ruleset_fd from plan->native_jail, which is then cleared. Needs
 * the root and the workspace of the plan. Returns 0, or a negative errno with *error filled
 * (CHOKE_JAIL_UNAVAILABLE and others).
 */
int ck_native_no_userns_plan(const struct ck_plan_sources *sources, struct ck_plan *plan, bool tracing,
                             struct choke_error *error);

/* Allows writing to the scratch directory of the run, once it exists. 0 or a negative errno. */
int ck_native_no_userns_allow_scratch(const struct ck_plan *plan, int scratch_fd);

/*
 * For a proof: the ruleset and filter that a tool without any files gets. The caller must close the
 * ruleset; the filter belongs to no_userns_filters.
 */
int ck_native_no_userns_proof(struct ck_native_no_userns_filters *no_userns_filters, int program_fd,
                              int *ret_ruleset_fd, int *ret_filter_fd, struct choke_error *error);

#endif
