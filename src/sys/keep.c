/*
 * keep.c - see keep.h.
 *
 * The directory is the caller's own and begins empty, and what is put into it comes in the order of a walk, each name
 * once; so no link that was put there can lie on the way of what comes later. Each step refuses to follow one all the
 * same.
 */
#include "sys/keep.h"

#include "base/error.h"
#include "base/fd.h"
#include "base/heap.h"
#include "base/quote.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE_BYTES ((size_t)16 << 10)
#define UP_MAX 4096

/* ---- the place --------------------------------------------------------------------------- */

/* -EXDEV if it does. */
static int lies_in(int directory_fd, struct ck_identity root)
{
    CK_FD at = fcntl(directory_fd, F_DUPFD_CLOEXEC, 3);
    struct ck_identity here, above;
    int result = at < 0 ? -errno : ck_identity_of(at, &here);
    for (int i = 0; result == 0 && i < UP_MAX; i++) {
        if (here.device == root.device && here.inode == root.inode)
            return -EXDEV;
        int up = openat(at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (up < 0)
            return -errno;
        ck_fd_close(&at);
        at = up;
        result = ck_identity_of(at, &above);
        if (result == 0 && here.device == above.device && here.inode == above.inode)
            return 0;
        here = above;
    }
    return result < 0 ? result : -ELOOP;
}

static int is_empty(int directory_fd)
{
    int fd = openat(directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = fd < 0 ? NULL : fdopendir(fd);
    if (directory == NULL) {
        int result = -errno;
        ck_fd_close(&fd);
        return result;
    }
    int entries = 0;
    while (entries <= 2 && readdir(directory) != NULL)
        entries++;
    (void)closedir(directory);
    return entries <= 2 ? 0 : -ENOTEMPTY;
}

/* Others must not be able to put something in the way. */
static int is_ours(int fd)
{
    struct stat status;
    if (fstat(fd, &status) < 0)
        return -errno;
    return status.st_uid == geteuid() && (status.st_mode & 022) == 0 ? 0 : -EPERM;
}

static int refuse(const char *path, int errnum, struct choke_error *error)
{
    return ck_error_set(error, CHOKE_INVALID, errnum, "changes cannot be kept in '%s': %s", CK_QUOTE(path),
                        errnum == EXDEV       ? "it lies in the root; name a directory outside"
                        : errnum == ENOTEMPTY ? "it is not empty"
                        : errnum == EPERM     ? "it must be the caller's own, and closed to the writing of others"
                                              : strerror(errnum));
}

/* The directory above, and the last component, which is to be made. */
static int look_above(const char *path, struct ck_arena *arena, struct ck_keep_place *place)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    size_t start = length;
    while (start > 0 && path[start - 1] != '/')
        start--;
    char above[PATH_MAX];
    if (length == start)
        return -ENOENT;
    if (length - start > NAME_MAX || start >= sizeof above)
        return -ENAMETOOLONG;
    (void)snprintf(above, sizeof above, "%.*s", start > 0 ? (int)start : 1, start > 0 ? path : ".");
    place->name = ck_arena_memdup(arena, path + start, length - start);
    if (place->name == NULL)
        return -ENOMEM;
    place->fd = open(above, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return place->fd < 0 ? -errno : 0;
}

int ck_keep_look(const char *path, struct ck_identity root, struct ck_arena *arena, struct ck_keep_place *ret_place,
                 struct choke_error *error)
{
    struct ck_keep_place place = {.fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC)};
    int result = place.fd >= 0 ? 0 : errno == ENOENT ? look_above(path, arena, &place) : -errno;
    if (result == 0)
        result = lies_in(place.fd, root);
    if (result == 0 && place.name == NULL)
        result = is_ours(place.fd);
    if (result == 0 && place.name == NULL)
        result = is_empty(place.fd);
    if (result < 0) {
        ck_fd_close(&place.fd);
        return refuse(path, -result, error);
    }
    *ret_place = place;
    return 0;
}

int ck_keep_make(const struct ck_keep_place *place, int *ret_fd)
{
    const char *name = place->name != NULL ? place->name : ".";
    if (place->name != NULL && mkdirat(place->fd, name, 0700) < 0)
        return -errno;
    CK_FD fd = openat(place->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int result = fd < 0 ? -errno : is_ours(fd);
    if (result == 0)
        *ret_fd = ck_fd_take(&fd);
    return result;
}

void ck_keep_unmake(const struct ck_keep_place *place)
{
    if (place->name != NULL)
        (void)unlinkat(place->fd, place->name, AT_REMOVEDIR);
}

/* ---- what is put there ------------------------------------------------------------------- */

int ck_keep_enter(int top_fd, const char *path)
{
    CK_FD at = fcntl(top_fd, F_DUPFD_CLOEXEC, 3);
    if (at < 0)
        return -errno;
    while (*path != '\0') {
        char name[NAME_MAX + 1];
        size_t length = strcspn(path, "/");
        if (length > NAME_MAX)
            return -ENAMETOOLONG;
        memcpy(name, path, length);
        name[length] = '\0';
        if (mkdirat(at, name, 0755) < 0 && errno != EEXIST)
            return -errno;
        int down = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (down < 0)
            return -errno;
        ck_fd_close(&at);
        at = down;
        path += length + (path[length] == '/' ? 1 : 0);
    }
    return ck_fd_take(&at);
}

/* From start to end, which is data. */
static int copy_piece(int from_fd, int to_fd, off_t start, off_t end)
{
    static const size_t most = PIECE_BYTES;
    CK_HEAP char *bytes = malloc(PIECE_BYTES);
    if (bytes == NULL)
        return -ENOMEM;
    while (start < end) {
        size_t wanted = (uint64_t)(end - start) < most ? (size_t)(end - start) : most;
        ssize_t got = pread(from_fd, bytes, wanted, start);
        if (got <= 0)
            return got < 0 ? -errno : 0;
        for (ssize_t done = 0, put; done < got; done += put) {
            put = pwrite(to_fd, bytes + done, (size_t)(got - done), start + done);
            if (put < 0)
                return -errno;
        }
        start += got;
    }
    return 0;
}

/* Beyond the caller's own limit the kernel would not only refuse, but end the caller by SIGXFSZ. */
static int may_grow_to(off_t size)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) < 0)
        return -errno;
    return limit.rlim_cur != RLIM_INFINITY && (rlim_t)size > limit.rlim_cur ? -EFBIG : 0;
}

