/*
 * temporary.h - temporary directories of gather in /tmp: for the changes of an overlay, for what a
 * container is given, and for what a fleet has cloned.
 *
 * Each is locked by the process that made it. A killed process cannot remove what it made. So
 * whoever makes the next one removes all that are not locked.
 */
#ifndef CK_GATHER_TEMPORARY_H
#define CK_GATHER_TEMPORARY_H

#include <stdbool.h>

#define CK_TEMPORARY_PATH_MAX 64

enum ck_temporary_kind { CK_TEMPORARY_CHANGES, CK_TEMPORARY_TRACE, CK_TEMPORARY_CLONE, CK_TEMPORARY_KINDS };

struct ck_temporary {
    char path[CK_TEMPORARY_PATH_MAX]; /* "": none */
    int fd;                           /* the directory, which also holds the lock */
};

/* Returns 0, or a negative errno without a directory. Others have no access to it. */
int ck_temporary_make(enum ck_temporary_kind kind, struct ck_temporary *ret_temporary);
/* With everything in it; a zero-filled one is ignored. */
void ck_temporary_remove(struct ck_temporary *temporary);

/* Is there more than what every use of a temporary directory takes? */
bool ck_temporary_has_room(void);

#endif
