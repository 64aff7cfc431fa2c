/* via_repo_symlink.c - see via_repo_symlink.h. */
#include "gather/via_repo_symlink.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_beneath(const char *root, const char *path)
{
    size_t length = strlen(root);
    return strncmp(path, root, length) == 0 && (path[length] == '\0' || path[length] == '/' || length == 1);
}

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
        if (is_beneath(root, parent) && lstat(prefix, &status) == 0 && S_ISLNK(status.st_mode))
            return true;
    }
    return false;
}
