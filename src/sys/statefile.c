/* statefile.c - reads and replaces the library's small state files. */
#include "sys/statefile.h"

#include "base/error.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/heap.h"
#include "base/quote.h"
#include "sys/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int refuse(struct choke_error *error, const char *path, int errnum, const char *why)
{
    return ck_error_set(error, CHOKE_NONE, errnum, "'%s' %s", CK_QUOTE(path), why);
}

static int check_owner(const struct stat *status, const char *path, struct choke_error *error)
{
    if (status->st_uid != geteuid())
        return refuse(error, path, EPERM, "belongs to another user");
    if (status->st_mode & (S_IWGRP | S_IWOTH))
        return refuse(error, path, EPERM, "may be written by group or others");
    return 0;
}

/* ---- the directory ---- */

/* The part before the last slash, to be freed; NULL if it is empty. */
static char *parent_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return !slash || slash == path ? NULL : strndup(path, (size_t)(slash - path));
}

static void make_parent(const char *path)
{
    CK_HEAP char *parent = ck_heap_own(parent_of(path));
    if (parent)
        (void)mkdir(parent, 0700);
}

/*
 * The path of the parent was checked by a trust walk. The last component must not be a symlink:
 * nothing needs one there.
 */
static int open_beneath(const struct ck_trusted *parent, const char *path, int *ret_fd, struct choke_error *error)
{
    const char *name = strrchr(path, '/') + 1;
    if (mkdirat(parent->fd, name, 0700) < 0 && errno != EEXIST)
        return refuse(error, path, errno, strerror(errno));
    CK_FD fd = openat(parent->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat status;
    if (fd < 0 || fstat(fd, &status) < 0)
        return refuse(error, path, errno, errno == ENOTDIR || errno == ELOOP ? "is not a directory" : strerror(errno));
    int r = check_owner(&status, path, error);
    if (r == 0)
        *ret_fd = ck_fd_take(&fd);
    return r;
}

int ck_statefile_directory(const char *path, int *ret_fd, struct choke_error *error)
{
    struct ck_trusted place;
    CK_HEAP char *parent = ck_heap_own(path[0] == '/' && strlen(path) < PATH_MAX ? parent_of(path) : NULL);
    if (!parent)
        return refuse(error, path, EINVAL, "is not an absolute path");
    make_parent(parent);
    (void)mkdir(parent, 0700);
    if (error)
        *error = (struct choke_error){0};
    int r = ck_trust_walk(parent, &place, error);
    if (r < 0 && (!error || error->message[0] == '\0'))
        (void)refuse(error, parent, -r, strerror(-r));
    else if (r == 0)
        r = open_beneath(&place, path, ret_fd, error);
    ck_trust_done(&place);
    return r;
}

/* ---- reading ---- */

/* Why ck_file_open did not open a file. */
static const char *why_not(int errnum)
{
    return errnum == EINVAL ? "is not a regular file" : strerror(errnum);
}

static int read_open(int fd, const char *path, size_t max_bytes, char **ret_text, size_t *ret_length,
                     struct choke_error *error)
{
    int r = ck_fd_read_text(fd, max_bytes, ret_text, ret_length);
    if (r == -ENOMEM)
        return ck_error_oom(error);
    if (r < 0)
        return refuse(error, path, -r, r == -EFBIG ? "is larger than the maximum for such a file" : strerror(-r));
    return 0;
}

int ck_statefile_read(int directory_fd, const char *name, size_t max_bytes, char **ret_text, size_t *ret_length,
                      struct choke_error *error)
{
    struct stat status;
    CK_FD fd = ck_file_open(directory_fd, name, O_NOFOLLOW, &status);
    if (fd == -ENOENT)
        return -ENOENT;
    if (fd < 0)
        return refuse(error, name, -fd, fd == -ELOOP ? "is a link" : why_not(-fd));
    int r = check_owner(&status, name, error);
    return r < 0 ? r : read_open(fd, name, max_bytes, ret_text, ret_length, error);
}

int ck_statefile_read_named(const char *path, size_t max_bytes, char **ret_text, size_t *ret_length,
                            struct choke_error *error)
{
    CK_FD fd = ck_file_open(AT_FDCWD, path, 0, NULL);
    if (fd < 0)
        return refuse(error, path, -fd, fd == -ENOENT ? "does not exist" : why_not(-fd));
    return read_open(fd, path, max_bytes, ret_text, ret_length, error);
}
