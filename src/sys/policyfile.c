/* policyfile.c - see policyfile.h. */
#include "sys/policyfile.h"

#include "base/error.h"
#include "base/fd.h"
#include "base/quote.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int fail(struct choke_error *error, const char *path, int errnum, const char *why)
{
    return ck_error_set(error, CHOKE_POLICY, errnum, "policy '%s': %s", CK_QUOTE(path), why);
}

static int absolute(const char *path, char *buffer, size_t size)
{
    char here[PATH_MAX];
    if (path[0] != '/' && getcwd(here, sizeof here) == NULL)
        return -errno;
    int length = path[0] == '/' ? snprintf(buffer, size, "%s", path) : snprintf(buffer, size, "%s/%s", here, path);
    return length < 0 || (size_t)length >= size ? -ENAMETOOLONG : 0;
}

static int check_owner(const struct stat *status, const char *path, struct choke_error *error)
{
    if (status->st_uid != 0 && status->st_uid != geteuid())
        return fail(error, path, EPERM, "belongs to another user; a policy must belong to root or to you");
    if (status->st_mode & (S_IWGRP | S_IWOTH))
        return fail(error, path, EPERM, "may be written by group or others; take that away with chmod go-w");
    return 0;
}

static int check_kind(const struct stat *status, const char *path, size_t max_bytes, struct choke_error *error)
{
    if (!S_ISREG(status->st_mode))
        return fail(error, path, EINVAL, "not a regular file");
    if ((uint64_t)status->st_size > max_bytes)
        return fail(error, path, EFBIG, "larger than 1 MiB");
    return 0;
}

static int read_all(int fd, const char *path, size_t max_bytes, char **ret_text, size_t *ret_length,
                    struct choke_error *error)
{
    int result = ck_fd_read_text(fd, max_bytes, ret_text, ret_length);
    if (result == -ENOMEM)
        return ck_error_oom(error);
    if (result < 0)
        return fail(error, path, -result, result == -EFBIG ? "larger than 1 MiB" : strerror(-result));
    return 0;
}

static int read_file(const struct ck_trusted *place, const char *path, size_t max_bytes, char **ret_text,
                     size_t *ret_length, struct choke_error *error)
{
    CK_FD fd = openat(place->parent_fd, place->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    struct stat status;
    if (fd < 0 || fstat(fd, &status) < 0)
        return fail(error, path, errno, strerror(errno));
    int result = check_kind(&status, path, max_bytes, error);
    if (result == 0)
        result = check_owner(&status, path, error);
    return result < 0 ? result : read_all(fd, path, max_bytes, ret_text, ret_length, error);
}

int ck_policyfile_read(const char *path, size_t max_bytes, char **ret_text, size_t *ret_length,
                       struct ck_trusted *ret_place, struct choke_error *error)
{
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
        result = read_file(&place, path, max_bytes, ret_text, ret_length, error);
    if (result < 0)
        ck_trust_done(&place);
    else
        *ret_place = place;
    return result;
}

int ck_policyfile_review(const char *path, size_t max_bytes, char **ret_text, size_t *ret_length,
                         struct choke_error *ret_refusal, struct choke_error *error)
{
    struct ck_trusted place;
    *ret_refusal = (struct choke_error){0};
    int result = ck_policyfile_read(path, max_bytes, ret_text, ret_length, &place, ret_refusal);
    if (result == 0) {
        ck_trust_done(&place);
        return 0;
    }
    CK_FD fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    struct stat status;
    if (fd < 0 || fstat(fd, &status) < 0)
        return fail(error, path, errno, strerror(errno));
    result = check_kind(&status, path, max_bytes, error);
    return result < 0 ? result : read_all(fd, path, max_bytes, ret_text, ret_length, error);
}
