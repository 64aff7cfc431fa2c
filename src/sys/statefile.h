/*
 * statefile.h - small files that the library keeps or is shown, read with distrust. They are replaced whole
 * (base/atomic_file.h).
 */
#ifndef CK_SYS_STATEFILE_H
#define CK_SYS_STATEFILE_H

#include "chokepoint.h"

/*
 * Opens a directory of the caller's own, for files that nobody else may plant; made with mode 0700, and its parent too,
 * where they are missing. Refused with words: a way to it that others can redirect, a link in its place, another
 * owner, one that others may write.
 */
int ck_statefile_directory(const char *path, int *ret_fd, struct choke_error *error);

/*
 * A regular file in it that belongs to the caller and that nobody else may write; never through a link. -ENOENT, without
 * words, where there is none. *ret_text is to be freed, and has a NUL behind it.
 */
int ck_statefile_read(int directory_fd, const char *name, size_t max_bytes, char **ret_text, size_t *ret_length,
                      struct choke_error *error);

/* A regular file that the caller named: whose it is does not matter, links are followed. */
int ck_statefile_read_named(const char *path, size_t max_bytes, char **ret_text, size_t *ret_length,
                            struct choke_error *error);

#endif
