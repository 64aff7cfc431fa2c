/*
 * toolcache.c - finds, opens and parses the cache of tools. See toolcache.h.
 *
 * secure_getenv: a set-user-ID program must not be directed by variables of its caller.
 */
#include "api/toolcache.h"

#include "base/error.h"
#include "base/fd.h"
#include "base/quote.h"
#include "sys/statefile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A relative path is ignored, as the XDG specification requires. */
bool ck_toolcache_path(const char *home, char path[PATH_MAX])
{
    const char *base = home ? NULL : secure_getenv("XDG_CACHE_HOME");
    home = home ? home : secure_getenv("HOME");
    int length = 0;
    if (base && base[0] == '/')
        length = snprintf(path, PATH_MAX, "%s/chokepoint", base);
    else if (home && home[0] == '/')
        length = snprintf(path, PATH_MAX, "%s/.cache/chokepoint", home);
    /* With room for "/" and the name of the file. */
    if (length > 0 && length < PATH_MAX - (int)sizeof(CK_TOOLCACHE_NAME))
        return true;
    path[0] = '\0';
    return false;
}

/*
 * If the path does not exist yet, its nearest existing parent decides. A path that is not trusted
 * is refused later.
 */
static bool is_inside(const char *path, const struct ck_identity *root)
{
    char above[PATH_MAX];
    (void)snprintf(above, sizeof(above), "%s", path);
    for (;;) {
        struct ck_trusted trusted;
        struct choke_error error = {0};
        int r = ck_trust_walk(above, &trusted, &error);
        bool inside = r == 0 && ck_trust_passes(&trusted, *root);
        ck_trust_done(&trusted);
        char *slash = strrchr(above, '/');
        /* Another error: the path exists but is not trusted, or cannot be read. */
        if (r != -ENOENT || !slash || slash == above)
            return inside;
        *slash = '\0';
    }
}

void ck_toolcache_open(struct ck_toolcache *toolcache, const char *home, const struct ck_identity *root)
{
    char *text = NULL;
    size_t length;
    if (!ck_toolcache_path(home, toolcache->path)) {
        (void)ck_error_set(&toolcache->error, CHOKE_NONE, ENOENT, "neither XDG_CACHE_HOME nor HOME names a directory");
        return;
    }
    if (root && is_inside(toolcache->path, root)) {
        (void)ck_error_set(&toolcache->error, CHOKE_NONE, EPERM, "'%s' is inside the root; move it elsewhere",
                           CK_QUOTE(toolcache->path));
        return;
    }
    if (ck_statefile_directory(toolcache->path, &toolcache->fd, &toolcache->error) < 0)
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
