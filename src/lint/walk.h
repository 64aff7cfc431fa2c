/*
 * walk.h - lists the files to scan.
 *
 *   1. ck_walk_add, for each path that the caller named: a file, or a directory with all in it.
 *   2. ck_walk_sort: by path, each once.
 *   3. ck_walk_done frees everything.
 *
 * No symlink is followed, neither now nor when a file is opened later (top.h), so nothing outside
 * the top is ever read. What is skipped is in the list of skips with its reason. What .gitignore or
 * the configuration leaves out is only counted. A directory named .git is not entered.
 */
#ifndef CK_LINT_WALK_H
#define CK_LINT_WALK_H

#include "chokepoint.h"

#include "base/arena.h"
#include "lint/ignore.h"
#include "lint/top.h"

#include <stdbool.h>
#include <stddef.h>

#define CK_WALK_MAX_ENTRIES ((size_t)4 << 20) /* of all directories of a run */

struct ck_walk_file {
    const char *path;  /* from the top */
    const char *shown; /* the path as the caller would write it */
    bool named;        /* the caller named this file, not only its directory */
};

struct ck_walk_skip {
    const char *path; /* from the top */
    const char *shown;
    const char *reason; /* short: "a symbolic link" */
    bool not_scanned;   /* it may contain sources that were not scanned */
};

struct ck_lint_walk {
    struct ck_arena arena; /* the strings and the patterns */
    const struct ck_top *top;
    const struct ck_ignore *exclude; /* from the configuration; for named files too */
    bool no_gitignore;               /* read none */
    struct ck_walk_file *files;
    size_t file_count, file_capacity;
    struct ck_walk_skip *skips;
    size_t skip_count, skip_capacity;
    size_t ignored, excluded; /* files and directories that were left out */
    size_t entries;           /* seen so far */
};

void ck_walk_init(struct ck_lint_walk *walk, const struct ck_top *top, const struct ck_ignore *exclude,
                  bool no_gitignore);

/* Fails if the path does not exist, or is outside the top. */
int ck_walk_add(struct ck_lint_walk *walk, const char *path, struct choke_error *error);

/*
 * Adds a skip; also called later, when a file cannot be scanned. Copies the strings. Returns 0 or
 * -ENOMEM.
 */
int ck_walk_skip(struct ck_lint_walk *walk, struct ck_walk_skip skip);

void ck_walk_sort(struct ck_lint_walk *walk);
void ck_walk_done(struct ck_lint_walk *walk);

#endif
