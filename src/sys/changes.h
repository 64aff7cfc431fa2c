/*
 * changes.h - what a run left in the layer over a repository (R37), and keeping it.
 *
 * The layer is the upper directory of an overlay, written by a tool that may be hostile and is dead by now: nothing in
 * it moves, but any name, mode, depth and number of entries is to be expected. No link in it is followed, nothing but
 * a regular file or a directory in it is opened, and what is looked at is bounded; what lies beyond the bounds is not
 * listed, and the list says that it is incomplete.
 */
#ifndef CK_SYS_CHANGES_H
#define CK_SYS_CHANGES_H

#include "base/arena.h"
#include "chokepoint.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ck_changes {
    struct ck_arena text;
    struct choke_file_change *items; /* in the order of their paths */
    size_t count, capacity;
    bool incomplete;
    int keep_error; /* the first that kept something from being kept; 0: none */
};

/* Most entries that are looked at, and most bytes of names that are remembered. */
#define CK_CHANGES_ENTRIES_MAX ((size_t)100000)
#define CK_CHANGES_TEXT_MAX ((size_t)32 << 20)

struct ck_changes_where {
    int upper_fd;         /* the layer; modes in it are changed where they close a directory to us */
    int lower_fd;         /* the repository */
    int keep_fd;          /* an empty directory for a copy of what was changed; -1: none */
    uint64_t deadline_ns; /* monotonic: when to stop looking */
};

/* Never fails: what could not be done is in incomplete and keep_error. changes is zero-filled before. */
void ck_changes_list(struct ck_changes *changes, const struct ck_changes_where *where);
void ck_changes_done(struct ck_changes *changes);

#endif
