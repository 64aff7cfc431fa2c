/*
 * native_tmp.h - what a jail shows beneath /tmp.
 *
 * Each run has a new /tmp. So the warden binds such a directory or file once, outside /tmp, and
 * copies that mount into the /tmp of each run.
 */
#ifndef CK_RUN_KEEPER_NATIVE_TMP_H
#define CK_RUN_KEEPER_NATIVE_TMP_H

#include "jail/native_ops.h"

#include <stdbool.h>

/* When the root is built: binds the operation's tree in CK_JAIL_KEPT. 0 or a negative errno. */
long ck_native_tmp_keep(const struct ck_native_program *program, const struct ck_native_op *operation,
                        uint64_t attributes, int root_fd);

/* In a new /tmp: mounts everything that is kept. The mounts keep their attributes. */
long ck_native_tmp_bind_all(const struct ck_native_program *program);

/* Makes a directory in the /tmp of the run, and the directories above it. */
long ck_native_tmp_make(const char *path);

/*
 * Opens a directory beneath a /tmp that other processes can change. No symlink is followed on the
 * way. make: missing directories are made. A descriptor or a negative errno.
 */
long ck_native_tmp_open(const char *path, bool make);

#endif
