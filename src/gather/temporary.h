/*
 * temporary.h - directories of gather's own in /tmp: for what an overlay's tool wrote, and for what a container is given.
 *
 * Each is locked by the process that made it. One that was killed cannot remove what it made: whoever makes the next one
 * removes all that nobody holds.
 */
#ifndef CK_GATHER_TEMPORARY_H
#define CK_GATHER_TEMPORARY_H

#define CK_TEMPORARY_PATH_MAX 64

enum ck_temporary_kind { CK_TEMPORARY_CHANGES, CK_TEMPORARY_TRACE, CK_TEMPORARY_KINDS };

struct ck_temporary {
    char path[CK_TEMPORARY_PATH_MAX]; /* "": none */
    int fd;                           /* the directory, and its lock */
};

/* 0, or a negative errno and there is none. It is closed to others. */
int ck_temporary_make(enum ck_temporary_kind kind, struct ck_temporary *ret_temporary);
void ck_temporary_remove(struct ck_temporary *temporary); /* with all in it; a zero-filled one is none */

#endif
