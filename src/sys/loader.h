/*
 * loader.h - where the dynamic loader looks for one shared object. The rest is in depend.c.
 */
#ifndef CK_SYS_LOADER_H
#define CK_SYS_LOADER_H

#include "sys/depend.h"
#include "sys/elf.h"

/* An ELF file that needs shared objects, and the one that needed it. */
struct ck_object {
    struct ck_elf elf;
    const char *origin; /* its directory: $ORIGIN */
    const struct ck_object *parent;
};

/* Gets each place where a name may be. Returns 1 if it was accepted, 0 if not, or a negative errno. */
struct ck_loader_visit {
    int (*candidate)(void *data, const char *name, const char *path, const struct ck_object *requester);
    void *data;
};

/*
 * Offers each place where the requester's name may be, in the order of the loader, to the visit,
 * until a step of the search found at least one. Returns how many, 0 for none, or a negative errno.
 */
int ck_loader_find(struct ck_depend *depend, const struct ck_object *requester, const char *name,
                   const struct ck_loader_visit *visit);

/* In depend.c. */
int ck_depend_open(const char *path);

/*
 * Pure: the paths that a loader's cache has for a name, one per call. *at is 0 for the first call.
 * NULL if there are no more, or the cache is invalid.
 */
const char *ck_loader_cached(const char *cache, size_t length, const char *name, size_t *at);

#endif
