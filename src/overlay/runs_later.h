/*
 * runs_later.h - which changes of a repository run later by themselves (R37). Pure: looks at text
 * only.
 *
 * A hook, a package script, a build file or an editor's task is run by a tool that was asked for
 * something else. So accepting such a change is as good as running it. The result is a short
 * reason, a constant, or NULL.
 */
#ifndef CK_OVERLAY_RUNS_LATER_H
#define CK_OVERLAY_RUNS_LATER_H

#include <stdbool.h>
#include <stddef.h>

/* By its path, which is from the root and does not begin with '/'. */
const char *ck_runs_later_by_path(const char *path);

/* By the first bytes of a regular file, and whether anyone may execute it. */
const char *ck_runs_later_by_content(const char *head, size_t length, bool executable);

/*
 * By the directories that path names or leads to: a symlink there would bring everything at its
 * target into them. Also for directories themselves: files that run later may be below.
 */
const char *ck_runs_later_by_directory(const char *path);

/*
 * For a symlink at path, by its text: does its target lead out of the root, or is that unclear?
 * Else by what it would be: a file or a directory of that name.
 */
const char *ck_runs_later_by_link(const char *path, const char *target);

/*
 * The path from the root to which a symlink at path leads, if no other symlink is on the path. Only
 * for one that does not lead out. False if it is too long. ret_path has PATH_MAX bytes, and may be
 * path.
 */
bool ck_runs_later_resolve(const char *path, const char *target, char *ret_path);

/* Is it a package.json? Its text decides. */
bool ck_runs_later_is_package(const char *path);

/*
 * What changed in a package.json; before is NULL for a new one. NULL if only descriptive members
 * changed, and nothing that is run or fetched.
 */
const char *ck_runs_later_by_package(const char *before, size_t before_length, const char *after, size_t after_length);

#endif
