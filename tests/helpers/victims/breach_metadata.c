/*
 * breach_metadata.c - attacks on the metadata of files.
 *
 * breach_metadata CALL TARGET - what the kernel keeps about a file beside its bytes, changed by whoever has it open or can name
 * it. See breach.h. TARGET is a path, or fd:N for a descriptor. Each call writes what is there already, so that its success
 * harms nothing.
 *   mode, owner, times     chmod, chown, utimensat, or their forms for a descriptor
 *   empty_mode, empty_owner, empty_times   the same by a descriptor and an empty path
 *   attribute              an extended attribute, set and removed again
 *   flags, project         inode flags, by each of two requests
 *   version                the generation number of the inode
 *   young                  file_setattr, which is younger than the headers may be
 *   lease                  a lease: whoever opens the file for writing waits for this process
 *   any                    each of them, and says which succeeded; refused where all are
 */
#include "breach.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>

#define FCHMODAT2 452
#define FILE_GETATTR 468
#define FILE_SETATTR 469
#define NAME "user.choke"

/* The descriptor of a target; -1 if it is a path. */
static int number_in(const char *target)
{
    return strncmp(target, "fd:", 3) == 0 ? (int)strtol(target + 3, NULL, 10) : -1;
}

static int look(const char *target, struct stat *status)
{
    int fd = number_in(target);
    return fd >= 0 ? fstat(fd, status) : stat(target, status);
}

static int open_target(const char *target)
{
    int fd = number_in(target);
    return fd >= 0 ? fd : open(target, O_RDONLY | O_NONBLOCK);
}

static const char *mode(char **arguments)
{
    struct stat status;
    int fd = number_in(arguments[0]);
    if (look(arguments[0], &status) < 0) {
        return "stat";
    }
    mode_t same = status.st_mode & 07777;
    return (fd >= 0 ? fchmod(fd, same) : chmod(arguments[0], same)) < 0 ? "chmod" : NULL;
}

static const char *owner(char **arguments)
{
    struct stat status;
    int fd = number_in(arguments[0]);
    if (look(arguments[0], &status) < 0) {
        return "stat";
    }
    int r = fd >= 0 ? fchown(fd, status.st_uid, status.st_gid) : chown(arguments[0], status.st_uid, status.st_gid);
    return r < 0 ? "chown" : NULL;
}

static const char *times(char **arguments)
{
    struct stat status;
    int fd = number_in(arguments[0]);
    if (look(arguments[0], &status) < 0) {
        return "stat";
    }
    const struct timespec same[2] = {status.st_atim, status.st_mtim};
    int r = fd >= 0 ? futimens(fd, same) : utimensat(AT_FDCWD, arguments[0], same, 0);
    return r < 0 ? "utimensat" : NULL;
}

static const char *empty_mode(char **arguments)
{
    struct stat status;
    int fd = open_target(arguments[0]);
    if (fd < 0 || fstat(fd, &status) < 0) {
        return "open";
    }
    return syscall(FCHMODAT2, fd, "", status.st_mode & 07777, AT_EMPTY_PATH) < 0 ? "fchmodat2" : NULL;
}

static const char *empty_owner(char **arguments)
{
    struct stat status;
    int fd = open_target(arguments[0]);
    if (fd < 0 || fstat(fd, &status) < 0) {
        return "open";
    }
    return fchownat(fd, "", status.st_uid, status.st_gid, AT_EMPTY_PATH) < 0 ? "fchownat" : NULL;
}

static const char *empty_times(char **arguments)
{
    struct stat status;
    int fd = open_target(arguments[0]);
    if (fd < 0 || fstat(fd, &status) < 0) {
        return "open";
    }
    const struct timespec same[2] = {status.st_atim, status.st_mtim};
    return utimensat(fd, "", same, AT_EMPTY_PATH) < 0 ? "utimensat" : NULL;
}

static const char *attribute(char **arguments)
{
    int fd = number_in(arguments[0]);
    int r = fd >= 0 ? fsetxattr(fd, NAME, "x", 1, 0) : setxattr(arguments[0], NAME, "x", 1, 0);
    if (r == 0) {
        (void)(fd >= 0 ? fremovexattr(fd, NAME) : removexattr(arguments[0], NAME));
    }
    return r < 0 ? "setxattr" : NULL;
}

static const char *flags(char **arguments)
{
    int now = 0;
    int fd = open_target(arguments[0]);
    if (fd < 0 || ioctl(fd, FS_IOC_GETFLAGS, &now) < 0) {
        return "open";
    }
    return ioctl(fd, FS_IOC_SETFLAGS, &now) < 0 ? "ioctl" : NULL;
}

static const char *project(char **arguments)
{
    struct fsxattr now;
    int fd = open_target(arguments[0]);
    if (fd < 0 || ioctl(fd, FS_IOC_FSGETXATTR, &now) < 0) {
        return "open";
    }
    return ioctl(fd, FS_IOC_FSSETXATTR, &now) < 0 ? "ioctl" : NULL;
}

static const char *version(char **arguments)
{
    int now = 0;
    int fd = open_target(arguments[0]);
    if (fd < 0 || ioctl(fd, FS_IOC_GETVERSION, &now) < 0) {
        return "open";
    }
    return ioctl(fd, FS_IOC_SETVERSION, &now) < 0 ? "ioctl" : NULL;
}

static const char *young(char **arguments)
{
    unsigned long long now[3] = {0}; /* struct file_attr, 24 bytes */
    int fd = open_target(arguments[0]);
    if (fd < 0 || syscall(FILE_GETATTR, fd, "", now, sizeof(now), AT_EMPTY_PATH) < 0) {
        return "open";
    }
    return syscall(FILE_SETATTR, fd, "", now, sizeof(now), AT_EMPTY_PATH) < 0 ? "file_setattr" : NULL;
}

static const char *lease(char **arguments)
{
    int fd = open_target(arguments[0]);
    if (fd < 0) {
        return "open";
    }
    if (fcntl(fd, F_SETLEASE, F_RDLCK) < 0) {
        return "fcntl";
    }
    return fcntl(fd, F_SETLEASE, F_UNLCK) < 0 ? "fcntl" : NULL;
}

static const char *any(char **arguments);

static const struct breach ways[] = {
    {"any", 1, any},
    {"mode", 1, mode},
    {"owner", 1, owner},
    {"times", 1, times},
    {"empty_mode", 1, empty_mode},
    {"empty_owner", 1, empty_owner},
    {"empty_times", 1, empty_times},
    {"attribute", 1, attribute},
    {"flags", 1, flags},
    {"project", 1, project},
    {"version", 1, version},
    {"young", 1, young},
    {"lease", 1, lease},
};

static const char *any(char **arguments)
{
    size_t succeeded = 0;
    for (size_t i = 1; i < sizeof(ways) / sizeof(ways[0]); i++) {
        if (!ways[i].act(arguments)) {
            (void)printf("%s succeeded\n", ways[i].name);
            succeeded++;
        }
    }
    errno = EPERM;
    return succeeded > 0 ? NULL : "any";
}

int main(int argc, char **argv)
{
    return BREACH_MAIN(ways);
}
