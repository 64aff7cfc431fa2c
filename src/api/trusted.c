/*
 * trusted.c - a file that decides something, for callers that have more of those than a policy.
 */
#include "chokepoint.h"

#include "base/error.h"
#include "base/fd.h"
#include "base/quote.h"
#include "sys/beneath.h"
#include "sys/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int fail(struct choke_error *error, const char *path, int errnum, const char *why)
{
    return ck_error_set(error, CHOKE_INVALID, errnum, "'%s': %s", CK_QUOTE(path), why);
}

static int check_file(const struct stat *status, const char *path, struct choke_error *error)
{
    if (!S_ISREG(status->st_mode))
        return fail(error, path, EINVAL, "not a regular file");
    if (status->st_uid != 0 && status->st_uid != geteuid())
        return fail(error, path, EPERM, "belongs to another user; it must belong to root or to you");
    if (status->st_mode & (S_IWGRP | S_IWOTH))
        return fail(error, path, EPERM, "may be written by group or others; take that away with chmod go-w");
    return 0;
}

static int check_place(const struct ck_trusted *place, const char *path, const char *root, struct choke_error *error)
{
    CK_FD root_fd = -1;
    struct ck_identity identity;
    int result = root != NULL ? ck_beneath_root(root, &root_fd, error) : 0;
    if (result < 0 || root == NULL)
        return result;
    result = ck_identity_of(root_fd, &identity);
    if (result < 0)
        return fail(error, path, -result, strerror(-result));
    if (ck_trust_passes(place, identity))
        return fail(error, path, EPERM,
                    "lies inside the root, where the repository could have written it; keep it elsewhere");
    return 0;
}

static int read_file(const struct ck_trusted *place, const char *path, size_t max_bytes, char **ret_text,
                     size_t *ret_length, struct choke_error *error)
{
    CK_FD fd = openat(place->parent_fd, place->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    struct stat status;
    if (fd < 0 || fstat(fd, &status) < 0)
        return fail(error, path, errno, strerror(errno));
    int result = check_file(&status, path, error);
    if (result < 0)
        return result;
    result = ck_fd_read_text(fd, max_bytes, ret_text, ret_length);
    if (result == -ENOMEM)
        return ck_error_oom(error);
    return result < 0 ? fail(error, path, -result, result == -EFBIG ? "is too large" : strerror(-result)) : 0;
}

static int absolute(const char *path, char *buffer, size_t size)
{
    char here[PATH_MAX];
    if (path[0] != '/' && getcwd(here, sizeof here) == NULL)
        return -errno;
    int length = path[0] == '/' ? snprintf(buffer, size, "%s", path) : snprintf(buffer, size, "%s/%s", here, path);
    return length < 0 || (size_t)length >= size ? -ENAMETOOLONG : 0;
}

int choke_read_trusted(const char *path, const char *root, size_t max_bytes, char **ret_text, size_t *ret_length,
                       struct choke_error *error)
{
    if (path == NULL || ret_text == NULL || ret_length == NULL)
        return ck_error_set(error, CHOKE_INVALID, EINVAL, "no path, or no place for the text, was given");
    char full[PATH_MAX];
    struct choke_error trust = {0};
    struct ck_trusted place;
    int result = absolute(path, full, sizeof full);
    if (result < 0)
        return fail(error, path, -result, strerror(-result));
    result = ck_trust_walk(full, &place, &trust);
    if (result < 0)
        result = fail(error, path, -result, trust.message[0] != '\0' ? trust.message : strerror(-result));
    else
        result = check_place(&place, path, root, error);
    if (result == 0)
        result = read_file(&place, path, max_bytes, ret_text, ret_length, error);
    ck_trust_done(&place);
    return result;
}
