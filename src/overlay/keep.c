/*
 * keep.c - copies changes into a directory for --keep.
 *
 * The directory belongs to the caller and is empty at first, and each name of the overlay is put
 * there once. So no symlink that was put there can be on the path of a later entry. Every step
 * refuses to follow one anyway.
 *
 * A file is copied under a random name, and gets its own name when it is complete. So a copy that
 * is cut off leaves nothing that could be mistaken for the file.
 */
#include "overlay/keep.h"

#include "base/error.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/quote.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENTER_SHARE 8 /* entering this many directories costs about as much as making a file */

/* ---- the directory ----------------------------------------------------------------------- */

static int check_empty(int directory_fd)
{
    int fd = openat(directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = fd < 0 ? NULL : fdopendir(fd);
    if (!directory) {
        int r = -errno;
        ck_fd_close(&fd);
        return r;
    }
    /* fdopendir owns fd now */
    int entries = 0; /* "." and ".." are two of them */
    errno = 0;
    while (entries <= 2 && readdir(directory))
        entries++;
    int r = entries > 2 ? -ENOTEMPTY : -errno;
    (void)closedir(directory);
    return r;
}

/* Others must not be able to put something in the way. */
static int check_ours(int fd)
{
    struct stat status;
    if (fstat(fd, &status) < 0)
        return -errno;
    return status.st_uid == geteuid() && (status.st_mode & 022) == 0 ? 0 : -EPERM;
}

static int refuse(const char *path, int errnum, struct choke_error *error)
{
    return ck_error_set(error, CHOKE_INVALID, errnum, "changes cannot be kept in '%s': %s", CK_QUOTE(path),
                        errnum == EXDEV       ? "it is in the root; name a directory outside"
                        : errnum == ENOTEMPTY ? "it is not empty"
                        : errnum == EPERM ? "it must belong to the caller, and only its owner may have write permission"
                                          : strerror(errnum));
}

/* Opens the directory above, and splits off the last component, which is to be made. */
static int open_above(const char *path, struct ck_arena *arena, struct ck_keep_target *place)
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
    if (length - start > NAME_MAX || start >= sizeof(above))
        return -ENAMETOOLONG;
    (void)snprintf(above, sizeof(above), "%.*s", start > 0 ? (int)start : 1, start > 0 ? path : ".");
    place->name = ck_arena_memdup(arena, path + start, length - start);
    if (!place->name)
        return -ENOMEM;
    place->fd = open(above, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return place->fd < 0 ? -errno : 0;
}

int ck_keep_check(const char *path, struct ck_identity root, struct ck_arena *arena, struct ck_keep_target *ret_place,
                  struct choke_error *error)
{
    /*
     * The user named the path, so a symlink in it is followed here. Later only this descriptor is
     * used.
     */
    struct ck_keep_target place = {.fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC)};
    int r = place.fd >= 0 ? 0 : errno == ENOENT ? open_above(path, arena, &place) : -errno;
    if (r == 0)
        r = ck_trust_is_above(place.fd, root);
    if (r == 1)
        r = -EXDEV;
    if (r == 0 && !place.name)
        r = check_ours(place.fd);
    if (r == 0 && !place.name)
        r = check_empty(place.fd);
    if (r < 0) {
        ck_fd_close(&place.fd);
        return refuse(path, -r, error);
    }
    *ret_place = place;
    return 0;
}

int ck_keep_make(const struct ck_keep_target *place, int *ret_fd)
{
    const char *name = place->name ? place->name : ".";
    /* EEXIST too: something that appeared since the check is not used */
    if (place->name && mkdirat(place->fd, name, 0700) < 0)
        return -errno;
    CK_FD fd = openat(place->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    /* again: time has passed since ck_keep_check */
    int r = fd < 0 ? -errno : check_ours(fd);
    if (r == 0)
        *ret_fd = ck_fd_take(&fd);
    return r;
}

void ck_keep_remove_empty(const struct ck_keep_target *place)
{
    if (place->name)
        (void)unlinkat(place->fd, place->name, AT_REMOVEDIR);
}

/* ---- copies ------------------------------------------------------------------------------ */

int ck_keep_make_path(int top_fd, const char *path, struct ck_slice *slice)
{
    CK_FD at = fcntl(top_fd, F_DUPFD_CLOEXEC, 3);
    if (at < 0)
        return -errno;
    for (uint32_t depth = 1; *path != '\0'; depth++) {
        char name[NAME_MAX + 1];
        size_t length = strcspn(path, "/");
        if (length > NAME_MAX)
            return -ENAMETOOLONG;
        memcpy(name, path, length);
        name[length] = '\0';
        if (mkdirat(at, name, 0755) < 0 && errno != EEXIST)
            return -errno;
        /* component by component, so that O_NOFOLLOW holds for each of them */
        int down = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (down < 0)
            return -errno;
        ck_fd_close(&at);
        at = down;
        path += length + (path[length] == '/' ? 1 : 0);
        ck_slice_spend_creations(slice, depth % ENTER_SHARE == 0 ? 1 : 0);
    }
    return ck_fd_take(&at);
}

/* Copies from the end of the last piece, which is data, to the end of the data or of the slice. */
static int copy_piece(struct ck_keep_copy *copy, char *buffer, size_t size, struct ck_slice *slice)
{
    size_t wanted = size;
    if (slice->bytes < wanted)
        wanted = (size_t)slice->bytes;
    if ((uint64_t)(copy->hole - copy->at) < wanted)
        wanted = (size_t)(copy->hole - copy->at);
    ssize_t got = pread(copy->from_fd, buffer, wanted, copy->at);
    if (got <= 0)
        /* the file was this long, and the tool that could shorten it is dead */
        return got < 0 ? -errno : -EIO;
    for (ssize_t done = 0, put; done < got; done += put) {
        /* pwrite at the same offset: what is not written stays a hole */
        put = pwrite(copy->to_fd, buffer + done, (size_t)(got - done), copy->at + done);
        if (put < 0)
            return -errno;
    }
    copy->at += got;
    ck_slice_spend_bytes(slice, (uint64_t)got);
    return 0;
}

/*
 * Beyond the caller's RLIMIT_FSIZE the kernel would not only refuse the write, but also end the
 * caller with SIGXFSZ. So it is checked before, also for the final ftruncate.
 */
static int check_size_limit(off_t size)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) < 0)
        return -errno;
    return limit.rlim_cur != RLIM_INFINITY && (rlim_t)size > limit.rlim_cur ? -EFBIG : 0;
}

