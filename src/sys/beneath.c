/*
 * beneath.c - opens the root, and paths that must stay beneath it.
 *
 * An absolute path is opened as it is, and /proc says where it leads. The part after the root's
 * path is then opened again from the root, with RESOLVE_BENEATH and without symlinks. The first
 * open only finds the text of the path; the second decides.
 */
#include "sys/beneath.h"

#include "base/errkind.h"
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
#include <string.h>
#include <unistd.h>

const char *ck_beneath_strerror(int errnum)
{
    return errnum == CK_BENEATH_NO_PROC ? "no /proc of this pid namespace is mounted at /proc, and it is needed to "
                                          "find where a directory is"
                                        : strerror(errnum);
}

#define DIRECTORY (O_PATH | O_DIRECTORY | O_CLOEXEC)

static int fail(struct choke_error *error, const char *what, const char *path, int errnum)
{
    const char *why = errnum == EXDEV || errnum == ELOOP ? "it leads out of the root" : ck_beneath_strerror(errnum);
    /* A lack of descriptors or memory says nothing about the directory. */
    bool ours = ck_errkind_is_shortage(errnum);
    return ck_error_set(error, ours ? CHOKE_SPAWN_FAILED : CHOKE_CWD, errnum, "%s '%s' cannot be used: %s", what,
                        CK_QUOTE(path), why);
}

int ck_beneath_root(const char *path, int *ret_fd, struct choke_error *error)
{
    int fd = open(path, DIRECTORY);
    if (fd < 0)
        return fail(error, "root", path, errno);
    *ret_fd = fd;
    return 0;
}

int ck_beneath_path(int fd, char *buffer, size_t size)
{
    char link[64];
    (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, buffer, size - 1);
    /*
     * The descriptor is ours, so the entry in /proc is missing. ENOENT is not passed on: a caller
     * would read it as "the directory does not exist".
     */
    if (length < 0)
        return errno == ENOENT || errno == ENOTDIR ? -CK_BENEATH_NO_PROC : -errno;
    if ((size_t)length >= size - 1)
        return -ENAMETOOLONG;
    buffer[length] = '\0';
    return 0;
}

static int open_beneath(int root_fd, const char *path, int flags, uint64_t resolve)
{
    return ck_file_resolve(root_fd, path, flags, RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | resolve);
}

/* From the root, as openat2 takes it; NULL where path is not beneath it. */
static const char *from_here(const char *root, const char *path)
{
    const char *rest = ck_path_beneath(root, path);
    return rest && rest[0] == '\0' ? "." : rest;
}

static int open_absolute(int root_fd, const char *path, int flags)
{
    char root[PATH_MAX], place[PATH_MAX];
    CK_FD fd = open(path, flags);
    if (fd < 0)
        return -errno;
    int r = ck_beneath_path(root_fd, root, sizeof(root));
    if (r == 0)
        r = ck_beneath_path(fd, place, sizeof(place));
    if (r < 0)
        return r;
    const char *rest = from_here(root, place);
    return !rest ? -EXDEV : open_beneath(root_fd, rest, flags, RESOLVE_NO_SYMLINKS);
}

int ck_beneath_directory(int root_fd, const char *path, int *ret_fd, struct choke_error *error)
{
    int fd = path[0] == '/' ? open_absolute(root_fd, path, DIRECTORY) : open_beneath(root_fd, path, DIRECTORY, 0);
    if (fd < 0)
        return fail(error, "working directory", path, -fd);
    *ret_fd = fd;
    return 0;
}

/* ---- paths in arguments ------------------------------------------------------------------ */

#define ANYTHING (O_PATH | O_CLOEXEC)

/* Does the text, read from the root, go above the root at some point? */
static bool climbs_out(const char *path)
{
    long depth = 0;
    for (const char *at = path; *at != '\0' && depth >= 0;) {
        size_t length = strcspn(at, "/");
        if (length == 2 && at[0] == '.' && at[1] == '.')
            depth--;
        else if (length > 1 || (length == 1 && at[0] != '.'))
            depth++;
        at += length;
        at += strspn(at, "/");
    }
    return depth < 0;
}

/*
 * The path as seen from the root, in buffer; -EXDEV if its text is absolute and outside the root.
 */
static int from_root(int root_fd, int cwd_fd, const char *path, char *buffer, size_t size)
{
    char root[PATH_MAX], cwd[PATH_MAX];
    int r = ck_beneath_path(root_fd, root, sizeof(root));
    if (r == 0)
        r = ck_beneath_path(cwd_fd, cwd, sizeof(cwd));
    if (r < 0)
        return r;
    const char *rest = path[0] == '/' ? from_here(root, path) : from_here(root, cwd);
    if (!rest)
        return -EXDEV;
    int length = snprintf(buffer, size, "%s%s%s", rest, path[0] == '/' ? "" : "/", path[0] == '/' ? "" : path);
    return length < 0 || (size_t)length >= size ? -ENAMETOOLONG : 0;
}

/* ENAMETOOLONG counts: no file can have such a name, so the tool cannot open one. */
static bool is_absent(int r)
{
    return r == -ENOENT || r == -ENOTDIR || r == -ENAMETOOLONG;
}

