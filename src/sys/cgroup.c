/*
 * cgroup.c - see cgroup.h.
 *
 * A hybrid system mounts version 2 beside the version 1 controllers, anywhere; so the mount is looked up, not
 * assumed. The line "0::PATH" of /proc/self/cgroup is relative to the cgroup namespace's root, which is what the
 * mount shows.
 */
#include "sys/cgroup.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file of /proc as text; it has no length before it is read, and does not fit only on absurd machines. */
static int read_text(const char *path, char *text, size_t size)
{
    CK_FD fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    long got = ck_fd_read_all(fd, text, size - 1);
    if (got < 0)
        return (int)got;
    text[got] = '\0';
    return 0;
}

/* Mount point of the first cgroup2 line of mountinfo; field 5, and the type behind " - ". */
static int find_mount(char *text, char *ret_path, size_t size)
{
    char *save = NULL;
    for (char *line = strtok_r(text, "\n", &save); line != NULL; line = strtok_r(NULL, "\n", &save)) {
        const char *type = strstr(line, " - ");
        if (type == NULL || strncmp(type, " - cgroup2 ", 11) != 0)
            continue;
        const char *field = line;
        for (int i = 0; i < 4 && field != NULL; i++)
            field = strchr(field, ' ') != NULL ? strchr(field, ' ') + 1 : NULL;
        size_t length = field != NULL ? strcspn(field, " ") : 0;
        if (length == 0 || length >= size)
            continue;
        memcpy(ret_path, field, length);
        ret_path[length] = '\0';
        return 0;
    }
    return -ENOENT;
}

static int find_own(const char *text, char *ret_path, size_t size)
{
    const char *line = strncmp(text, "0::", 3) == 0 ? text : strstr(text, "\n0::");
    if (line == NULL)
        return -ENOENT;
    line = strstr(line, "0::") + 3;
    size_t length = strcspn(line, "\n");
    if (length >= size)
        return -ENAMETOOLONG;
    memcpy(ret_path, line, length);
    ret_path[length] = '\0';
    return 0;
}

int ck_cgroup_own(void)
{
    char mount[PATH_MAX], own[PATH_MAX], path[2 * PATH_MAX];
    char text[65536];
    int result = read_text("/proc/self/mountinfo", text, sizeof text);
    if (result == 0)
        result = find_mount(text, mount, sizeof mount);
    if (result == 0)
        result = read_text("/proc/self/cgroup", text, sizeof text);
    if (result == 0)
        result = find_own(text, own, sizeof own);
    if (result < 0)
        return result;
    (void)snprintf(path, sizeof path, "%s%s", mount, own);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

int ck_cgroup_prefix(char *buffer, size_t size)
{
    struct stat namespace;
    if (stat("/proc/self/ns/pid", &namespace) < 0)
        return -errno;
    int length = snprintf(buffer, size, "chokepoint-%llu-", (unsigned long long)namespace.st_ino);
    return length < 0 || (size_t)length >= size ? -ENAMETOOLONG : 0;
}
