/* via_repo_symlink.h - would the repository choose where something is written? */
#ifndef CK_GATHER_VIA_REPO_SYMLINK_H
#define CK_GATHER_VIA_REPO_SYMLINK_H

#include <stdbool.h>

/*
 * True if a symlink inside root, a path without symlinks, is on the way to the directory path. The
 * caller names a path, and the repository would decide where it leads. Symlinks elsewhere belong to
 * the caller. A path that does not exist leads nowhere.
 */
bool ck_via_repo_symlink(const char *root, const char *path);

#endif
