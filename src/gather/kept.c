/* kept.c - see kept.h. */
#include "gather/kept.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define REMOVE_FDS 16
#define REMOVE_ROUNDS 64 /* each opens the directories of one level that were closed to their owner */
#define DRAFT_TRIES 100

/* ---- directories ---- */

int ck_kept_make(struct ck_kept *kept)
{
    (void)snprintf(kept->path, sizeof(kept->path), "/tmp/chokepoint-gather-XXXXXX");
    kept->fd = -1;
    if (mkdtemp(kept->path))
        return 0;
    kept->path[0] = '\0';
    return -errno;
}

int ck_kept_open(struct ck_kept *kept)
{
    kept->fd = open(kept->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return kept->fd < 0 ? -errno : 0;
}

/* The directory that something is in may be closed to its owner. */
static bool open_parent(const char *path, size_t base)
{
    char parent[PATH_MAX];
    int length = snprintf(parent, sizeof(parent), "%.*s", (int)base, path);
    return length > 0 && (size_t)length < sizeof(parent) && chmod(parent, 0700) == 0;
}

/*
 * Everything in a directory comes before it. Nobody but us writes there, so a path is as good as a descriptor; a mode is
 * changed of directories alone, for that follows links.
 */
static int remove_one(const char *path, const struct stat *status, int type, struct FTW *at)
{
    (void)status;
    if (type == FTW_DNR)
        return chmod(path, 0700) == 0 ? EAGAIN : EACCES;
    if (remove(path) == 0 || errno == ENOENT)
        return 0;
    if (errno == EACCES && at->level > 0 && open_parent(path, (size_t)at->base) && remove(path) == 0)
        return 0;
    return errno;
}

void ck_kept_remove(struct ck_kept *kept)
{
    if (kept->path[0] == '\0')
        return;
    if (kept->fd >= 0)
        (void)close(kept->fd);
    for (int i = 0; i < REMOVE_ROUNDS && nftw(kept->path, remove_one, REMOVE_FDS, FTW_DEPTH | FTW_PHYS) == EAGAIN; i++)
        ;
    *kept = (struct ck_kept){.fd = -1};
}

/* ---- files ---- */

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

int ck_draft_commit(struct ck_draft *draft)
{
    if (renameat(draft->directory_fd, draft->other, draft->directory_fd, draft->name) < 0) {
        int errnum = errno;
        ck_draft_drop(draft);
        return -errnum;
    }
    int r = close(draft->fd) < 0 ? -errno : 0; /* some file systems tell only here that the disk is full */
    draft->fd = -1;
    return r;
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
