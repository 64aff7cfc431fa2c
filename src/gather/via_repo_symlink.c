/* via_repo_symlink.c - finds symlinks of the repository on a path; see via_repo_symlink.h. */
#include "gather/via_repo_symlink.h"

#include "base/path.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool ck_via_repo_symlink(const char *root, const char *path)
{
    char prefix[PATH_MAX];
    char parent[PATH_MAX];
    struct stat status;

    for (size_t at = strspn(path, "/"); path[at] != '\0'; at += strspn(path + at, "/")) {
        (void)snprintf(prefix, sizeof(prefix), "%.*s", (int)at, path);
        if (!realpath(at > 0 ? prefix : ".", parent))
            return false;
        at += strcspn(path + at, "/");
        (void)snprintf(prefix, sizeof(prefix), "%.*s", (int)at, path);
        if (ck_path_beneath(root, parent) && lstat(prefix, &status) == 0 && S_ISLNK(status.st_mode))
            return true;
    }
    return false;
}
