/*
 * top.h - the tree that is scanned. Its top is where the configuration stands, and what all patterns are relative to.
 */
#ifndef CK_LINT_TOP_H
#define CK_LINT_TOP_H

#include "chokepoint.h"

#include <sys/stat.h>

struct ck_top {
    char *path; /* absolute, without links */
    int fd;
};

/*
 * root where it is given (a directory). Else the top of the Git repository in which path lies; where there is none, the
 * working directory if path is beneath it, else path itself or the directory that holds it. A directory that anyone may
 * write to is not taken for a repository that path lies in: what stands there may be somebody else's. ck_top_done in any case.
 */
int ck_top_find(const char *root, const char *path, struct ck_top *ret_top, struct choke_error *error);
void ck_top_done(struct ck_top *top);

/* Opens what lies beneath the top and is reached without a link: a descriptor, or a negative errno. Never blocks. */
int ck_top_open(const struct ck_top *top, const char *path, int flags);

/*
 * The path from the top of something that exists, "" for the top itself, and what it is. A link at the end is not
 * followed, unless a slash stands behind it. -EINVAL where it lies outside of the top.
 */
int ck_top_locate(const struct ck_top *top, const char *path, char *buffer, size_t size, struct stat *ret_status,
                  struct choke_error *error);

#endif
