/*
 * files.c - the file operations of the log on the real file system. See files.h.
 *
 * The caller must own the log, no one else may write it, and its directory must be trusted as a
 * tool's is (sys/trust.h). The directory may be root's: if root owns the directory and has set the
 * append-only attribute on the caller's file, the caller can add to the log and remove nothing from
 * it.
 *
 * The lock is flock(2). It belongs to the open file description, so threads with different contexts
 * exclude each other as processes do. The kernel releases it when a process dies.
 */
#include "audit/files.h"

#include "audit/format.h"
#include "audit/name.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/quote.h"
#include "sys/statefile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/*
 * A record takes microseconds, so the first tries only yield; then the pause grows by half each
 * time.
 */
#define BACKOFF_YIELDS 4
#define BACKOFF_MIN_NS 20000
#define BACKOFF_MAX_NS 2000000

/* ---- the directory ---- */

/*
 * The walk's own message is more exact than the errno: it names the component that is not trusted.
 */
static int walk_path(struct ck_audit_directory *directory, const char *path, struct choke_error *error)
{
    struct choke_error cause = {0};
    int r = ck_trust_walk(path, &directory->place, &cause);
    if (r == 0 && !S_ISDIR(directory->place.status.st_mode))
        r = -ENOTDIR;
    if (r < 0 && cause.message[0] != '\0' && error)
        *error = cause;
    else if (r < 0)
        (void)ck_error_set(error, CHOKE_SPAWN_FAILED, -r, "'%s': %s", CK_QUOTE(path), strerror(-r));
    if (r < 0)
        ck_trust_done(&directory->place);
    return r;
}

/*
 * A directory that is created is walked too: only the walk proves that no one else can redirect the
 * path.
 */
static int open_place(struct ck_audit_directory *directory, const char *path, struct choke_error *error)
{
    int r = walk_path(directory, path, error);
    if (r == -ENOENT) {
        CK_FD made = -1;
        r = ck_statefile_directory(path, &made, error);
        if (r == 0)
            r = walk_path(directory, path, error);
    }
    if (r < 0)
        return r;
    directory->fd = openat(directory->place.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory->fd >= 0)
        return 0;
    r = ck_error_set(error, CHOKE_SPAWN_FAILED, errno, "cannot open '%s': %s", CK_QUOTE(path), strerror(errno));
    ck_trust_done(&directory->place);
    return r;
}

int ck_audit_directory_open(struct ck_audit_directory *directory, const char *path, const char **ret_name,
                            struct choke_error *error)
{
    char parent[PATH_MAX];
    const char *slash = path[0] == '/' ? strrchr(path, '/') : NULL;
    if (!slash || slash[1] == '\0' || strlen(path) >= sizeof(parent) || strlen(slash + 1) > NAME_MAX)
        return ck_error_set(error, CHOKE_SPAWN_FAILED, EINVAL, "'%s' cannot be the path of a file", CK_QUOTE(path));
    /* Opened once: later names are looked up in this directory, wherever the path leads by then. */
    if (directory->fd < 0) {
        size_t length = slash == path ? 1 : (size_t)(slash - path);
        memcpy(parent, path, length);
        parent[length] = '\0';
        int r = open_place(directory, parent, error);
        if (r < 0)
            return r;
    }
    *ret_name = slash + 1;
    return 0;
}

void ck_audit_directory_done(struct ck_audit_directory *directory)
{
    if (directory->fd < 0)
        return;
    ck_fd_close(&directory->fd);
    ck_trust_done(&directory->place);
}

/* ---- files ---- */

/* For a file that exists and is not trusted as a log. */
static int refuse(struct choke_error *error, const char *name, int errnum, const char *why)
{
    return ck_error_set(error, CHOKE_SPAWN_FAILED, errnum, "'%s' %s", CK_QUOTE(name), why);
}

