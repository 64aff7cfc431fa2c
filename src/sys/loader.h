/*
 * loader.h - where the dynamic loader looks for one shared object. Part of depend.c, which has the rest.
 */
#ifndef CK_SYS_LOADER_H
#define CK_SYS_LOADER_H

#include "sys/depend.h"
#include "sys/elf.h"

/* An ELF file that asks for shared objects, and the one that asked for it. */
struct ck_object {
    struct ck_elf elf;
    const char *origin; /* its directory: $ORIGIN */
    const struct ck_object *parent;
};

/*
 * Offers each place where asker's name may be, in the loader's order, to ck_depend_candidate, until a step of the
 * search gave at least one. Returns how many, 0 for none, or a negative errno.
 */
int ck_loader_find(struct ck_depend *depend, const struct ck_object *requester, const char *name, void *data);

/* In depend.c: 1 if it was taken, 0 if not, or a negative errno. */
int ck_depend_candidate(void *data, const char *name, const char *path, const struct ck_object *requester);
int ck_depend_open(const char *path);

/*
 * Pure: the paths that a loader's cache has for a name, one a call. *at is 0 for the first; NULL when there are no
 * more, or the cache makes no sense.
 */
const char *ck_loader_cached(const char *cache, size_t length, const char *name, size_t *at);

#endif
