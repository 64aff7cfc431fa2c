/* noexec.c - reads /proc/self/mountinfo for mounts that are noexec. See noexec.h. */
#include "sys/noexec.h"

#include "base/file.h"
#include "base/heap.h"
#include "base/path.h"
#include "sys/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#define MOUNTINFO_MAX ((size_t)8 << 20)
#define FIELD_MOUNT 4   /* of a line: "36 35 98:0 /mnt1 /mnt2 rw,noexec ..." */
#define FIELD_OPTIONS 5 /* of the mount, not of its file system */

/* The kernel writes space, tab, line feed and backslash as three octal digits. */
static void unescape(char *path)
{
    char *to = path;
    for (const char *at = path; *at != '\0'; at++) {
        bool octal = at[0] == '\\' && at[1] >= '0' && at[1] <= '3' && at[2] >= '0' && at[2] <= '7' && at[3] >= '0' &&
                     at[3] <= '7';
        *to++ = octal ? (char)((at[1] - '0') * 64 + (at[2] - '0') * 8 + (at[3] - '0')) : *at;
        at += octal ? 3 : 0;
    }
    *to = '\0';
}

static bool has_option(const char *options, const char *wanted)
{
    size_t length = strlen(wanted);
    for (const char *at = options; *at != '\0'; at += strspn(at, ",")) {
        size_t here = strcspn(at, ",");
        if (here == length && strncmp(at, wanted, length) == 0)
            return true;
        at += here;
    }
    return false;
}

/* The path of a line's mount if it is noexec; or NULL. */
static const char *noexec_mount(char *line)
{
    char *save = NULL;
    char *mount = NULL;
    char *field = strtok_r(line, " ", &save);
    for (unsigned i = 0; field && i < FIELD_OPTIONS; i++) {
        mount = i == FIELD_MOUNT ? field : mount;
        field = strtok_r(NULL, " ", &save);
    }
    if (!mount || !field || !has_option(field, "noexec"))
        return NULL;
    unescape(mount);
    return mount;
}

/* A later mount may cover an earlier one, so the last of the longest paths counts. */
const char *ck_noexec_search(char *mountinfo, const char *top, bool at_top)
{
    const char *found = NULL;
    char *save = NULL;
    for (char *line = strtok_r(mountinfo, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        const char *mount = noexec_mount(line);
        if (!mount)
            continue;
        if (at_top && ck_path_beneath(mount, top) && (!found || strlen(mount) >= strlen(found)))
            found = mount;
        if (!at_top && !found && strcmp(mount, top) != 0 && ck_path_beneath(top, mount))
            found = mount;
    }
    return found;
}

int ck_noexec_find(int root_fd, struct ck_arena *arena, bool *ret_root, const char **ret_mount)
{
    struct statvfs status;
    CK_HEAP char *root = ck_heap_own(malloc(PATH_MAX));
    char *text = NULL;
    if (!root)
        return -ENOMEM;
    if (fstatvfs(root_fd, &status) < 0)
        return -errno;
    *ret_root = (status.f_flag & ST_NOEXEC) != 0;
    *ret_mount = NULL;
    int r = ck_beneath_path(root_fd, root, PATH_MAX);
    if (r < 0)
        return r;
    size_t length;
    bool readable = ck_file_read(AT_FDCWD, "/proc/self/mountinfo", 0, MOUNTINFO_MAX, &text, &length) >= 0;
    CK_HEAP char *owned = ck_heap_own(readable ? text : NULL);
    const char *mount = owned ? ck_noexec_search(owned, root, *ret_root) : NULL;
    if (!mount && *ret_root)
        mount = root;
    if (!mount)
        return 0;
    *ret_mount = ck_arena_strdup(arena, mount);
    return *ret_mount ? 0 : -ENOMEM;
}
