/*
 * cgroup.c - finds the cgroup directory of this process.
 *
 * A hybrid system mounts version 2 beside the version 1 controllers, at any path. So the mount is
 * looked up in mountinfo, not assumed. The line "0::PATH" of /proc/self/cgroup is relative to the
 * root of the cgroup namespace, which is what the mount shows.
 */
#include "sys/cgroup.h"

#include "base/fd.h"
#include "base/file.h"
#include "base/heap.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Is word one of those that commas separate, up to end? */
static bool listed(const char *list, const char *end, const char *word)
{
    size_t length = strlen(word);
    while (list < end) {
        const char *comma = memchr(list, ',', (size_t)(end - list));
        const char *stop = comma ? comma : end;
        if ((size_t)(stop - list) == length && memcmp(list, word, length) == 0)
            return true;
        list = stop + 1;
    }
    return false;
}

/*
 * With controller NULL: is it a mount of version 2? Else: is it a mount of version 1 that names the
 * controller in its options, the last field?
 */
static bool is_wanted(const char *line, const char *controller)
{
    const char *type = strstr(line, " - ");
    if (!type || strncmp(type, !controller ? " - cgroup2 " : " - cgroup ", 10) != 0)
        return false;
    const char *options = strrchr(line, ' ') + 1;
    return !controller || listed(options, options + strlen(options), controller);
}

/* The mount point (field 5) of the first wanted line of mountinfo; the type follows " - ". */
static int find_mount(char *text, const char *controller, char *ret_path, size_t size)
{
    char *save = NULL;
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        if (!is_wanted(line, controller))
            continue;
        const char *field = line;
        for (int i = 0; i < 4 && field; i++)
            field = strchr(field, ' ') ? strchr(field, ' ') + 1 : NULL;
        size_t length = field ? strcspn(field, " ") : 0;
        if (length == 0 || length >= size)
            continue;
        memcpy(ret_path, field, length);
        ret_path[length] = '\0';
        return 0;
    }
    return -ENOENT;
}

/* Lines are "NUMBER:CONTROLLERS:PATH"; the one of version 2 is "0::PATH". */
static int find_own(const char *text, const char *controller, char *ret_path, size_t size)
{
    for (const char *line = text; line[0] != '\0'; line += line[0] == '\n') {
        const char *end = line + strcspn(line, "\n");
        const char *list = memchr(line, ':', (size_t)(end - line));
        const char *path = list ? memchr(list + 1, ':', (size_t)(end - list - 1)) : NULL;
        bool wanted = path && (!controller ? path == list + 1 : listed(list + 1, path, controller));
        line = end;
        if (!wanted)
            continue;
        size_t length = (size_t)(end - path - 1);
        if (length >= size)
            return -ENAMETOOLONG;
        memcpy(ret_path, path + 1, length);
        ret_path[length] = '\0';
        return 0;
    }
    return -ENOENT;
}

/* Too large for a stack. */
struct texts {
    char text[65536];
    char mount[PATH_MAX], own[PATH_MAX], path[2 * PATH_MAX];
};

static int open_own(const char *controller)
{
    CK_HEAP struct texts *texts = ck_heap_own(malloc(sizeof(*texts)));
    if (!texts)
        return -ENOMEM;
    int r = (int)ck_file_read_into(AT_FDCWD, "/proc/self/mountinfo", 0, texts->text, sizeof(texts->text));
    if (r >= 0)
        r = find_mount(texts->text, controller, texts->mount, sizeof(texts->mount));
    if (r == 0)
        r = (int)ck_file_read_into(AT_FDCWD, "/proc/self/cgroup", 0, texts->text, sizeof(texts->text));
    if (r >= 0)
        r = find_own(texts->text, controller, texts->own, sizeof(texts->own));
    if (r < 0)
        return r;
    (void)snprintf(texts->path, sizeof(texts->path), "%s%s", texts->mount, texts->own);
    int fd = open(texts->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

int ck_cgroup_own(void)
{
    return open_own(NULL);
}

int ck_cgroup_own_v1(const char *controller)
{
    return open_own(controller);
}

int ck_cgroup_prefix(char *buffer, size_t size)
{
    /* The inode number of the namespace file is the identity of the namespace. */
    struct stat namespace;
    if (stat("/proc/self/ns/pid", &namespace) < 0)
        return -errno;
    int length = snprintf(buffer, size, "chokepoint-%llu-", (unsigned long long)namespace.st_ino);
    return length < 0 || (size_t)length >= size ? -ENAMETOOLONG : 0;
}
