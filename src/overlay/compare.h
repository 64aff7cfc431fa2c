/*
 * compare.h - how one entry of the overlay differs from the repository's, and whether it runs later
 * (R37).
 *
 *   1. ck_compare_init         opens nothing
 *   2. ck_compare_begin        gives the kind of change, or starts a comparison
 *   3. ck_compare_step         continues it, slice by slice
 *   4. ck_compare_runs_later   for an entry that has changed
 *   5. ck_compare_done         also before the end
 */
#ifndef CK_OVERLAY_COMPARE_H
#define CK_OVERLAY_COMPARE_H

#include "sys/slice.h"

#include <limits.h>
#include <stddef.h>
#include <sys/stat.h>

#define CK_COMPARE_BUFFER ((size_t)128 << 10) /* two halves, one for each file */

/* One entry, and the directories that hold it. */
struct ck_compare_entry {
    int upper_fd;
    int lower_fd;      /* -1: the repository has no such directory */
    const char *path;  /* from the root */
    const char *name;  /* its last component */
    struct stat upper; /* not of a symlink's target */
    struct stat lower; /* only if has_lower */
    bool has_lower;
};

/* The comparison of one entry after another. The limits are for a whole run. */
struct ck_comparison {
    int upper_top_fd, lower_top_fd; /* the caller's: the overlay and the repository */
    char *buffer;                   /* the caller's, CK_COMPARE_BUFFER bytes */
    int upper_fd, lower_fd;         /* the files that are being compared; -1: none */
    /* of all files together; beyond a limit a file counts as modified */
    uint64_t compared_bytes;
    /* of all package.json; beyond a limit each counts as one with scripts */
    uint64_t parsed_bytes;
};

void ck_compare_init(struct ck_comparison *comparison, int upper_top_fd, int lower_top_fd, char *buffer);

/*
 * True and the kind: "added", "modified", "mode", or NULL for a file that was opened and left
 * unchanged, or a directory on the path to a change. False: the comparison is not finished.
 */
bool ck_compare_begin(struct ck_comparison *comparison, const struct ck_compare_entry *entry, const char **ret_kind);

/* The same, after as much work as the slice allows. */
bool ck_compare_step(struct ck_comparison *comparison, const struct ck_compare_entry *entry, struct ck_slice *slice,
                     const char **ret_kind);

/* Why it may run later, a constant; NULL: no reason. */
const char *ck_compare_runs_later(struct ck_comparison *comparison, const struct ck_compare_entry *entry,
                                  struct ck_slice *slice);

void ck_compare_done(struct ck_comparison *comparison);

/*
 * Opens a path beneath a top directory, without symlinks and on the same file system. A descriptor,
 * or -1 and errno.
 */
int ck_compare_open(int top_fd, const char *path, int flags);

#endif
