/* file.c - see file.h. */
#include "base/file.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A tool that renames all the time must not keep the caller in the loop. */
#define RESOLVE_TRIES 128

int ck_file_open(int directory_fd, const char *path, int more_flags, struct stat *ret_status)
{
    struct stat status;
    CK_FD fd = openat(directory_fd, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | more_flags);
    if (fd < 0 || fstat(fd, &status) < 0)
        return -errno;
    /* The descriptor is checked, not the path: the path may name another file by now. */
    if (!S_ISREG(status.st_mode))
        return -EINVAL;
    if (ret_status)
        *ret_status = status;
    return ck_fd_take(&fd);
}

int ck_file_read(int directory_fd, const char *path, int more_flags, size_t max_bytes, char **ret_text,
                 size_t *ret_length)
{
    CK_FD fd = ck_file_open(directory_fd, path, more_flags, NULL);
    return fd < 0 ? fd : ck_fd_read_text(fd, max_bytes, ret_text, ret_length);
}

long ck_file_read_into(int directory_fd, const char *path, int more_flags, char *text, size_t size)
{
    CK_FD fd = ck_file_open(directory_fd, path, more_flags, NULL);
    long got = fd < 0 ? fd : ck_fd_read_all(fd, text, size - 1);
    if (got >= 0)
        text[got] = '\0';
    return got;
}

int ck_file_resolve(int directory_fd, const char *path, int flags, uint64_t resolve)
{
    const struct open_how how = {.flags = (unsigned)flags | O_CLOEXEC, .resolve = resolve};
    /*
     * EAGAIN: something was renamed during the look-up, so the kernel could not be sure that ".."
     * stays beneath the directory. Another try may succeed.
     */
    for (int i = 0; i < RESOLVE_TRIES; i++) {
        long fd = syscall(SYS_openat2, directory_fd, path, &how, sizeof(how));
        if (fd >= 0)
            return (int)fd;
        if (errno != EAGAIN && errno != EINTR)
            return -errno;
    }
    return -EAGAIN;
}

int ck_file_open_parent(int directory_fd, const char *path)
{
    char directory[PATH_MAX] = ".";
    const char *slash = strrchr(path, '/');
    /* with the slash, so that "/name" gives "/" and not an empty path */
    int length = slash ? snprintf(directory, sizeof(directory), "%.*s", (int)(slash - path + 1), path) : 1;
    if (length < 0 || (size_t)length >= sizeof(directory))
        return -ENAMETOOLONG;
    int fd = openat(directory_fd, directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

unsigned char ck_file_type(int directory_fd, const struct dirent *entry)
{
    struct stat status;
    /* Some file systems do not keep the type in the directory and report DT_UNKNOWN. */
    if (entry->d_type != DT_UNKNOWN)
        return entry->d_type;
    if (fstatat(directory_fd, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) < 0)
        return DT_UNKNOWN;
    return (unsigned char)IFTODT(status.st_mode);
}
