/*
 * handover.c - see handover.h.
 *
 * The kernel lets a process open a descriptor of its own once more, by /proc/self/fd, on the mount that
 * it was opened on. So a file of the cage's root, where that may hold code, would be code for a tool
 * that sees the root as noexec. Over a socket descriptors can be sent, so a tool could let the cage
 * have one of its jail. A directory leads to everything beneath it.
 */
#include "guard/handover.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define MEMORY_DEVICES 1
#define NOEXEC 8 /* ST_NOEXEC */

/* null, zero, full, random, urandom */
static bool is_harmless_device(dev_t device)
{
    static const unsigned minors[] = {3, 5, 7, 8, 9};
    for (size_t i = 0; major(device) == MEMORY_DEVICES && i < sizeof(minors) / sizeof(minors[0]); i++)
        if (minor(device) == minors[i])
            return true;
    return false;
}

static enum ck_handover of_file(int fd, int flags)
{
    struct statfs place;
    if (fstatfs(fd, &place) < 0)
        return CK_HANDOVER_REFUSED;
    bool of_kernel = place.f_type == PROC_SUPER_MAGIC || place.f_type == SYSFS_MAGIC ||
                     place.f_type == CGROUP_SUPER_MAGIC || place.f_type == CGROUP2_SUPER_MAGIC;
    if (of_kernel && (flags & O_ACCMODE) != O_RDONLY)
        return CK_HANDOVER_REFUSED;
    return ((unsigned long)place.f_flags & NOEXEC) != 0 ? CK_HANDOVER_DIRECT : CK_HANDOVER_COPIED;
}

enum ck_handover ck_handover_of(int fd)
{
    struct stat status;
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || (flags & O_PATH) != 0 || fstat(fd, &status) < 0)
        return CK_HANDOVER_REFUSED;
    switch (status.st_mode & S_IFMT) {
    case S_IFIFO:
        return CK_HANDOVER_DIRECT;
    case S_IFCHR:
        return is_harmless_device(status.st_rdev) || isatty(fd) ? CK_HANDOVER_DIRECT : CK_HANDOVER_REFUSED;
    case S_IFREG:
        return of_file(fd, flags);
    case S_IFSOCK:
        return CK_HANDOVER_COPIED;
    default:
        return CK_HANDOVER_REFUSED;
    }
}

const char *ck_handover_name(int fd)
{
    struct stat status;
    if (fstat(fd, &status) < 0)
        return "not open";
    switch (status.st_mode & S_IFMT) {
    case S_IFDIR:
        return "a directory";
    case S_IFCHR:
    case S_IFBLK:
        return "a device";
    case S_IFREG:
        return "a file of the kernel that can be written";
    default:
        return "no stream";
    }
}