static bool has_dotdot(const char *path)
{
    for (const char *at = path; *at != '\0'; at += strspn(at, "/")) {
        size_t length = strcspn(at, "/");
        if (length == 2 && at[0] == '.' && at[1] == '.')
            return true;
        at += length;
    }
    return false;
}

/*
 * Removes "name/.." pairs and "." in place, as tools do that never ask the kernel. Must not be
 * called for a path that climbs out.
 */
static void flatten(char *path)
{
    char *end = path;
    for (const char *at = path; *at != '\0'; at += strspn(at, "/")) {
        size_t length = strcspn(at, "/");
        if (length == 2 && at[0] == '.' && at[1] == '.') {
            while (end > path && *--end != '/') {
            }
        } else if (length > 1 || (length == 1 && at[0] != '.')) {
            if (end > path)
                *end++ = '/';
            memmove(end, at, length);
            end += length;
        }
        at += length;
    }
    *end = '\0';
}

/*
 * To a tool that works on the text, "a/../b" is "b", whatever "a" is. To the kernel "a" may be a
 * symlink, or missing. So both readings are checked, and neither may lead out. Either may be
 * absent.
 */
static int check_flattened(int root_fd, char *place)
{
    flatten(place);
    CK_FD fd = open_beneath(root_fd, place[0] != '\0' ? place : ".", ANYTHING, 0);
    return fd >= 0 || is_absent(fd) ? 0 : fd;
}

/*
 * An absolute path may pass through symlinks and still end beneath the root. Its text proves
 * nothing, so the path must exist, and must not contain "..".
 */
static int check_absolute(int root_fd, const char *path)
{
    if (path[0] != '/' || has_dotdot(path))
        return -EXDEV;
    CK_FD fd = open_absolute(root_fd, path, ANYTHING);
    if (fd >= 0)
        return 0;
    return is_absent(fd) ? -EXDEV : fd;
}

int ck_beneath_stays(int root_fd, int cwd_fd, const char *path, size_t length, bool must_exist)
{
    if (length >= PATH_MAX)
        return must_exist ? -ENAMETOOLONG : -EXDEV;
    /* One part for the copy of the path, two for the working directory and the path joined. */
    CK_HEAP char *text = ck_heap_own(malloc(3 * (size_t)PATH_MAX));
    if (!text)
        return -ENOMEM;
    char *place = text + PATH_MAX;
    memcpy(text, path, length);
    text[length] = '\0';
    int r = from_root(root_fd, cwd_fd, text, place, 2 * (size_t)PATH_MAX);
    if (r == -EXDEV)
        return check_absolute(root_fd, text);
    if (r < 0)
        return r;
    if (climbs_out(place))
        return -EXDEV;
    CK_FD fd = open_beneath(root_fd, place, ANYTHING, 0);
    if (fd < 0 && (must_exist || !is_absent(fd)))
        return fd;
    return has_dotdot(text) ? check_flattened(root_fd, place) : 0;
}

/* Room for the texts of ck_beneath_locate. */
struct locating {
    char root[PATH_MAX], parent[PATH_MAX], place[PATH_MAX];
};

static int put(char *buffer, size_t size, const char *directory, const char *name)
{
    bool here = strcmp(directory, ".") == 0 && name[0] != '\0';
    int length = snprintf(buffer, size, "%s%s%s", here ? "" : directory, here || name[0] == '\0' ? "" : "/", name);
    return length < 0 || (size_t)length >= size ? -ENAMETOOLONG : 0;
}

/* Follows every symlink of the path. */
static int locate_target(struct locating *locating, int root_fd, const char *path, char *buffer, size_t size)
{
    CK_FD fd = open_absolute(root_fd, path, ANYTHING);
    int r = fd < 0 ? fd : ck_beneath_path(fd, locating->place, sizeof(locating->place));
    const char *rest = r < 0 ? NULL : from_here(locating->root, locating->place);
    return rest ? put(buffer, size, rest, "") : r < 0 ? r : -EXDEV;
}

int ck_beneath_locate(int root_fd, const char *path, char *buffer, size_t size)
{
    CK_HEAP struct locating *locating = ck_heap_own(malloc(sizeof(*locating)));
    int r = !locating ? -ENOMEM : ck_beneath_path(root_fd, locating->root, sizeof(locating->root));
    if (r < 0)
        return r;
    const char *rest = from_here(locating->root, path);
    if (rest)
        return put(buffer, size, rest, "");
    const char *name = strrchr(path, '/');
    int length =
        snprintf(locating->parent, sizeof(locating->parent), "%.*s", name == path ? 1 : (int)(name - path), path);
    CK_FD fd = length >= (int)sizeof(locating->parent) ? -1 : open(locating->parent, DIRECTORY);
    r = fd < 0 ? -ENOENT : ck_beneath_path(fd, locating->place, sizeof(locating->place));
    rest = r < 0 || name[1] == '\0' ? NULL : from_here(locating->root, locating->place);
    return rest ? put(buffer, size, rest, name + 1) : locate_target(locating, root_fd, path, buffer, size);
}
