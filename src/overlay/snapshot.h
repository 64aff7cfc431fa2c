/*
 * snapshot.h - what changed in a directory that a program wrote itself, without an overlay (R91).
 *
 *   1. ck_snapshot_take      before the program runs: what is in the directory, by status alone
 *   2. ck_snapshot_compare   when nothing of it lives any more: adds what changed to a list
 *   3. ck_snapshot_free
 *
 * A file has changed if its inode, size or time of change (ctime) has. The program cannot set that
 * time, so it cannot hide a change; a file that it wrote with the same bytes counts as changed.
 * What the program left is hostile, as in changes.h: no symlink is followed, only regular files and
 * directories are opened, and the work is bounded.
 */
#ifndef CK_OVERLAY_SNAPSHOT_H
#define CK_OVERLAY_SNAPSHOT_H

#include "overlay/changes.h"
#include "overlay/compare.h"

/* The maximum of entries of one directory, of bytes of their paths, and of time for one walk. */
#define CK_SNAPSHOT_ENTRIES_MAX ((size_t)500000)
#define CK_SNAPSHOT_TEXT_MAX ((size_t)64 << 20)
#define CK_SNAPSHOT_NS (3 * CK_NS_PER_S)

struct ck_snapshot;

/*
 * Decides why a changed file may run later, a constant, or NULL. found is what the rules for every
 * directory say (runs_later.h); path is from the directory.
 */
typedef const char *(*ck_snapshot_judge_fn)(void *data, const char *path, const char *found);

struct ck_snapshot_list {
    struct ck_changes *changes; /* gets an entry for each change */
    const char *prefix;         /* before each path, with its '/' */
    bool only_runs_later;       /* leave out what does not */
    ck_snapshot_judge_fn judge; /* NULL: found holds */
    void *data;
};

/* NULL: no memory. What is beyond the bounds, or cannot be read, makes it incomplete. */
struct ck_snapshot *ck_snapshot_take(int top_fd);

/*
 * The changes since then, sorted by path. Beyond the bounds the list is incomplete; what does not run
 * later is left out first. A directory that was not looked at counts as one that cannot be read.
 */
void ck_snapshot_compare(const struct ck_snapshot *before, int top_fd, const struct ck_snapshot_list *list);
void ck_snapshot_free(struct ck_snapshot *snapshot); /* NULL is fine */

#endif
