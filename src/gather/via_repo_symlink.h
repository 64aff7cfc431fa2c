/* via_repo_symlink.h - does the repository choose the place that something is written to? */
#ifndef CK_GATHER_VIA_REPO_SYMLINK_H
#define CK_GATHER_VIA_REPO_SYMLINK_H

#include <stdbool.h>

/*
 * Whether a link that lies beneath root, a path without links, is on the way to a directory: the caller names a place, and
 * the repository would decide where that is. Links elsewhere are the caller's own. What is not there leads nowhere.
 */
bool ck_via_repo_symlink(const char *root, const char *path);

#endif
