/* toolcache.c - see toolcache.h. The variables are not asked for in a program with privileges that its caller lacks. */
#include "api/toolcache.h"

#include "base/error.h"
#include "base/fd.h"
#include "sys/statefile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static bool find_path(char path[PATH_MAX])
{
    const char *base = secure_getenv("XDG_CACHE_HOME");
    const char *home = secure_getenv("HOME");
    int length = 0;
    if (base != NULL && base[0] == '/')
        length = snprintf(path, PATH_MAX, "%s/chokepoint", base);
    else if (home != NULL && home[0] == '/')
        length = snprintf(path, PATH_MAX, "%s/.cache/chokepoint", home);
    if (length > 0 && length < PATH_MAX - (int)sizeof CK_TOOLCACHE_NAME)
        return true;
    path[0] = '\0';
    return false;
}

void ck_toolcache_open(struct ck_toolcache *place)
{
    char *text = NULL;
    size_t length;
    if (!find_path(place->path)) {
        (void)ck_error_set(&place->error, CHOKE_NONE, ENOENT, "neither XDG_CACHE_HOME nor HOME names a directory");
        return;
    }
    if (ck_statefile_directory(place->path, &place->fd, &place->error) < 0)
        return;
    int result = ck_statefile_read(place->fd, CK_TOOLCACHE_NAME, CK_CACHE_MAX_BYTES, &text, &length, &place->error);
    if (result == 0 && ck_cache_parse(text, length, &place->cache) < 0)
        (void)ck_error_set(&place->error, CHOKE_NONE, EINVAL, "'%s' was not written by this version, or is damaged",
                           CK_TOOLCACHE_NAME);
    free(text);
}

void ck_toolcache_done(struct ck_toolcache *place)
{
    ck_cache_done(&place->cache);
    ck_fd_close(&place->fd);
}
