/*
 * beneath.c - see beneath.h.
 *
 * An absolute path is opened as it is, the kernel is asked where that led, and the rest behind the root's own place
 * is then opened again from the root with RESOLVE_BENEATH and no links. The first look only finds the words; the
 * second decides.
 */
#include "sys/beneath.h"

#include "base/error.h"
#include "base/fd.h"
#include "base/quote.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DIRECTORY (O_PATH | O_DIRECTORY | O_CLOEXEC)

static int fail(struct choke_error *error, const char *what, const char *path, int errnum)
{
    const char *why = errnum == EXDEV || errnum == ELOOP ? "it leads out of the root" : strerror(errnum);
    /* Having no descriptor or memory left says nothing about the directory. */
    bool ours = errnum == EMFILE || errnum == ENFILE || errnum == ENOMEM;
    return ck_error_set(error, ours ? CHOKE_SPAWN_FAILED : CHOKE_CWD, errnum, "%s '%s' cannot be used: %s", what,
                        CK_QUOTE(path), why);
}

int ck_beneath_root(const char *path, int *ret_fd, struct choke_error *error)
{
    int fd = open(path, DIRECTORY);
    if (fd < 0)
        return fail(error, "root", path, errno);
    *ret_fd = fd;
    return 0;
}

int ck_beneath_path(int fd, char *buffer, size_t size)
{
    char link[64];
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, buffer, size - 1);
    if (length < 0)
        return -errno;
    if ((size_t)length >= size - 1)
        return -ENAMETOOLONG;
    buffer[length] = '\0';
    return 0;
}

static int open_beneath(int root_fd, const char *path, uint64_t resolve)
{
    struct open_how how = {.flags = DIRECTORY, .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | resolve};
    /* EAGAIN: something was renamed during the look-up and the kernel could not be sure. */
    for (int tries = 0; tries < 128; tries++) {
        long fd = syscall(SYS_openat2, root_fd, path, &how, sizeof how);
        if (fd >= 0)
            return (int)fd;
        if (errno != EAGAIN && errno != EINTR)
            return -errno;
    }
    return -EAGAIN;
}

/* What stands behind the root's own place in path; NULL where path is not beneath it. */
static const char *behind(const char *root, const char *path)
{
    size_t length = strcmp(root, "/") == 0 ? 0 : strlen(root);
    if (strncmp(root, path, length) != 0 || (path[length] != '/' && path[length] != '\0'))
        return NULL;
    path += length;
    path += strspn(path, "/");
    return *path != '\0' ? path : ".";
}

static int open_absolute(int root_fd, const char *path)
{
    char root[PATH_MAX], place[PATH_MAX];
    CK_FD fd = open(path, DIRECTORY);
    if (fd < 0)
        return -errno;
    int result = ck_beneath_path(root_fd, root, sizeof root);
    if (result == 0)
        result = ck_beneath_path(fd, place, sizeof place);
    if (result < 0)
        return result;
    const char *rest = behind(root, place);
    return rest == NULL ? -EXDEV : open_beneath(root_fd, rest, RESOLVE_NO_SYMLINKS);
}

int ck_beneath_directory(int root_fd, const char *path, int *ret_fd, struct choke_error *error)
{
    int fd = path[0] == '/' ? open_absolute(root_fd, path) : open_beneath(root_fd, path, 0);
    if (fd < 0)
        return fail(error, "working directory", path, -fd);
    *ret_fd = fd;
    return 0;
}
