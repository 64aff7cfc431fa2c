/*
 * output_file.c - see output_file.h.
 */
#include "cli/output_file.h"

#include "base/atomic_file.h"
#include "base/fd.h"
#include "base/file.h"
#include "front/jansson.h"
#include "front/text.h"
#include "gather/via_repo_symlink.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int ck_output_file_fail(const char *option, const char *path, int errnum, struct choke_error *error)
{
    return ck_text_error(error, CHOKE_INVALID, errnum, "%s '%s': %s", option, CK_TEXT_SAFE(path), strerror(errnum));
}

int ck_output_file_fail_via_symlink(const char *option, const char *path, struct choke_error *error)
{
    return ck_text_error(error, CHOKE_INVALID, ELOOP, "%s '%s': the path goes through a symlink of the repository",
                         option, CK_TEXT_SAFE(path));
}

/*
 * Returns 0 or a positive errno. A magic link (/dev/stdout) is not followed: it must not be
 * replaced, whatever it refers to.
 */
static int stat_target(int directory_fd, const char *name, struct stat *ret_status)
{
    CK_FD fd = ck_file_resolve(directory_fd, name, O_PATH, RESOLVE_NO_MAGICLINKS);

    if (fd < 0)
        return -fd;
    return fstat(fd, ret_status) < 0 ? errno : 0;
}

/*
 * The file is replaced, not written into. So it may be a regular file, but not a device, a pipe, or
 * a symlink to one.
 */
static int check(const struct ck_output_file *file, struct choke_error *error)
{
    struct stat status;

    if (strlen(file->name) > NAME_MAX)
        return ck_output_file_fail(file->option, file->path, ENAMETOOLONG, error);
    if (faccessat(file->directory_fd, ".", W_OK, AT_EACCESS) < 0)
        return ck_output_file_fail(file->option, file->path, errno, error);
    int errnum = stat_target(file->directory_fd, file->name, &status);
    /* A new file, or a regular one to replace. */
    if (errnum == ENOENT || (errnum == 0 && S_ISREG(status.st_mode)))
        return 0;
    /* ELOOP: a magic link, which is refused below with a better message. */
    if (errnum != 0 && errnum != ELOOP)
        return ck_output_file_fail(file->option, file->path, errnum, error);
    if (errnum == 0 && S_ISDIR(status.st_mode))
        return ck_output_file_fail(file->option, file->path, EISDIR, error);
    return ck_text_error(error, CHOKE_INVALID, EINVAL,
                         "%s '%s' is not a regular file; use --json to print the document", file->option,
                         CK_TEXT_SAFE(file->path));
}

int ck_output_file_open(struct ck_output_file *file, const char *root, struct choke_error *error)
{
    char directory[PATH_MAX];

    if (!file->path)
        return 0;
    const char *slash = strrchr(file->path, '/');
    int length = slash ? snprintf(directory, sizeof(directory), "%.*s", (int)(slash - file->path + 1), file->path)
                       : snprintf(directory, sizeof(directory), ".");
    file->name = slash ? slash + 1 : file->path;
    if (length < 0 || (size_t)length >= sizeof(directory))
        return ck_output_file_fail(file->option, file->path, ENAMETOOLONG, error);
    /* The path ends in a slash. */
    if (file->name[0] == '\0')
        return ck_output_file_fail(file->option, file->path, EISDIR, error);
    if (ck_via_repo_symlink(root, directory))
        return ck_output_file_fail_via_symlink(file->option, file->path, error);
    file->directory_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return file->directory_fd < 0 ? ck_output_file_fail(file->option, file->path, errno, error) : check(file, error);
}

int ck_output_file_write(const struct ck_output_file *file, const json_t *document, struct choke_error *error)
{
    struct ck_atomic_file temporary;
    int r = ck_atomic_file_begin(&temporary, file->directory_fd, file->name, 0666);

    /* The document goes to a temporary file first; commit renames it. */
    if (r == 0) {
        struct ck_outlet outlet = CK_OUTLET(temporary.fd);
        ck_jansson_write(&outlet, document);
        r = -outlet.error;
        if (r == 0)
            r = ck_atomic_file_commit(&temporary);
        else
            ck_atomic_file_drop(&temporary);
    }
    return r == 0 ? 0 : ck_output_file_fail(file->option, file->path, -r, error);
}

void ck_output_file_done(struct ck_output_file *file)
{
    ck_fd_close(&file->directory_fd);
}
