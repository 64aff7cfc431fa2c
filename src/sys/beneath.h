/*
 * beneath.h - directories that a path cannot leave (R16).
 *
 * The root and the working directory are held as descriptors from the moment they are resolved. The
 * kernel resolves the second beneath the first (openat2, RESOLVE_BENEATH), so neither "..", nor a
 * symlink, nor a rename during the look-up leads out.
 */
#ifndef CK_SYS_BENEATH_H
#define CK_SYS_BENEATH_H

#include "chokepoint.h"

#include <errno.h>
#include <stdbool.h>

/*
 * A failure has the outcome CHOKE_CWD, or CHOKE_SPAWN_FAILED if the process has no descriptor or
 * memory left.
 */
int ck_beneath_root(const char *path, int *ret_fd, struct choke_error *error);

/*
 * A relative path starts at the root. An absolute path may pass through symlinks, if it ends
 * beneath the root.
 */
int ck_beneath_directory(int root_fd, const char *path, int *ret_fd, struct choke_error *error);

/*
 * Does path, an argument for a tool that works in cwd_fd, stay beneath the root? It is checked
 * twice: as text, because many tools remove ".." before they open anything, and as the kernel
 * resolves it, with symlinks. A path that does not exist stays beneath the root if its text does,
 * unless it must exist.
 *
 * Returns 0; -EXDEV or -ELOOP: it leads out; -ENOENT or -ENOTDIR: it does not exist; another
 * negative errno: that could not be determined.
 */
int ck_beneath_stays(int root_fd, int cwd_fd, const char *path, size_t length, bool must_exist);

/*
 * Where an absolute path is that ck_beneath_stays accepted: from the root, into buffer; "." for the
 * root itself. A path that only leads beneath the root through symlinks is resolved, but its last
 * component stays as it is, if it can: a tool may want the symlink and not its target.
 */
int ck_beneath_locate(int root_fd, const char *path, char *buffer, size_t size);

/*
 * The current path of a directory, into buffer. 0 or a negative errno; -CK_BENEATH_NO_PROC if no
 * /proc is mounted to ask.
 */
#define CK_BENEATH_NO_PROC ENOPKG
int ck_beneath_path(int fd, char *buffer, size_t size);

/* strerror, with a separate text for CK_BENEATH_NO_PROC. */
const char *ck_beneath_strerror(int errnum);

#endif
