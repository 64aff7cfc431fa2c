/*
 * keep.h - a directory for what a run changed (R37).
 *
 *   1. ck_keep_check   is the place fit? Nothing is written.
 *   2. ck_keep_make   makes the directory, if it is not there yet
 *   3. ck_keep_make_path, ck_keep_link   put something into it
 *   4. ck_keep_init; for each file ck_keep_begin, ck_keep_step until it says 1, ck_keep_end; or ck_keep_drop
 */
#ifndef CK_OVERLAY_KEEP_H
#define CK_OVERLAY_KEEP_H

#include "base/arena.h"
#include "chokepoint.h"
#include "sys/slice.h"
#include "sys/trust.h"

#include <sys/types.h>

struct ck_keep_target {
    int fd;           /* the directory itself, or the one that it is to be made in; -1: nothing is kept */
    const char *name; /* what it is to be called there; NULL: it is there */
};

/*
 * An existing directory must be empty, the caller's own, and closed to the writing of others; of a new one the
 * directory above it must exist. Neither may lie in the root. 0, or a negative errno and *error (CHOKE_INVALID).
 */
int ck_keep_check(const char *path, struct ck_identity root, struct ck_arena *arena, struct ck_keep_target *ret_place,
                  struct choke_error *error);

/* 0 and a descriptor of the directory, or a negative errno. */
int ck_keep_make(const struct ck_keep_target *place, int *ret_fd);

/* Takes a directory away that ck_keep_make made and nothing was put into. */
void ck_keep_remove_empty(const struct ck_keep_target *place);

/* The directory at path ("" or "a/b"), made with those that lead to it. A descriptor, or a negative errno. */
int ck_keep_make_path(int top_fd, const char *path, struct ck_slice *slice);

/* A link of the directory from_fd into the directory to_fd. 0 or a negative errno. */
int ck_keep_link(int from_fd, int to_fd, const char *name);

/* The copy of one file after the other. */
struct ck_keep_copy {
    int top_fd;    /* where part is; the caller's */
    char part[48]; /* the name of a file that is not whole yet */
    int from_fd;   /* -1: no copy is under way */
    int to_fd;
    off_t at, hole; /* copied up to here; the data ends there */
    off_t size;
    pid_t owner; /* a fork of the caller leaves the file alone */
};

void ck_keep_init(struct ck_keep_copy *copy, int top_fd);

/* The regular file name of the directory from_fd. 0 or a negative errno; nothing is left to be done then. */
int ck_keep_begin(struct ck_keep_copy *copy, int from_fd, const char *name);

/* 1: all of it is copied. 0: the slice has no bytes left. A negative errno: it was dropped. */
int ck_keep_step(struct ck_keep_copy *copy, char *buffer, size_t size, struct ck_slice *slice);

/*
 * Gives it its name in the directory to_fd, and its mode without setuid, setgid and the sticky bit, never closed to its
 * owner. 0 or a negative errno.
 */
int ck_keep_end(struct ck_keep_copy *copy, int to_fd, const char *name, mode_t mode);

/* Removes what was copied of a file that is not whole. Harmless where nothing is under way. */
void ck_keep_drop(struct ck_keep_copy *copy);

#endif
