/*
 * clear.h - empties a directory that a hostile tool has filled, in slices.
 *
 *   1. ck_clear_init   nothing is removed yet
 *   2. ck_clear_step   removes some; again until it says that it is done
 *   3. ck_clear_done   closes what the steps needed, also before the end
 *
 * No link is followed, and no directory is too deep or too closed. Needs four descriptors besides the directory's,
 * whatever is in it.
 */
#ifndef CK_SYS_CLEAR_H
#define CK_SYS_CLEAR_H

#include "sys/slice.h"

#include <dirent.h>
#include <limits.h>
#include <stddef.h>

struct ck_clearing {
    int top_fd; /* the caller's */
    DIR *top;   /* the round through the top directory; NULL: none is under way */
    DIR *inner; /* a directory in the top one that is being emptied; NULL: none */
    char inner_name[NAME_MAX + 1];
    char name[NAME_MAX + 1]; /* what is being removed; "": the next one has to be read */
    uint64_t last_name;
    size_t removed; /* or moved, in this round */
    int error;      /* the first in this round, a negative errno: what could not be removed */
};

void ck_clear_init(struct ck_clearing *clearing, int top_fd);

/* True when the directory is empty, or holds only what cannot be removed: error says why then. */
bool ck_clear_step(struct ck_clearing *clearing, struct ck_slice *slice);
void ck_clear_done(struct ck_clearing *clearing);

/* A directory that we may read and change, whatever its mode was; never a link. A descriptor, or a negative errno. */
int ck_clear_open(int parent_fd, const char *name);

#endif
