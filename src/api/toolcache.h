/*
 * toolcache.h - the cache file tools.json, in $XDG_CACHE_HOME/chokepoint, else
 * $HOME/.cache/chokepoint.
 */
#ifndef CK_API_TOOLCACHE_H
#define CK_API_TOOLCACHE_H

#include "chokepoint.h"
#include "ready/cache.h"
#include "sys/trust.h"

#include <limits.h>
#include <stdbool.h>

#define CK_TOOLCACHE_NAME "tools.json"

struct ck_toolcache {
    char path[PATH_MAX]; /* of the directory; "" for none */
    int fd;              /* -1: the cache is not used */
    struct ck_cache cache;
    struct choke_error error; /* the note for the report */
};

/*
 * The directory, which may not exist. home: it is there, whatever the environment says; NULL: by the
 * environment, and false if no variable names one.
 */
bool ck_toolcache_path(const char *home, char path[PATH_MAX]);

/*
 * Before the call: zero-filled, fd -1. A cache that cannot be read or is not trusted leaves it
 * empty, with a note. So does a directory inside root (NULL: no root), because the repository could
 * have written it; nothing is created there.
 */
void ck_toolcache_open(struct ck_toolcache *toolcache, const char *home, const struct ck_identity *root);
void ck_toolcache_done(struct ck_toolcache *toolcache);

#endif
