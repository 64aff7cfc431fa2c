/*
 * runs_later.h - which changes of a repository will come to run by themselves (R37). Pure: looks at text only.
 *
 * A hook, a script of a package, a build file or an editor's task is run by a tool that was asked for something else,
 * so whoever takes such a change over has as good as run it. The answers are reasons in a word or two, constants, or NULL.
 */
#ifndef CK_OVERLAY_RUNS_LATER_H
#define CK_OVERLAY_RUNS_LATER_H

#include <stdbool.h>
#include <stddef.h>

/* By its place: path is from the root, without '/' at its start. */
const char *ck_runs_later_by_path(const char *path);

/* By how a regular file begins, and whether somebody may execute it. */
const char *ck_runs_later_by_content(const char *head, size_t length, bool executable);

/*
 * By the directories that path names or leads to: a link there would bring all that it leads to into them. Also for
 * directories themselves: what runs later may be below.
 */
const char *ck_runs_later_by_directory(const char *path);

/*
 * A link at path, by its text: does its target lead out of the root, or can that not be seen? Else by what it would become,
 * a file or a directory of that name.
 */
const char *ck_runs_later_by_link(const char *path, const char *target);

/*
 * The path from the root that a link at path leads to, if no other link is on the way; for one that does not lead out.
 * False: it is too long. ret_path has PATH_MAX bytes, and may be path.
 */
bool ck_runs_later_resolve(const char *path, const char *target, char *ret_path);

/* Is it a package.json, whose text decides? */
bool ck_runs_later_is_package(const char *path);

/*
 * What changed in a package.json; before is NULL for a new one. NULL where only members changed that describe it, and
 * nothing that is run or fetched.
 */
const char *ck_runs_later_by_package(const char *before, size_t before_length, const char *after, size_t after_length);

#endif