/* A symlink would let anyone who can write to its directory choose the log. */
static int check(const struct stat *status, const char *name, struct choke_error *error)
{
    if (S_ISLNK(status->st_mode))
        return refuse(error, name, ELOOP, "is a symlink; name the file itself");
    if (!S_ISREG(status->st_mode))
        return refuse(error, name, EINVAL, "is not a regular file");
    if (status->st_uid != geteuid())
        return refuse(error, name, EPERM, "belongs to another user");
    if (status->st_mode & (S_IWGRP | S_IWOTH))
        return refuse(error, name, EPERM, "may be written by group or others; run chmod go-w on it");
    return 0;
}

static struct ck_audit_file_state state_of(const struct stat *status)
{
    return (struct ck_audit_file_state){.identity = {.device = status->st_dev, .inode = status->st_ino},
                                        .size = (uint64_t)status->st_size};
}

static int fail_open(struct choke_error *error, const char *name)
{
    return ck_error_set(error, CHOKE_SPAWN_FAILED, errno, "cannot open '%s': %s", CK_QUOTE(name), strerror(errno));
}

/*
 * Checked before the open, because opening a device can have an effect; and after it, because the
 * name may lead to another file by then.
 */
static int open_log(void *data, const char *name, int *ret_fd, struct ck_audit_file_state *ret_state,
                    struct choke_error *error)
{
    const struct ck_audit_directory *directory = data;
    struct stat status;
    if (fstatat(directory->fd, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? -ENOENT : fail_open(error, name);
    int r = check(&status, name, error);
    if (r < 0)
        return r;
    /* O_APPEND: the append-only attribute requires it, and no write can go to another place. */
    CK_FD fd = openat(directory->fd, name, O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return -ENOENT;
    if (fd < 0 || fstat(fd, &status) < 0)
        return fail_open(error, name);
    r = check(&status, name, error);
    if (r < 0)
        return r;
    *ret_state = state_of(&status);
    *ret_fd = ck_fd_take(&fd);
    return 0;
}

static void close_log(void *data, int *fd)
{
    (void)data;
    ck_fd_close(fd);
}

static int lock(void *data, int fd)
{
    (void)data;
    return flock(fd, LOCK_EX | LOCK_NB) < 0 ? -errno : 0;
}

static void unlock(void *data, int fd)
{
    (void)data;
    (void)flock(fd, LOCK_UN);
}

static int stat_name(void *data, const char *name, struct ck_audit_file_state *ret_state)
{
    const struct ck_audit_directory *directory = data;
    struct stat status;
    if (fstatat(directory->fd, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
        return -errno;
    *ret_state = state_of(&status);
    return 0;
}

static ssize_t read_log(void *data, int fd, char *buffer, size_t length, uint64_t offset)
{
    (void)data;
    return ck_fd_read_at(fd, buffer, length, offset);
}

/* Past RLIMIT_FSIZE the kernel would write only a part of the record: a torn one. */
static int may_grow(int fd, size_t length)
{
    struct rlimit limit;
    struct stat status;
    if (getrlimit(RLIMIT_FSIZE, &limit) < 0)
        return -errno;
    if (limit.rlim_cur == RLIM_INFINITY)
        return 0;
    if (fstat(fd, &status) < 0)
        return -errno;
    return (rlim_t)status.st_size + length > limit.rlim_cur ? -EFBIG : 0;
}

/* One write. If only a part is written, the next writer repairs it. */
static ssize_t append(void *data, int fd, const char *text, size_t length)
{
    (void)data;
    ssize_t written = may_grow(fd, length);
    if (written < 0)
        return written;
    return ck_fd_write(fd, text, length);
}

/* O_EXCL: the name is random, so a file that exists under it is not ours. */
static int make(void *data, const char *name, const char *text, size_t length, bool durable)
{
    const struct ck_audit_directory *directory = data;
    CK_FD fd = openat(directory->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    int r = may_grow(fd, length);
    if (r == 0)
        r = ck_fd_write_all(fd, text, length);
    if (r == 0 && durable && fdatasync(fd) < 0)
        r = -errno;
    if (r < 0)
        (void)unlinkat(directory->fd, name, 0);
    return r;
}

static int link_log(void *data, const char *name, const char *second)
{
    const struct ck_audit_directory *directory = data;
    return linkat(directory->fd, name, directory->fd, second, 0) < 0 ? -errno : 0;
}

static int rename_log(void *data, const char *name, const char *over)
{
    const struct ck_audit_directory *directory = data;
    return renameat(directory->fd, name, directory->fd, over) < 0 ? -errno : 0;
}

static void remove_log(void *data, const char *name)
{
    const struct ck_audit_directory *directory = data;
    (void)unlinkat(directory->fd, name, 0);
}

/* fdatasync: the size is synced with it where it is needed to read the data, the times are not. */
static int sync_log(void *data, int fd)
{
    (void)data;
    return fdatasync(fd) < 0 ? -errno : 0;
}

/* If the file system cannot sync a directory, names are as durable as it makes them. */
static void sync_names(void *data)
{
    const struct ck_audit_directory *directory = data;
    (void)ck_fd_sync(directory->fd);
}

static void close_listing(DIR **listing)
{
    if (*listing)
        (void)closedir(*listing);
}

/* A directory that cannot be read is an error: rotated files may be in it. */
static int has_rotated(void *data, const char *name)
{
    const struct ck_audit_directory *directory = data;
    CK_FD fd = openat(directory->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    __attribute__((cleanup(close_listing))) DIR *listing = fd < 0 ? NULL : fdopendir(fd);
    if (!listing)
        return -errno;
    (void)ck_fd_take(&fd); /* fdopendir took it: the listing closes it */
    const struct dirent *entry;
    while (errno = 0, !!(entry = readdir(listing)))
        if (ck_name_is_rotated(entry->d_name, name))
            return 1;
    return -errno;
}

/*
 * Removes only what a writer of this log can have left: a regular file of the caller, with such a
 * name, and no longer than a first record. Only the holder of the lock can be rotating. A writer
 * that is creating the log holds no lock; it finds its file gone and tries again (ck_log_create).
 */
static void sweep(void *data, const char *name)
{
    const struct ck_audit_directory *directory = data;
    CK_FD fd = openat(directory->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    __attribute__((cleanup(close_listing))) DIR *listing = fd < 0 ? NULL : fdopendir(fd);
    if (!listing)
        return;            /* they stay: they need little space, and no one reads them */
    (void)ck_fd_take(&fd); /* the listing closes it */
    const struct dirent *entry;
    struct stat status;
    while ((entry = readdir(listing)))
        if (ck_name_is_new(entry->d_name, name) &&
            fstatat(directory->fd, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode) &&
            status.st_uid == geteuid() && status.st_size <= (off_t)CK_AUDIT_BEGIN_MAX)
            (void)unlinkat(directory->fd, entry->d_name, 0);
}

/* Waiting in the kernel is not possible: flock without LOCK_NB has no timeout. */
static void backoff(void *data, unsigned tried)
{
    (void)data;
    if (tried < BACKOFF_YIELDS) {
        (void)sched_yield();
        return;
    }
    long pause_ns = BACKOFF_MIN_NS;
    for (unsigned i = BACKOFF_YIELDS; i < tried && pause_ns < BACKOFF_MAX_NS; i++)
        pause_ns += pause_ns / 2;
    const struct timespec pause = {.tv_nsec = pause_ns < BACKOFF_MAX_NS ? pause_ns : BACKOFF_MAX_NS};
    (void)nanosleep(&pause, NULL);
}

const struct ck_audit_file_ops ck_audit_real_files = {
    .open = open_log,
    .close = close_log,
    .lock = lock,
    .unlock = unlock,
    .stat_name = stat_name,
    .read = read_log,
    .append = append,
    .make = make,
    .link = link_log,
    .rename = rename_log,
    .remove = remove_log,
    .sync = sync_log,
    .sync_names = sync_names,
    .has_rotated = has_rotated,
    .sweep = sweep,
    .backoff = backoff,
};
