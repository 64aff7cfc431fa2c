/*
 * beneath.h - directories that cannot be left (R16).
 *
 * The root and the working directory are held as descriptors from the moment they are resolved. The kernel resolves
 * the second beneath the first (openat2, RESOLVE_BENEATH), so neither "..", nor a link, nor a rename during the
 * look-up leads out.
 */
#ifndef CK_SYS_BENEATH_H
#define CK_SYS_BENEATH_H

#include "chokepoint.h"

#include <errno.h>
#include <stdbool.h>

/* Failures have outcome CHOKE_CWD; CHOKE_SPAWN_FAILED where the process has no descriptor or memory left. */
int ck_beneath_root(const char *path, int *ret_fd, struct choke_error *error);

/* A relative path is taken from the root. An absolute one may come by links, as long as it ends beneath the root. */
int ck_beneath_directory(int root_fd, const char *path, int *ret_fd, struct choke_error *error);

/*
 * Does the path, which a tool working in cwd_fd is to be given, stay beneath the root? Looked at twice: as text, because
 * many tools take ".." away before they open anything, and as the kernel resolves it, links included. What does not
 * exist stays beneath the root where its text does, unless it must exist.
 *
 * 0; -EXDEV, -ELOOP: it leads out; -ENOENT, -ENOTDIR: it does not exist; another negative errno: it cannot be told.
 */
int ck_beneath_stays(int root_fd, int cwd_fd, const char *path, size_t length, bool must_exist);

/* Where a directory stands now, into buffer; 0 or a negative errno: -CK_BENEATH_NO_PROC where there is no /proc to ask. */
#define CK_BENEATH_NO_PROC ENOPKG
int ck_beneath_path(int fd, char *buffer, size_t size);

/* strerror, and a text of its own for CK_BENEATH_NO_PROC. */
const char *ck_beneath_strerror(int errnum);

#endif
