/* secret_file.c - see secret_file.h. */
#include "run/secret_file.h"

#include "base/error.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/quote.h"
#include "jail/native.h"
#include "sys/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int ck_secret_file_refuse(const struct ck_secret_file *file, int errnum, const char *why, struct choke_error *error)
{
    return ck_error_set(error, file->fault, errnum, "the file '%s' with %s %s", CK_QUOTE(file->path), file->what, why);
}

/* Where tools could have written it, or can read it. NULL: nowhere. */
static const char *find_bad_place(const struct ck_secret_file *file, const struct ck_trusted *trusted)
{
    char real[PATH_MAX];
    /* These are shown in a jail, where the tool is the same user. shown.c has the directories of 'reads'. */
    if (ck_beneath_path(trusted->fd, real, sizeof(real)) == 0 && ck_native_is_system(real))
        return "is in a directory of the system, which every tool can read";
    if (ck_trust_passes(trusted, file->root))
        return "is inside the root, where the repository could have written it";
    for (size_t i = 0; i < file->places_count; i++)
        if (ck_trust_passes(trusted, file->places[i]))
            return "is inside a directory that the program can write";
    return NULL;
}

/* As ssh has it for keys: what others can read is not a secret any more. */
static int check(const struct ck_secret_file *file, const struct ck_trusted *trusted, struct choke_error *error)
{
    const struct stat *status = &trusted->status;
    const char *why = find_bad_place(file, trusted);
    if (why)
        return ck_secret_file_refuse(file, EPERM, why, error);
    if (!S_ISREG(status->st_mode))
        return ck_secret_file_refuse(file, EINVAL, "is not a regular file", error);
    if (status->st_uid != geteuid())
        return ck_secret_file_refuse(file, EPERM, "belongs to another user", error);
    if ((status->st_mode & (S_IRWXG | S_IRWXO)) != 0)
        return ck_secret_file_refuse(file, EPERM, "is accessible to group or others; run chmod 600 on it", error);
    if (file->single_link && status->st_nlink != 1)
        return ck_secret_file_refuse(file, EPERM, "has a second link, which could be inside the root", error);
    return 0;
}

/* The file that was checked is opened, and no other of its name. */
static int open_checked(const struct ck_secret_file *file, const struct ck_trusted *trusted, int *ret_fd,
                        struct choke_error *error)
{
    struct stat status;
    CK_FD fd = ck_file_open(trusted->parent_fd, trusted->name, O_NOFOLLOW, &status);
    if (fd < 0)
        return ck_secret_file_refuse(file, -fd, strerror(-fd), error);
    if (status.st_dev != trusted->status.st_dev || status.st_ino != trusted->status.st_ino)
        return ck_secret_file_refuse(file, EAGAIN, "was replaced while it was opened", error);
    *ret_fd = ck_fd_take(&fd);
    return 0;
}

int ck_secret_file_open(const struct ck_secret_file *file, int *ret_fd, struct choke_error *error)
{
    __attribute__((cleanup(ck_trust_done))) struct ck_trusted trusted;
    int r = ck_trust_walk(file->path, &trusted, error);
    if (r == -EPERM && error->message[0] != '\0') {
        error->outcome = file->fault;
        return r;
    }
    if (r < 0)
        return ck_secret_file_refuse(file, -r, r == -ENOENT ? "does not exist" : strerror(-r), error);
    r = check(file, &trusted, error);
    return r < 0 ? r : open_checked(file, &trusted, ret_fd, error);
}
