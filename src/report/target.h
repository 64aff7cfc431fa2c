/*
 * target.h - the file that a report is written to.
 *
 * A report replaces an earlier report without asking, and nothing else: a slip in the command line
 * must not cost a user's file. What a report is, is known by its first bytes.
 */
#ifndef CK_REPORT_TARGET_H
#define CK_REPORT_TARGET_H

#include "base/atomic_file.h"
#include "chokepoint.h"

#include <stdbool.h>

/* The first bytes of every page, and of every file of --csv. */
#define CK_TARGET_PAGE "<!doctype html><!-- chokepoint report -->"
#define CK_TARGET_CSV "\"severity\",\"state\",\"repository\","

struct ck_target {
    const char *option; /* for messages: "--out" */
    const char *path;
    const char *marker; /* the first bytes of what may be replaced */
    bool force;         /* whatever regular file is there, but for the inputs */
    mode_t mode;        /* of a new file, before the umask */

    /* NULL-terminated: what is read. A log that is replaced by its report is lost, so --force does not do that. */
    const char *const *inputs;
};

/* Checked before any work is done: a path that cannot be written is a mistake in the command line. */
int ck_target_check(const struct ck_target *target, struct choke_error *error);

/* For two targets of one command: fails if both are one file. */
int ck_target_check_differ(const struct ck_target *target, const struct ck_target *other, struct choke_error *error);

/* Checks again, then begins the file. On success the caller commits or drops it. */
int ck_target_begin(const struct ck_target *target, struct ck_atomic_file *ret_file, struct choke_error *error);

/* Fills error for a write or a commit that failed. */
int ck_target_fail(const struct ck_target *target, int r, struct choke_error *error);

#endif
