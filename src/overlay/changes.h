/*
 * changes.h - lists and keeps what a run left in the overlay over a repository (R37).
 *
 * A tool that may be hostile wrote the upper directory of the overlay. The tool is dead, so nothing
 * in it moves, but any name, mode, depth and number of entries must be expected. No symlink in it
 * is followed, and only regular files and directories are opened. The work is bounded: what is
 * beyond the bounds is not listed, and the list says that it is incomplete.
 *
 *   1. ck_changes_begin        makes a walk; nothing is read yet
 *   2. ck_changes_step         continues it, slice by slice, until it returns true
 *      ck_changes_stop_early   or ends it early: then only the sorting of the list remains
 *   3. ck_changes_end          frees the walk; the list stays
 *
 * The walk visits what runs later first: entries known by their name, and symlinks; then
 * executables; then the rest. So a list that is cut off loses these last.
 */
#ifndef CK_OVERLAY_CHANGES_H
#define CK_OVERLAY_CHANGES_H

#include "base/arena.h"
#include "chokepoint.h"
#include "sys/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The list. Paths are in text; kind, type and runs_later point to constants. */
struct ck_changes {
    struct ck_arena text;
    struct choke_file_change *items; /* sorted by path when the walk is done */
    size_t count, capacity;
    bool incomplete;
    int keep_error; /* the first error that kept something from being copied; 0: none */
};

/* The maximum of listed entries, of visited entries, and of bytes of remembered names. */
#define CK_CHANGES_ENTRIES_MAX ((size_t)100000)
#define CK_CHANGES_SEEN_MAX ((size_t)1000000)
#define CK_CHANGES_TEXT_MAX ((size_t)32 << 20)

/* The caller's descriptors. They must stay open until ck_changes_end. */
struct ck_changes_dirs {
    int upper_fd; /* the upper directory; modes that deny us access are changed */
    int lower_fd; /* the repository */
    int keep_fd;  /* an empty directory for copies of the changes; -1: none */
};

struct ck_changes_walk;

/* changes must be zero-filled. The caller still owns it and the descriptors. NULL: no memory. */
struct ck_changes_walk *ck_changes_begin(struct ck_changes *changes, const struct ck_changes_dirs *where);

/* True when it is done. It never fails: incomplete and keep_error say what could not be done. */
bool ck_changes_step(struct ck_changes_walk *walk, struct ck_slice *slice);

/*
 * Drops a file that is being copied. error says why, a positive errno, if something was to be kept.
 * False: everything was already listed and kept.
 */
bool ck_changes_stop_early(struct ck_changes_walk *walk, int error);
void ck_changes_end(struct ck_changes_walk *walk);
void ck_changes_done(struct ck_changes *changes);

#endif
