/* atomic_file.c - see atomic_file.h. */
#include "base/atomic_file.h"

#include "base/fd.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/*
 * Splits path into its directory, which is opened, and the name in it. To replace a file, search
 * and write permission on the directory are enough.
 */
static int open_directory(struct ck_atomic_file *file, int directory_fd, const char *path)
{
    const char *slash = strrchr(path, '/');
    file->name = slash ? slash + 1 : path;
    /* A path that ends in a slash names a directory, which cannot be replaced by a file. */
    if (file->name[0] == '\0')
        return path[0] == '\0' ? -ENOENT : -EISDIR;
    int r = ck_file_open_parent(directory_fd, path);
    if (r < 0)
        return r;
    file->directory_fd = r;
    return 0;
}

int ck_atomic_file_begin(struct ck_atomic_file *file, int directory_fd, const char *path, mode_t mode)
{
    uint64_t number;
    *file = (struct ck_atomic_file){.fd = -1, .directory_fd = -1};
    /* An unknown name, so that others who may write here cannot create it first. */
    if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
        return -EIO;
    (void)snprintf(file->temporary, sizeof(file->temporary), ".chokepoint-%016llx", (unsigned long long)number);
    int r = open_directory(file, directory_fd, path);
    if (r < 0)
        return r;
    /* O_EXCL: never a file, or the target of a link, that someone else made */
    file->fd = openat(file->directory_fd, file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    r = file->fd < 0 ? -errno : 0;
    if (r < 0)
        ck_fd_close(&file->directory_fd);
    return r;
}

void ck_atomic_file_drop(struct ck_atomic_file *file)
{
    if (file->directory_fd >= 0)
        (void)unlinkat(file->directory_fd, file->temporary, 0);
    ck_fd_close(&file->fd);
    ck_fd_close(&file->directory_fd);
}

/*
 * Without this, a loss of power could undo the rename. A caller who may not read the directory
 * cannot sync it; that is not an error.
 */
static int sync_directory(int directory_fd)
{
    CK_FD fd = openat(directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return errno == EACCES ? 0 : -errno;
    return ck_fd_sync(fd);
}

/* Some file systems report a full disk only at fsync or close; so both come before the rename. */
int ck_atomic_file_commit(struct ck_atomic_file *file)
{
    int r = ck_fd_sync(file->fd);
    if (close(ck_fd_take(&file->fd)) < 0 && r == 0)
        r = -errno;
    if (r == 0 && renameat(file->directory_fd, file->temporary, file->directory_fd, file->name) < 0)
        r = -errno;
    if (r < 0) {
        ck_atomic_file_drop(file);
        return r;
    }
    r = sync_directory(file->directory_fd);
    ck_fd_close(&file->directory_fd);
    return r;
}

int ck_atomic_file_write(int directory_fd, const char *path, mode_t mode, const void *data, size_t length)
{
    struct ck_atomic_file file;
    int r = ck_atomic_file_begin(&file, directory_fd, path, mode);
    if (r < 0)
        return r;
    r = ck_fd_write_all(file.fd, data, length);
    if (r == 0)
        return ck_atomic_file_commit(&file);
    ck_atomic_file_drop(&file);
    return r;
}
