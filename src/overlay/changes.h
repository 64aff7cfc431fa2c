/*
 * changes.h - what a run left in the layer over a repository (R37), and keeping it.
 *
 * The layer is the upper directory of an overlay, written by a tool that may be hostile and is dead by now: nothing in
 * it moves, but any name, mode, depth and number of entries is to be expected. No link in it is followed, nothing but
 * a regular file or a directory in it is opened, and what is looked at is bounded; what lies beyond the bounds is not
 * listed, and the list says that it is incomplete.
 *
 *   1. ck_changes_begin   a walk; nothing is looked at yet
 *   2. ck_changes_step    goes on with it, slice by slice, until it says that it is done
 *      ck_changes_stop_early     or ends it early: what follows is only putting the list in order
 *   3. ck_changes_end     frees the walk; the list stays
 *
 * What runs later comes first in the walk: what is known by its name, and links; then executables; then the rest. So a
 * list that is cut lacks them last.
 */
#ifndef CK_OVERLAY_CHANGES_H
#define CK_OVERLAY_CHANGES_H

#include "base/arena.h"
#include "chokepoint.h"
#include "sys/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ck_changes {
    struct ck_arena text;
    struct choke_file_change *items; /* in the order of their paths, when the walk is done */
    size_t count, capacity;
    bool incomplete;
    int keep_error; /* the first that kept something from being kept; 0: none */
};

/* Most entries that are listed, most that are looked at, and most bytes of names that are remembered. */
#define CK_CHANGES_ENTRIES_MAX ((size_t)100000)
#define CK_CHANGES_SEEN_MAX ((size_t)1000000)
#define CK_CHANGES_TEXT_MAX ((size_t)32 << 20)

struct ck_changes_dirs {
    int upper_fd; /* the layer; modes in it are changed where they close a directory to us */
    int lower_fd; /* the repository */
    int keep_fd;  /* an empty directory for a copy of what was changed; -1: none */
};

struct ck_changes_walk;

/* changes is zero-filled before; it and the descriptors stay the caller's. NULL: no memory. */
struct ck_changes_walk *ck_changes_begin(struct ck_changes *changes, const struct ck_changes_dirs *where);

/* True when it is done. Never fails: what could not be done is in incomplete and keep_error. */
bool ck_changes_step(struct ck_changes_walk *walk, struct ck_slice *slice);

/*
 * A file that is being copied is dropped. error: why, a positive errno, where something was to be kept. False: everything
 * was listed and kept before.
 */
bool ck_changes_stop_early(struct ck_changes_walk *walk, int error);
void ck_changes_end(struct ck_changes_walk *walk);
void ck_changes_done(struct ck_changes *changes);

#endif
