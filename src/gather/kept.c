/* kept.c - see kept.h. */
#include "gather/kept.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define DRAFT_TRIES 100

int ck_draft_begin(struct ck_draft *draft, int directory_fd, const char *name)
{
    *draft = (struct ck_draft){.directory_fd = directory_fd, .fd = -1};
    int length = snprintf(draft->name, sizeof(draft->name), "%s", name);
    if (length < 0 || (size_t)length >= sizeof(draft->name))
        return -ENAMETOOLONG;
    for (int i = 0; i < DRAFT_TRIES && draft->fd < 0; i++) {
        (void)snprintf(draft->other, sizeof(draft->other), ".chokepoint-%d-%d", (int)getpid(), i);
        draft->fd = openat(directory_fd, draft->other, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (draft->fd < 0 && errno != EEXIST)
            return -errno;
    }
    return draft->fd < 0 ? -EEXIST : 0;
}

void ck_draft_drop(struct ck_draft *draft)
{
    if (draft->fd < 0)
        return;
    (void)close(draft->fd);
    draft->fd = -1;
    (void)unlinkat(draft->directory_fd, draft->other, 0);
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
int ck_draft_commit(struct ck_draft *draft)
{
    int r = fsync(draft->fd) < 0 && errno != EINVAL ? -errno : 0;
    if (close(draft->fd) < 0 && r == 0)
        r = -errno;
    draft->fd = -1;
    if (r == 0 && renameat(draft->directory_fd, draft->other, draft->directory_fd, draft->name) < 0)
        r = -errno;
    if (r < 0) {
        (void)unlinkat(draft->directory_fd, draft->other, 0);
        return r;
    }
    return sync_directory(draft->directory_fd);
}

int ck_draft_write(int directory_fd, const char *name, const void *data, size_t length)
{
    struct ck_draft draft;
    const char *at = data;
    int r = ck_draft_begin(&draft, directory_fd, name);

    while (r == 0 && length > 0) {
        ssize_t written = write(draft.fd, at, length);
        if (written < 0 && errno != EINTR)
            r = -errno;
        at += written > 0 ? written : 0;
        length -= written > 0 ? (size_t)written : 0;
    }
    if (r == 0)
        return ck_draft_commit(&draft);
    ck_draft_drop(&draft);
    return r;
}