/* A file may be all hole and larger than any disk: only its data is copied. */
static int copy_data(int from_fd, int to_fd)
{
    struct stat status;
    if (fstat(from_fd, &status) < 0)
        return -errno;
    int fits = may_grow_to(status.st_size);
    if (fits < 0)
        return fits;
    for (off_t start = 0; start < status.st_size;) {
        start = lseek(from_fd, start, SEEK_DATA);
        if (start < 0)
            break; /* ENXIO: nothing but a hole */
        off_t end = lseek(from_fd, start, SEEK_HOLE);
        int result = end < 0 ? -errno : copy_piece(from_fd, to_fd, start, end);
        if (result < 0)
            return result;
        start = end;
    }
    return ftruncate(to_fd, status.st_size) < 0 ? -errno : 0;
}

int ck_keep_file(int from_fd, int to_fd, const char *name, mode_t mode)
{
    CK_FD from = openat(from_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (from < 0)
        return -errno;
    CK_FD to = openat(to_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (to < 0)
        return -errno;
    int result = copy_data(from, to);
    return result == 0 && fchmod(to, (mode & 0777) | 0600) < 0 ? -errno : result;
}

int ck_keep_link(int from_fd, int to_fd, const char *name)
{
    char target[PATH_MAX];
    ssize_t length = readlinkat(from_fd, name, target, sizeof target - 1);
    if (length < 0)
        return -errno;
    target[length] = '\0';
    return symlinkat(target, to_fd, name) < 0 ? -errno : 0;
}

int ck_keep_directory(int to_fd, const char *name, mode_t mode)
{
    if (mkdirat(to_fd, name, 0700) < 0)
        return -errno;
    CK_FD fd = openat(to_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return fd < 0 || fchmod(fd, (mode & 0777) | 0700) < 0 ? -errno : 0;
}