/* A file may be one hole and larger than any disk: only its data is copied. */
static int find_data(struct ck_keep_copy *copy)
{
    off_t start = copy->at < copy->size ? lseek(copy->from_fd, copy->at, SEEK_DATA) : -1;
    if (start < 0) { /* ENXIO: only a hole follows */
        copy->at = copy->hole = copy->size;
        return 0;
    }
    copy->at = start;
    copy->hole = lseek(copy->from_fd, start, SEEK_HOLE);
    return copy->hole < 0 ? -errno : 0;
}

/* Opens both files. After a failure the caller closes what is open. */
static int open_copy(struct ck_keep_copy *copy, int from_fd, const char *name)
{
    struct stat status;
    int fd = ck_file_open(from_fd, name, O_NOFOLLOW, &status);
    if (fd < 0)
        return fd;
    copy->from_fd = fd;
    copy->size = status.st_size;
    int r = check_size_limit(copy->size);
    if (r < 0)
        return r;
    copy->to_fd = openat(copy->top_fd, copy->part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    return copy->to_fd < 0 ? -errno : 0;
}

void ck_keep_init(struct ck_keep_copy *copy, int top_fd)
{
    uint64_t number = 0;
    /*
     * Without random bytes the name is only not random: the directory is empty and only its owner
     * can write there.
     */
    (void)!getrandom(&number, sizeof(number), 0);
    *copy = (struct ck_keep_copy){.top_fd = top_fd, .from_fd = -1, .to_fd = -1, .owner = getpid()};
    (void)snprintf(copy->part, sizeof(copy->part), ".chokepoint-part-%016llx", (unsigned long long)number);
}

int ck_keep_begin(struct ck_keep_copy *copy, int from_fd, const char *name)
{
    copy->at = copy->hole = 0;
    int r = open_copy(copy, from_fd, name);
    if (r < 0)
        ck_keep_drop(copy);
    return r;
}

int ck_keep_step(struct ck_keep_copy *copy, char *buffer, size_t size, struct ck_slice *slice)
{
    int r = 0;
    while (r == 0 && slice->bytes > 0 && copy->at < copy->size) {
        r = copy->at >= copy->hole ? find_data(copy) : 0;
        if (r == 0 && copy->at < copy->hole)
            r = copy_piece(copy, buffer, size, slice);
    }
    if (r < 0)
        ck_keep_drop(copy);
    return r < 0 ? r : copy->at >= copy->size ? 1 : 0;
}

/*
 * Never replaces an existing entry. Not every file system supports RENAME_NOREPLACE; the others can
 * link.
 */
static int give_name(const struct ck_keep_copy *copy, int to_fd, const char *name)
{
    if (renameat2(copy->top_fd, copy->part, to_fd, name, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL || linkat(copy->top_fd, copy->part, to_fd, name, 0) < 0)
        return -errno;
    return unlinkat(copy->top_fd, copy->part, 0) < 0 ? -errno : 0;
}

int ck_keep_end(struct ck_keep_copy *copy, int to_fd, const char *name, mode_t mode)
{
    /* fchmod: the umask does not apply to it */
    int r = ftruncate(copy->to_fd, copy->size) < 0 || fchmod(copy->to_fd, (mode & 0777) | 0600) < 0 ? -errno : 0;
    if (r == 0)
        r = give_name(copy, to_fd, name);
    if (r == 0)
        ck_fd_close(&copy->to_fd);
    ck_keep_drop(copy);
    return r;
}

void ck_keep_drop(struct ck_keep_copy *copy)
{
    /* to_fd is -1 if ck_keep_end gave the file its name: then part does not exist any more */
    if (copy->to_fd >= 0 && copy->owner == getpid())
        (void)unlinkat(copy->top_fd, copy->part, 0);
    ck_fd_close(&copy->to_fd);
    ck_fd_close(&copy->from_fd);
}

int ck_keep_link(int from_fd, int to_fd, const char *name)
{
    char target[PATH_MAX];
    ssize_t length = readlinkat(from_fd, name, target, sizeof(target) - 1);
    if (length < 0)
        return -errno;
    target[length] = '\0';
    return symlinkat(target, to_fd, name) < 0 ? -errno : 0;
}
