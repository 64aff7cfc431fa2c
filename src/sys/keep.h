/*
 * keep.h - a directory for what a run changed (R37).
 *
 *   1. ck_keep_look   is the place fit? Nothing is written.
 *   2. ck_keep_make   makes the directory, if it is not there yet
 *   3. ck_keep_file, ck_keep_link, ck_keep_directory, ck_keep_enter   put something into it
 */
#ifndef CK_SYS_KEEP_H
#define CK_SYS_KEEP_H

#include "base/arena.h"
#include "chokepoint.h"
#include "sys/trust.h"

#include <sys/types.h>

struct ck_keep_place {
    int fd;           /* the directory itself, or the one that it is to be made in; -1: nothing is kept */
    const char *name; /* what it is to be called there; NULL: it is there */
};

/*
 * An existing directory must be empty, the caller's own, and closed to the writing of others; of a new one the
 * directory above it must exist. Neither may lie in the root. 0, or a negative errno and *error (CHOKE_INVALID).
 */
int ck_keep_look(const char *path, struct ck_identity root, struct ck_arena *arena, struct ck_keep_place *ret_place,
                 struct choke_error *error);

/* 0 and a descriptor of the directory, or a negative errno. */
int ck_keep_make(const struct ck_keep_place *place, int *ret_fd);

/* Takes a directory away that ck_keep_make made and nothing was put into. */
void ck_keep_unmake(const struct ck_keep_place *place);

/* The directory at path ("" or "a/b"), made with those that lead to it. A descriptor, or a negative errno. */
int ck_keep_enter(int top_fd, const char *path);

/*
 * One thing of the directory from_fd into the directory to_fd. Modes are kept without setuid, setgid and the sticky
 * bit, and never close something to its owner. 0 or a negative errno.
 */
int ck_keep_file(int from_fd, int to_fd, const char *name, mode_t mode);
int ck_keep_link(int from_fd, int to_fd, const char *name);
int ck_keep_directory(int to_fd, const char *name, mode_t mode);

#endif
