/*
 * clear.h - empties a directory that a hostile tool has filled, in slices.
 *
 *   1. ck_clear_init   removes nothing yet
 *   2. ck_clear_step   removes some entries; called again until it returns true
 *   3. ck_clear_done   closes what the steps opened, also before the end
 *
 * No symlink is followed. Depth and modes do not matter. It needs four descriptors besides the
 * directory's, whatever the directory holds.
 */
#ifndef CK_SYS_CLEAR_H
#define CK_SYS_CLEAR_H

#include "sys/slice.h"

#include <dirent.h>
#include <limits.h>
#include <stddef.h>

struct ck_clearing {
    int top_fd; /* owned by the caller */
    DIR *top;   /* the round through the top directory; NULL: no round */
    DIR *inner; /* a directory of the top directory that is being emptied; NULL: none */
    char inner_name[NAME_MAX + 1];
    char name[NAME_MAX + 1]; /* the entry that is being removed; "": read the next one */
    uint64_t last_name;
    size_t removed; /* or moved, in this round */
    int error;      /* the first failure in this round, a negative errno */
};

void ck_clear_init(struct ck_clearing *clearing, int top_fd);

/* True if the directory is empty, or holds only what cannot be removed: then error says why. */
bool ck_clear_step(struct ck_clearing *clearing, struct ck_slice *slice);
void ck_clear_done(struct ck_clearing *clearing);

/*
 * Opens a directory for reading and changing, whatever its mode was; never through a symlink. A
 * descriptor, or a negative errno.
 */
int ck_clear_open(int parent_fd, const char *name);

#endif
