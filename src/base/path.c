/* path.c - see path.h. */
#include "base/path.h"

#include <string.h>

const char *ck_path_beneath(const char *root, const char *path)
{
    /*
     * "/" ends in the slash that follows any other root; without it, the check below holds for both
     */
    size_t length = strcmp(root, "/") == 0 ? 0 : strlen(root);
    /* a whole component must match: "/a/bc" is not beneath "/a/b" */
    if (strncmp(root, path, length) != 0 || (path[length] != '/' && path[length] != '\0'))
        return NULL;
    path += length;
    return path + strspn(path, "/");
}
