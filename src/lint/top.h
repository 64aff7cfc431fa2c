/*
 * top.h - the tree that is scanned. Its top has the configuration, and all patterns are relative to
 * it.
 */
#ifndef CK_LINT_TOP_H
#define CK_LINT_TOP_H

#include "chokepoint.h"

#include <sys/stat.h>

struct ck_top {
    char *path; /* absolute, without symlinks */
    int fd;     /* O_PATH; -1: not open */
};

/*
 * Finds the top. If root is given it is that directory. Otherwise it is the top of the Git
 * repository that contains path. Without a repository it is the working directory if path is in it,
 * else path itself or its directory.
 *
 * A world-writable directory above path (/tmp) is not taken as a repository: another user may have
 * made a .git there, with a configuration. Call ck_top_done in any case.
 */
int ck_top_find(const char *root, const char *path, struct ck_top *ret_top, struct choke_error *error);
void ck_top_done(struct ck_top *top);

/*
 * Opens a path in the top, without following symlinks. Returns a descriptor or a negative errno.
 * Never blocks.
 */
int ck_top_open(const struct ck_top *top, const char *path, int flags);

/*
 * Finds the path from the top of something that exists ("" for the top itself), and its status. A
 * symlink at the end is not followed, unless a slash follows it. Returns -EINVAL if it is outside
 * the top.
 */
int ck_top_locate(const struct ck_top *top, const char *path, char *buffer, size_t size, struct stat *ret_status,
                  struct choke_error *error);

#endif
