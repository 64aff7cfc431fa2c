/*
 * top.c - finds the top of a tree, and opens files in it. See top.h.
 *
 * Paths are resolved only to find their names relative to the top. Files are opened by that name,
 * from the descriptor of the top, and there the kernel refuses every symlink (openat2,
 * RESOLVE_NO_SYMLINKS).
 */
#include "lint/top.h"

#include "base/error.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/heap.h"
#include "base/path.h"
#include "base/quote.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * O_NONBLOCK: open(2) of a FIFO without a writer would block. O_NOCTTY: a terminal must not become
 * the controlling terminal.
 */
int ck_top_open(const struct ck_top *top, const char *path, int flags)
{
    return ck_file_resolve(top->fd, path, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY,
                           RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS);
}

/* Reads errno. A lack of memory is not a mistake of the caller, so it is not CHOKE_INVALID. */
static int unreadable(const char *path, struct choke_error *error)
{
    int errnum = errno;
    return ck_error_set(error, errnum == ENOMEM ? CHOKE_NONE : CHOKE_INVALID, errnum, "cannot access '%s': %s",
                        CK_QUOTE(path), strerror(errnum));
}

/* The directory of a path, without symlinks, and its last name. */
static int resolve_parent(const char *path, char *resolved, const char **ret_name)
{
    char parent[PATH_MAX];
    const char *slash = strrchr(path, '/');
    /* "a" is in ".", "/a" is in "/". */
    size_t length = !slash ? 0 : slash == path ? 1 : (size_t)(slash - path);
    if (length >= sizeof(parent)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(parent, path, length);
    parent[length] = '\0';
    *ret_name = slash ? slash + 1 : path;
    return realpath(length > 0 ? parent : ".", resolved) ? 0 : -1;
}

/* The absolute path, in which only the last name may be a symlink, and its status. */
static int resolve(const char *path, char resolved[PATH_MAX], struct stat *ret_status)
{
    const char *name;
    if (lstat(path, ret_status) < 0)
        return -1;
    /* A symlink to a directory does not count as one here, unless a slash follows it. */
    if (S_ISDIR(ret_status->st_mode))
        return realpath(path, resolved) ? 0 : -1;
    if (resolve_parent(path, resolved, &name) < 0)
        return -1;
    size_t length = strlen(resolved);
    int more = snprintf(resolved + length, PATH_MAX - length, "%s%s", length > 1 ? "/" : "", name);
    if (more < 0 || (size_t)more >= PATH_MAX - length) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return 0;
}

/* Removes the last name; false at the root of the file system. */
static bool go_up(char *path)
{
    char *slash = strrchr(path, '/');
    if (!slash || slash[1] == '\0')
        return false;
    /* "/a" becomes "/", not "". */
    slash[slash == path] = '\0';
    return true;
}

/* In a worktree or a submodule .git is a file, so any type counts. */
static bool has_repository(const char *directory)
{
    char name[PATH_MAX + 8];
    struct stat status;
    (void)snprintf(name, sizeof(name), "%s/.git", directory);
    return lstat(name, &status) == 0;
}

/* If it cannot be checked it counts as writable, which is the safe side. */
static bool is_world_writable(const char *directory)
{
    struct stat status;
    return stat(directory, &status) < 0 || (status.st_mode & S_IWOTH) != 0;
}

/*
 * Replaces the directory by the top of its tree. The start itself may be world-writable: the caller
 * named it.
 */
static void find_repository_top(char start[PATH_MAX])
{
    CK_HEAP char *directory = ck_heap_own(strdup(start));
    CK_HEAP char *here = ck_heap_own(getcwd(NULL, 0));
    bool above = false;
    /* Out of memory: the start stays the top. */
    if (!directory)
        return;
    do {
        if (has_repository(directory) && !(above && is_world_writable(directory))) {
            memcpy(start, directory, strlen(directory) + 1);
            return;
        }
        above = true;
    } while (go_up(directory));
    /* No repository. The working directory is above start, so its path is not longer and fits. */
    if (here && ck_path_beneath(here, start))
        memcpy(start, here, strlen(here) + 1);
}

int ck_top_find(const char *root, const char *path, struct ck_top *ret_top, struct choke_error *error)
{
    char start[PATH_MAX];
    struct stat status;
    /* Set before anything can fail: ck_top_done is called in any case. */
    *ret_top = (struct ck_top){.fd = -1};
    if (root) {
        if (!realpath(root, start))
            return unreadable(root, error);
    } else {
        if (resolve(path, start, &status) < 0)
            return unreadable(path, error);
        if (!S_ISDIR(status.st_mode))
            (void)go_up(start);
        find_repository_top(start);
    }
    /* O_PATH needs no permission to read the directory itself. */
    ret_top->fd = open(start, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (ret_top->fd < 0)
        return unreadable(start, error);
    ret_top->path = strdup(start);
    return !ret_top->path ? ck_error_oom(error) : 0;
}

void ck_top_done(struct ck_top *top)
{
    free(top->path);
    ck_fd_close(&top->fd);
    top->path = NULL;
}

int ck_top_locate(const struct ck_top *top, const char *path, char *buffer, size_t size, struct stat *ret_status,
                  struct choke_error *error)
{
    char resolved[PATH_MAX];
    if (resolve(path, resolved, ret_status) < 0)
        return unreadable(path, error);
    const char *rest = ck_path_beneath(top->path, resolved);
    if (!rest)
        return ck_error_set(error, CHOKE_INVALID, EINVAL, "'%s' is outside '%s'; lint one tree at a time",
                            CK_QUOTE(path), CK_QUOTE(top->path));
    (void)snprintf(buffer, size, "%s", rest);
    return 0;
}
