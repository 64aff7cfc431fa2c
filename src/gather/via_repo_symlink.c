/* via_repo_symlink.c - finds symlinks of the repository on a path; see via_repo_symlink.h. */
#include "gather/via_repo_symlink.h"

#include "base/path.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/*
 * Goes over the path one name at a time. Each parent is resolved completely, because a symlink
 * outside of the repository may lead into it; the name itself is looked at with lstat.
 */
bool ck_via_repo_symlink(const char *root, const char *path)
{
    char prefix[PATH_MAX];
    char parent[PATH_MAX];
    struct stat status;

    for (size_t at = strspn(path, "/"); path[at] != '\0'; at += strspn(path + at, "/")) {
        (void)snprintf(prefix, sizeof(prefix), "%.*s", (int)at, path);
        /*
         * The rest of the path does not exist, so it has no symlink either. The caller's open
         * reports the error.
         */
        if (!realpath(at > 0 ? prefix : ".", parent))
            return false;
        at += strcspn(path + at, "/");
        (void)snprintf(prefix, sizeof(prefix), "%.*s", (int)at, path);
        /* Only symlinks that are in the repository matter: its author chose where they lead. */
        if (ck_path_beneath(root, parent) && lstat(prefix, &status) == 0 && S_ISLNK(status.st_mode))
            return true;
    }
    return false;
}
