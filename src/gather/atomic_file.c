/* atomic_file.c - see atomic_file.h. */
#include "gather/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define TEMP_NAME_TRIES 100

int ck_atomic_file_begin(struct ck_atomic_file *file, int directory_fd, const char *name)
{
    *file = (struct ck_atomic_file){.directory_fd = directory_fd, .fd = -1};
    int length = snprintf(file->name, sizeof(file->name), "%s", name);
    if (length < 0 || (size_t)length >= sizeof(file->name))
        return -ENAMETOOLONG;
    for (int i = 0; i < TEMP_NAME_TRIES && file->fd < 0; i++) {
        (void)snprintf(file->temp_name, sizeof(file->temp_name), ".chokepoint-%d-%d", (int)getpid(), i);
        file->fd = openat(directory_fd, file->temp_name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (file->fd < 0 && errno != EEXIST)
            return -errno;
    }
    return file->fd < 0 ? -EEXIST : 0;
}

void ck_atomic_file_drop(struct ck_atomic_file *file)
{
    if (file->fd < 0)
        return;
    (void)close(file->fd);
    file->fd = -1;
    (void)unlinkat(file->directory_fd, file->temp_name, 0);
}

/* The directory too, or the name could be lost with the power. A file system that cannot do it says EINVAL. */
static int sync_directory(int directory_fd)
{
    int fd = openat(directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int r = fsync(fd) < 0 && errno != EINVAL ? -errno : 0;
    (void)close(fd);
    return r;
}

/*
 * The old file is there until the new one is whole on the disk. Some file systems say only at fsync or close that the disk
 * is full; so both come before the rename.
 */
int ck_atomic_file_commit(struct ck_atomic_file *file)
{
    int r = fsync(file->fd) < 0 && errno != EINVAL ? -errno : 0;
    if (close(file->fd) < 0 && r == 0)
        r = -errno;
    file->fd = -1;
    if (r == 0 && renameat(file->directory_fd, file->temp_name, file->directory_fd, file->name) < 0)
        r = -errno;
    if (r < 0) {
        (void)unlinkat(file->directory_fd, file->temp_name, 0);
        return r;
    }
    return sync_directory(file->directory_fd);
}

int ck_atomic_file_write(int directory_fd, const char *name, const void *data, size_t length)
{
    struct ck_atomic_file file;
    const char *at = data;
    int r = ck_atomic_file_begin(&file, directory_fd, name);

    while (r == 0 && length > 0) {
        ssize_t written = write(file.fd, at, length);
        if (written < 0 && errno != EINTR)
            r = -errno;
        at += written > 0 ? written : 0;
        length -= written > 0 ? (size_t)written : 0;
    }
    if (r == 0)
        return ck_atomic_file_commit(&file);
    ck_atomic_file_drop(&file);
    return r;
}
