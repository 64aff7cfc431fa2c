/* path.c - see path.h. */
#include "base/path.h"

#include <string.h>

const char *ck_path_beneath(const char *root, const char *path)
{
    size_t length = strcmp(root, "/") == 0 ? 0 : strlen(root);
    if (strncmp(root, path, length) != 0 || (path[length] != '/' && path[length] != '\0'))
        return NULL;
    path += length;
    return path + strspn(path, "/");
}
