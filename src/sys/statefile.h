/*
 * statefile.h - small files that the library keeps or is shown, read with distrust. They are replaced whole
 * (base/atomic_file.h).
 */
#ifndef CK_SYS_STATEFILE_H
#define CK_SYS_STATEFILE_H

#include "chokepoint.h"

/*
 * Opens a directory of the caller in which no one else can plant files. It is made with mode 0700
 * if it is missing, and its parent too. Refused with a message: a path that others can redirect, a
 * symlink, another owner, a directory that others may write.
 */
int ck_statefile_directory(const char *path, int *ret_fd, struct choke_error *error);

/*
 * Reads a regular file in it that belongs to the caller and that no one else may write, never
 * through a symlink. -ENOENT, without a message, if it does not exist. *ret_text must be freed, and
 * ends with a NUL.
 */
int ck_statefile_read(int directory_fd, const char *name, size_t max_bytes, char **ret_text, size_t *ret_length,
                      struct choke_error *error);

/* Reads a regular file that the caller named. Any owner is accepted, and symlinks are followed. */
int ck_statefile_read_named(const char *path, size_t max_bytes, char **ret_text, size_t *ret_length,
                            struct choke_error *error);

#endif
