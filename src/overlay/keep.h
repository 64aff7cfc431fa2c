/*
 * keep.h - a directory for the changes of a run (R37).
 *
 *   1. ck_keep_check   checks the directory; nothing is written
 *   2. ck_keep_make    makes it, if it does not exist yet
 *   3. ck_keep_make_path, ck_keep_link   put something into it
 *   4. ck_keep_init; for each file ck_keep_begin, ck_keep_step until it returns 1, ck_keep_end; or
 *      ck_keep_drop
 */
#ifndef CK_OVERLAY_KEEP_H
#define CK_OVERLAY_KEEP_H

#include "base/arena.h"
#include "chokepoint.h"
#include "sys/slice.h"
#include "sys/trust.h"

#include <sys/types.h>

struct ck_keep_target {
    int fd;           /* the directory, or the one to make it in; -1: nothing is kept */
    const char *name; /* its name there, if it must be made; NULL: it exists */
};

/*
 * An existing directory must be empty, belong to the caller, and not be writable by group or
 * others. For a new one the directory above it must exist. Neither may be in the root. Returns 0,
 * or a negative errno and *error (CHOKE_INVALID).
 */
int ck_keep_check(const char *path, struct ck_identity root, struct ck_arena *arena, struct ck_keep_target *ret_place,
                  struct choke_error *error);

/* Returns 0 and a descriptor of the directory, or a negative errno. */
int ck_keep_make(const struct ck_keep_target *place, int *ret_fd);

/* Removes a directory that ck_keep_make made and that is still empty. */
void ck_keep_remove_empty(const struct ck_keep_target *place);

/*
 * The directory at path ("" or "a/b"), made with its parents if they are missing. A descriptor, or
 * a negative errno.
 */
int ck_keep_make_path(int top_fd, const char *path, struct ck_slice *slice);

/*
 * Copies a symlink from the directory from_fd into the directory to_fd. Returns 0 or a negative
 * errno.
 */
int ck_keep_link(int from_fd, int to_fd, const char *name);

/* The state of copying files, one after another. */
struct ck_keep_copy {
    int top_fd;    /* the directory that holds part; the caller's */
    char part[48]; /* the name of a file that is not complete yet */
    int from_fd;   /* -1: no copy in progress */
    int to_fd;
    off_t at, hole; /* copied up to at; the data ends at hole */
    /* of the file; a hole at its end is made by ftruncate */
    off_t size;
    pid_t owner; /* a fork of the caller leaves the file alone */
};

void ck_keep_init(struct ck_keep_copy *copy, int top_fd);

/*
 * Starts to copy the regular file name of the directory from_fd. Returns 0 or a negative errno;
 * after a failure nothing is left open.
 */
int ck_keep_begin(struct ck_keep_copy *copy, int from_fd, const char *name);

/*
 * 1: everything is copied. 0: the slice has no bytes left. A negative errno: the copy was dropped.
 */
int ck_keep_step(struct ck_keep_copy *copy, char *buffer, size_t size, struct ck_slice *slice);

/*
 * Gives the copy its name in the directory to_fd. Its mode loses setuid, setgid and the sticky bit,
 * and its owner may always read and write it. Returns 0 or a negative errno.
 */
int ck_keep_end(struct ck_keep_copy *copy, int to_fd, const char *name, mode_t mode);

/* Removes an incomplete copy. Does nothing if no copy is in progress. */
void ck_keep_drop(struct ck_keep_copy *copy);

#endif
