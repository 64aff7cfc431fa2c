/* target.c - see target.h. */
#include "report/target.h"

#include "base/fd.h"
#include "base/file.h"
#include "front/text.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define MARKER_MAX 64
#define LOG "{\"v\":1,\"log\":\"" /* the first bytes of an audit log, also of a part that was rotated */

int ck_target_fail(const struct ck_target *target, int r, struct choke_error *error)
{
    return ck_text_error(error, CHOKE_INVALID, -r, "cannot write %s '%s': %s", target->option,
                         CK_TEXT_SAFE(target->path), strerror(-r));
}

static int refuse(const struct ck_target *target, const char *why, struct choke_error *error)
{
    return ck_text_error(error, CHOKE_INVALID, EEXIST, "%s '%s' %s", target->option, CK_TEXT_SAFE(target->path), why);
}

static bool is_input(const struct ck_target *target, const struct stat *status)
{
    struct stat input;

    for (const char *const *path = target->inputs; *path; path++)
        if (stat(*path, &input) == 0 && input.st_dev == status->st_dev && input.st_ino == status->st_ino)
            return true;
    return false;
}

/*
 * A symlink is not followed and not replaced: it may be /dev/stdout, and what it leads to may be
 * someone else's choice. Between this look and the rename another process may put a file there;
 * that file is lost, as with any program that replaces files.
 */
int ck_target_check(const struct ck_target *target, struct choke_error *error)
{
    char first[MARKER_MAX] = {0};
    struct stat status;
    size_t length = strlen(target->marker);

    CK_FD directory = ck_file_open_parent(AT_FDCWD, target->path);
    if (directory < 0)
        return ck_target_fail(target, directory, error);
    if (faccessat(directory, ".", W_OK, AT_EACCESS) < 0)
        return ck_target_fail(target, -errno, error);
    if (lstat(target->path, &status) < 0)
        return errno == ENOENT ? 0 : ck_target_fail(target, -errno, error);
    if (S_ISDIR(status.st_mode))
        return ck_target_fail(target, -EISDIR, error);
    if (!S_ISREG(status.st_mode))
        return refuse(target, "is not a regular file; name one", error);
    if (is_input(target, &status))
        return refuse(target, "is what the report is made of; name another file", error);
    long r = ck_file_read_into(AT_FDCWD, target->path, O_NOFOLLOW, first, length + 1);
    if (strncmp(first, LOG, strlen(LOG)) == 0)
        return refuse(target, "is an audit log; name another file", error);
    if (target->force)
        return 0;
    if (r < 0)
        return ck_target_fail(target, (int)r, error);
    if (strcmp(first, target->marker) != 0)
        return refuse(target, "exists and is not a report; use --force to replace it", error);
    return 0;
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* By the directories and the names, because the files need not exist. */
int ck_target_check_differ(const struct ck_target *target, const struct ck_target *other, struct choke_error *error)
{
    struct stat here, there;

    CK_FD directory = ck_file_open_parent(AT_FDCWD, target->path);
    CK_FD other_directory = ck_file_open_parent(AT_FDCWD, other->path);
    if (directory < 0 || fstat(directory, &here) < 0 || other_directory < 0 || fstat(other_directory, &there) < 0)
        return 0;
    if (here.st_dev != there.st_dev || here.st_ino != there.st_ino ||
        strcmp(name_of(target->path), name_of(other->path)) != 0)
        return 0;
    return ck_text_error(error, CHOKE_INVALID, EEXIST, "%s and %s name the same file '%s'; name two", other->option,
                         target->option, CK_TEXT_SAFE(target->path));
}

int ck_target_begin(const struct ck_target *target, struct ck_atomic_file *ret_file, struct choke_error *error)
{
    if (ck_target_check(target, error) < 0)
        return -error->errnum;
    int r = ck_atomic_file_begin(ret_file, AT_FDCWD, target->path, target->mode);
    return r < 0 ? ck_target_fail(target, r, error) : 0;
}
