/* home.c - see home.h. */
#include "sys/home.h"

#include "base/heap.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>

#define ENTRY_BYTES ((size_t)16384) /* of one entry; more than any real one has */
#define ENTRY_BYTES_MAX ((size_t)1 << 20)

/* getpwuid_r returns a positive errno; 0 without a result: there is no such user. */
static int find(uid_t uid, size_t size, char ret_path[PATH_MAX])
{
    CK_HEAP char *text = ck_heap_own(malloc(size));
    struct passwd entry, *found = NULL;
    if (!text)
        return -ENOMEM;
    int r = getpwuid_r(uid, &entry, text, size, &found);
    if (r != 0)
        return -r;
    if (!found || !found->pw_dir || found->pw_dir[0] != '/')
        return -ENOENT;
    int length = snprintf(ret_path, PATH_MAX, "%s", found->pw_dir);
    return length < 0 || length >= PATH_MAX ? -ENAMETOOLONG : 0;
}

int ck_home_find(uid_t uid, char ret_path[PATH_MAX])
{
    int r = -ERANGE;
    for (size_t size = ENTRY_BYTES; r == -ERANGE && size <= ENTRY_BYTES_MAX; size *= 4)
        r = find(uid, size, ret_path);
    return r;
}
