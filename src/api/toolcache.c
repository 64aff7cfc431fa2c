/* toolcache.c - opens and parses the cache of tools. See toolcache.h. */
#include "api/toolcache.h"

#include "base/error.h"
#include "base/fd.h"
#include "sys/cachedir.h"
#include "sys/statefile.h"

#include <errno.h>
#include <stdlib.h>

void ck_toolcache_open(struct ck_toolcache *toolcache, const char *home, const struct ck_identity *root)
{
    char *text = NULL;
    size_t length;
    if (ck_cachedir_open(home, root, toolcache->path, &toolcache->fd, &toolcache->error) < 0)
        return;
    /* A file that does not exist yet is not a fault, and leaves no note. */
    int r = ck_statefile_read(toolcache->fd, CK_TOOLCACHE_NAME, CK_CACHE_MAX_BYTES, &text, &length, &toolcache->error);
    if (r == 0 && ck_cache_parse(text, length, &toolcache->cache) < 0)
        (void)ck_error_set(&toolcache->error, CHOKE_NONE, EINVAL, "'%s' was not written by this version, or is damaged",
                           CK_TOOLCACHE_NAME);
    free(text);
}

void ck_toolcache_done(struct ck_toolcache *toolcache)
{
    ck_cache_done(&toolcache->cache);
    ck_fd_close(&toolcache->fd);
}
