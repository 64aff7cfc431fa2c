/*
 * native_shown.h - directories that a jail shows beside the system, and the place of the root in it
 * (R88).
 *
 * Pure: everything is decided from the operations so far. A directory beneath /tmp becomes an
 * operation of each run, because each run has a new /tmp.
 */
#ifndef CK_JAIL_NATIVE_SHOWN_H
#define CK_JAIL_NATIVE_SHOWN_H

#include "jail/native.h"
#include "jail/native_program.h"

/* Which mount of the jail itself covers a path of the host, such as /proc; NULL: nothing. */
const char *ck_native_shown_cover(const char *path);

/*
 * Adds wanted->shown. A failure fills *error: a directory is where the jail has something of its
 * own, such as /work.
 */
int ck_native_shown_add(struct ck_native_builder *program, const struct ck_native_wanted *wanted,
                        struct choke_error *error);

/* Whether an absolute path is beneath a directory that was added. */
bool ck_native_shown_has(const struct ck_native_builder *program, const char *path);

/*
 * Adds the mount point of the root, which is at another path than /work. A failure fills *error:
 * the root would cover something that the jail needs, or be covered by it. Call it after all other
 * operations.
 */
int ck_native_shown_place_root(struct ck_native_builder *program, const char *root, struct choke_error *error);

#endif
