/* rulefile.c - reads a policy or similar file, and refuses one that others can change. */
#include "sys/rulefile.h"

#include "base/error.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/heap.h"
#include "base/quote.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

static int fail(const struct ck_rulefile *file, struct choke_error *error, int errnum, const char *why)
{
    return ck_error_set(error, file->outcome, errnum, "%s'%s': %s", file->noun, CK_QUOTE(file->path), why);
}

static int fail_open(const struct ck_rulefile *file, struct choke_error *error, int errnum)
{
    return ck_error_set(error, file->outcome, errnum, "cannot open %s'%s': %s", file->noun, CK_QUOTE(file->path),
                        strerror(errnum));
}

/* What ck_file_open says. */
static int fail_kind(const struct ck_rulefile *file, struct choke_error *error, int errnum)
{
    return errnum == EINVAL ? fail(file, error, EINVAL, "not a regular file") : fail_open(file, error, errnum);
}

static int fail_size(const struct ck_rulefile *file, struct choke_error *error)
{
    return ck_error_set(error, file->outcome, EFBIG, "%s'%s': larger than %zu bytes", file->noun, CK_QUOTE(file->path),
                        file->max_bytes);
}

/* The result must be freed; NULL and errno on failure. */
static char *absolute(const char *path)
{
    if (path[0] == '/')
        return strdup(path);
    CK_HEAP char *here = ck_heap_own(getcwd(NULL, 0));
    char *full = NULL;
    if (!here || asprintf(&full, "%s/%s", here, path) < 0)
        return NULL;
    return full;
}

static int check_owner(const struct ck_rulefile *file, const struct stat *status, struct choke_error *error)
{
    if (file->of_root && status->st_uid != 0)
        return fail(file, error, EPERM, "does not belong to root; fix it with chown root");
    if (status->st_uid != 0 && status->st_uid != geteuid())
        return fail(file, error, EPERM, "belongs to another user; it must belong to root or to you");
    if (status->st_mode & (S_IWGRP | S_IWOTH))
        return fail(file, error, EPERM, "may be written by group or others; fix it with chmod go-w");
    return 0;
}

static int check_size(const struct ck_rulefile *file, const struct stat *status, struct choke_error *error)
{
    return (uint64_t)status->st_size > file->max_bytes ? fail_size(file, error) : 0;
}

static int read_all(const struct ck_rulefile *file, int fd, char **ret_text, size_t *ret_length,
                    struct choke_error *error)
{
    int r = ck_fd_read_text(fd, file->max_bytes, ret_text, ret_length);
    if (r == -ENOMEM)
        return ck_error_oom(error);
    if (r == -EFBIG)
        return fail_size(file, error);
    return r < 0 ? fail(file, error, -r, strerror(-r)) : 0;
}

static int read_file(const struct ck_rulefile *file, const struct ck_trusted *place, char **ret_text,
                     size_t *ret_length, struct choke_error *error)
{
    struct stat status;
    CK_FD fd = ck_file_open(place->parent_fd, place->name, O_NOFOLLOW, &status);
    if (fd < 0)
        return fail_kind(file, error, -fd);
    int r = check_size(file, &status, error);
    if (r == 0)
        r = check_owner(file, &status, error);
    return r < 0 ? r : read_all(file, fd, ret_text, ret_length, error);
}

int ck_rulefile_read(const struct ck_rulefile *file, char **ret_text, size_t *ret_length, struct ck_trusted *ret_place,
                     struct choke_error *error)
{
    struct choke_error trust = {0};
    struct ck_trusted place;
    CK_HEAP char *full = ck_heap_own(absolute(file->path));
    if (!full)
        return fail_open(file, error, errno);
    int r = file->of_root ? ck_trust_walk_of_root(full, &place, &trust) : ck_trust_walk(full, &place, &trust);
    if (r < 0)
        r = trust.message[0] != '\0' ? fail(file, error, -r, trust.message) : fail_open(file, error, -r);
    else
        r = read_file(file, &place, ret_text, ret_length, error);
    if (r < 0)
        ck_trust_done(&place);
    else
        *ret_place = place;
    return r;
}

/*
 * A pipe that the caller has open and names by /dev/fd, as in `policy diff <(git show ...) FILE`.
 * To open it again is harmless, because the caller's descriptor keeps it. A FIFO in a directory is
 * refused: it may have no writer, and it could be the repository's. -EINVAL for what is no pipe.
 */
static int open_pipe(const char *path)
{
    struct statfs place;
    CK_FD fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0 || fstatfs(fd, &place) < 0)
        return -errno;
    if (place.f_type != PIPEFS_MAGIC)
        return -EINVAL;
    return fcntl(fd, F_SETFL, 0) < 0 ? -errno : ck_fd_take(&fd);
}

int ck_rulefile_review(const struct ck_rulefile *file, char **ret_text, size_t *ret_length,
                       struct choke_error *ret_refusal, struct choke_error *error)
{
    struct ck_trusted place;
    *ret_refusal = (struct choke_error){0};
    int r = ck_rulefile_read(file, ret_text, ret_length, &place, ret_refusal);
    if (r == 0) {
        ck_trust_done(&place);
        return 0;
    }
    struct stat status = {0};
    CK_FD fd = ck_file_open(AT_FDCWD, file->path, 0, &status);
    if (fd == -EINVAL) {
        fd = open_pipe(file->path);
        status.st_size = 0; /* of a pipe it is not known; read_all bounds it */
    }
    if (fd < 0)
        return fail_kind(file, error, -fd);
    r = check_size(file, &status, error);
    return r < 0 ? r : read_all(file, fd, ret_text, ret_length, error);
}
