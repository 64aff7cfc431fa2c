/* temporary.c - temporary directories of gather; see temporary.h. */
#include "gather/temporary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#define TEMPORARY_DIRECTORY "/tmp" /* the docker daemon must find it by its path */
#define REMOVE_FDS 16              /* that nftw may use; deeper levels are opened again */
#define REMOVE_ROUNDS 64           /* each makes one level of directories accessible to their owner */
#define SWEPT_MAX 20000            /* entries that are read */
#define LOCK_GRACE_S 60            /* a younger directory may not have its lock yet */
#define ROOM_BYTES ((uint64_t)16 << 20)
#define ROOM_FILES 256

static const char *const prefixes[CK_TEMPORARY_KINDS] = {[CK_TEMPORARY_CHANGES] = "chokepoint-kept-",
                                                         [CK_TEMPORARY_TRACE] = "chokepoint-trace-",
                                                         [CK_TEMPORARY_CLONE] = "chokepoint-clone-"};

/* ---- removing ---- */

/* The parent directory may lack permissions for its owner. */
static bool open_parent(const char *path, size_t base)
{
    char parent[PATH_MAX];
    int length = snprintf(parent, sizeof(parent), "%.*s", (int)base, path);
    return length > 0 && (size_t)length < sizeof(parent) && chmod(parent, 0700) == 0;
}

/*
 * The content of a directory comes before it. Only this process writes there, so a path is as safe
 * as a descriptor. Only the mode of directories is changed, because chmod follows symlinks.
 */
static int remove_one(const char *path, const struct stat *status, int type, struct FTW *at)
{
    (void)status;
    /*
     * A directory that cannot be read. After chmod the walk is started again: EAGAIN is not an
     * errno here.
     */
    if (type == FTW_DNR)
        return chmod(path, 0700) == 0 ? EAGAIN : EACCES;
    /* remove(3) is unlink or rmdir. */
    if (remove(path) == 0 || errno == ENOENT)
        return 0;
    if (errno == EACCES && at->level > 0 && open_parent(path, (size_t)at->base) && remove(path) == 0)
        return 0;
    return errno;
}

/* FTW_PHYS: symlinks are removed, never followed. */
static void remove_all(const char *path)
{
    for (int i = 0; i < REMOVE_ROUNDS && nftw(path, remove_one, REMOVE_FDS, FTW_DEPTH | FTW_PHYS) == EAGAIN; i++)
        ;
}

void ck_temporary_remove(struct ck_temporary *temporary)
{
    if (temporary->path[0] == '\0')
        return;
    /* The lock is held until the close below, so no other process sweeps it meanwhile. */
    remove_all(temporary->path);
    (void)close(temporary->fd);
    *temporary = (struct ck_temporary){.fd = -1};
}

bool ck_temporary_has_room(void)
{
    struct statvfs status;

    /* A file system without limits has no blocks, or no files, at all. */
    if (statvfs(TEMPORARY_DIRECTORY, &status) < 0)
        return true;
    return (status.f_blocks == 0 || (uint64_t)status.f_bavail * status.f_frsize >= ROOM_BYTES) &&
           (status.f_files == 0 || status.f_favail >= ROOM_FILES);
}

/* ---- left by other processes ---- */

/*
 * The lock of a process ends with the process. The lock that is taken here ends with the caller's
 * close.
 */
static bool is_abandoned(int fd)
{
    struct stat status;
    return fstat(fd, &status) == 0 && status.st_uid == geteuid() && time(NULL) - status.st_mtime >= LOCK_GRACE_S &&
           flock(fd, LOCK_EX | LOCK_NB) == 0;
}

/* O_NOFOLLOW: anyone can make a symlink with such a name in /tmp. */
static void sweep_one(int directory_fd, const char *name)
{
    char path[CK_TEMPORARY_PATH_MAX];
    int length = snprintf(path, sizeof(path), TEMPORARY_DIRECTORY "/%s", name);
    int fd = openat(directory_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

    if (fd >= 0 && length > 0 && (size_t)length < sizeof(path) && is_abandoned(fd))
        remove_all(path);
    if (fd >= 0)
        (void)close(fd);
}

/* Failures are ignored: the next gather tries again. */
static void sweep(void)
{
    DIR *directory = opendir(TEMPORARY_DIRECTORY);
    const struct dirent *entry;

    for (size_t i = 0; directory && i < SWEPT_MAX && (entry = readdir(directory)); i++)
        for (size_t kind = 0; kind < CK_TEMPORARY_KINDS; kind++)
            if (strncmp(entry->d_name, prefixes[kind], strlen(prefixes[kind])) == 0)
                sweep_one(dirfd(directory), entry->d_name);
    if (directory)
        (void)closedir(directory);
}

/* ---- making ---- */

/*
 * Its mode excludes others until it has its lock, so that no other process can take the lock first.
 */
int ck_temporary_make(enum ck_temporary_kind kind, struct ck_temporary *ret_temporary)
{
    struct ck_temporary made = {.fd = -1};

    sweep();
    (void)snprintf(made.path, sizeof(made.path), TEMPORARY_DIRECTORY "/%sXXXXXX", prefixes[kind]);
    if (!mkdtemp(made.path))
        return -errno;
    made.fd = open(made.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (made.fd >= 0 && flock(made.fd, LOCK_EX) == 0) {
        *ret_temporary = made;
        return 0;
    }
    int errnum = errno;
    (void)rmdir(made.path);
    if (made.fd >= 0)
        (void)close(made.fd);
    return -errnum;
}
