/*
 * cachedir.c - finds and opens the cache directory. See cachedir.h.
 *
 * secure_getenv: a set-user-ID program must not be directed by variables of its caller.
 */
#include "sys/cachedir.h"

#include "base/errkind.h"
#include "base/error.h"
#include "base/quote.h"
#include "sys/statefile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_ROOM 64 /* for "/" and the name of a file */

/* A relative path is ignored, as the XDG specification requires. */
bool ck_cachedir_path(const char *home, char path[PATH_MAX])
{
    const char *base = home ? NULL : secure_getenv("XDG_CACHE_HOME");
    home = home ? home : secure_getenv("HOME");
    int length = 0;
    if (base && base[0] == '/')
        length = snprintf(path, PATH_MAX, "%s/chokepoint", base);
    else if (home && home[0] == '/')
        length = snprintf(path, PATH_MAX, "%s/.cache/chokepoint", home);
    if (length > 0 && length < PATH_MAX - NAME_ROOM)
        return true;
    path[0] = '\0';
    return false;
}

/*
 * If the path does not exist yet, its nearest existing parent decides. A path that is not trusted
 * is refused later. 1 or 0; a negative errno for a shortage, which says nothing about the path.
 */
static int is_inside(const char *path, const struct ck_identity *root)
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
        if (r < 0 && ck_errkind_is_shortage(-r))
            return r;
        /* Another error: the path exists but is not trusted, or cannot be read. */
        if (r != -ENOENT || !slash || slash == above)
            return inside;
        *slash = '\0';
    }
}

int ck_cachedir_open(const char *home, const struct ck_identity *root, char ret_path[PATH_MAX], int *ret_fd,
                     struct choke_error *error)
{
    if (!ck_cachedir_path(home, ret_path))
        return ck_error_set(error, CHOKE_NONE, ENOENT, "neither XDG_CACHE_HOME nor HOME names a directory");
    int r = root ? is_inside(ret_path, root) : 0;
    if (r < 0)
        return ck_error_set(error, CHOKE_NONE, -r, "'%s' cannot be looked at: %s", CK_QUOTE(ret_path), strerror(-r));
    if (r > 0)
        return ck_error_set(error, CHOKE_NONE, EPERM, "'%s' is inside the root; move it elsewhere", CK_QUOTE(ret_path));
    return ck_statefile_directory(ret_path, ret_fd, error);
}
