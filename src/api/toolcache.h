/* toolcache.h - the cache file tools.json, in the directory of sys/cachedir.h. */
#ifndef CK_API_TOOLCACHE_H
#define CK_API_TOOLCACHE_H

#include "chokepoint.h"
#include "ready/cache.h"
#include "sys/trust.h"

#include <limits.h>

#define CK_TOOLCACHE_NAME "tools.json"

struct ck_toolcache {
    char path[PATH_MAX]; /* of the directory; "" for none */
    int fd;              /* -1: the cache is not used */
    struct ck_cache cache;
    struct choke_error error; /* the note for the report */
};

/*
 * Before the call: zero-filled, fd -1. A cache that cannot be read or is not trusted leaves it
 * empty, with a note. So does a directory inside root (NULL: no root), because the repository could
 * have written it; nothing is created there.
 */
void ck_toolcache_open(struct ck_toolcache *toolcache, const char *home, const struct ck_identity *root);
void ck_toolcache_done(struct ck_toolcache *toolcache);

#endif
