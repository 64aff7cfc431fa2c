/*
 * directories.h - the directories of a tree that is walked more than once. Each is stored by its
 * name and parent, so that memory does not depend on the depth of the tree.
 */
#ifndef CK_OVERLAY_DIRECTORIES_H
#define CK_OVERLAY_DIRECTORIES_H

#include "base/arena.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define CK_DIRECTORIES_END UINT32_MAX

/* One directory. Its number is its index in the list. */
struct ck_overlay_directory {
    const char *name; /* "" for the first, which is the top */
    const char *kind; /* the change of the directory itself; NULL: unchanged */
    uint32_t parent;  /* its number; 0 for the top itself */
    mode_t mode;      /* before make_accessible changed it */
    bool seen;        /* returned in the pass that finds directories */
};

struct ck_directories {
    struct ck_arena names; /* bounded; owns every name */
    struct ck_overlay_directory *items;
    size_t count, capacity;
    uint32_t *urgent; /* a stack of those that come before the others */
    size_t urgent_count, urgent_capacity;
    size_t next; /* the number that comes next in this pass */
};

/* Empty; nothing is allocated. */
void ck_directories_init(struct ck_directories *directories);

/* False: no memory. The name is copied. */
bool ck_directories_add(struct ck_directories *directories, const struct ck_overlay_directory *directory, bool urgent);

/*
 * The number of the next directory, or CK_DIRECTORIES_END at the end of a pass; the call after that
 * starts again. finding: directories are added during this pass, and the urgent ones come first.
 */
uint32_t ck_directories_next(struct ck_directories *directories, bool finding);

/* The path from the top, into a buffer of PATH_MAX. False if it is too long. */
bool ck_directories_path(const struct ck_directories *directories, uint32_t number, char *path, size_t *ret_length);
void ck_directories_done(struct ck_directories *directories);

#endif
