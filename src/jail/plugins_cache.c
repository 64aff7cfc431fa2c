/* plugins_cache.c - reads and writes the file with the plug-ins of an interpreter. See plugins_cache.h. */
#include "jail/plugins_cache.h"

#include "base/atomic_file.h"
#include "base/errkind.h"
#include "base/fd.h"
#include "base/heap.h"
#include "sys/cachedir.h"
#include "sys/statefile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD "chokepoint plugins 1 "

/* ---- the text ---- */

static void put_stamps(FILE *out, char kind, const struct ck_plugins_stamp *stamps, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct ck_version *version = &stamps[i].version;
        (void)fprintf(out, "%c %" PRIuMAX " %" PRIuMAX " %" PRIdMAX " %" PRId64 " %" PRId64 " %s\n", kind,
                      (uintmax_t)version->device, (uintmax_t)version->inode, (intmax_t)version->size, version->mtime_ns,
                      version->ctime_ns, stamps[i].path);
    }
}

char *ck_plugins_cache_format(const struct ck_plugins_list *list, const char *interpreter)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return NULL;
    (void)fprintf(out, HEAD "%s\n", interpreter);
    put_stamps(out, 'd', list->directories, list->directories_count);
    put_stamps(out, 'f', list->files, list->files_count);
    bool bad = ferror(out) != 0;
    if (fclose(out) == 0 && !bad && length <= CK_PLUGINS_CACHE_MAX_BYTES)
        return text;
    free(text);
    return NULL;
}

/* One decimal number and the space after it. */
static bool take_number(const char **at, int64_t *ret)
{
    char *end;
    errno = 0;
    if ((**at < '0' || **at > '9') && **at != '-')
        return false;
    intmax_t value = strtoimax(*at, &end, 10);
    if (errno != 0 || end == *at || *end != ' ')
        return false;
    *ret = value;
    *at = end + 1;
    return true;
}

/* The line has length bytes. */
static int take_line(const char *line, size_t length, struct ck_arena *arena, struct ck_plugins_stamp *ret)
{
    int64_t device, inode, size;
    const char *at = line + 2;
    if (length < 4 || line[1] != ' ' || !take_number(&at, &device) || !take_number(&at, &inode) ||
        !take_number(&at, &size) || !take_number(&at, &ret->version.mtime_ns) ||
        !take_number(&at, &ret->version.ctime_ns))
        return -EINVAL;
    /* The numbers may have come from a later line. */
    if (at >= line + length || *at != '/' || (size_t)(line + length - at) >= PATH_MAX)
        return -EINVAL;
    ret->version.device = (dev_t)device;
    ret->version.inode = (ino_t)inode;
    ret->version.size = size;
    ret->path = ck_arena_memdup(arena, at, (size_t)(line + length - at));
    return !ret->path ? -ENOMEM : 0;
}

int ck_plugins_cache_parse(const char *text, const char *interpreter, struct ck_arena *arena,
                           struct ck_plugins_list *list)
{
    size_t head = strlen(HEAD), name = strlen(interpreter);
    if (strncmp(text, HEAD, head) != 0 || strncmp(text + head, interpreter, name) != 0 || text[head + name] != '\n')
        return -EINVAL;
    int r = 0;
    list->files_count = list->directories_count = 0;
    for (const char *line = text + head + name + 1; r == 0 && *line != '\0';) {
        size_t length = strcspn(line, "\n");
        if (line[length] != '\n')
            return -EINVAL;
        if (line[0] == 'd' && list->directories_count < CK_PLUGINS_DIRECTORIES_MAX)
            r = take_line(line, length, arena, &list->directories[list->directories_count++]);
        else if (line[0] == 'f' && list->files_count < CK_PLUGINS_FILES_MAX)
            r = take_line(line, length, arena, &list->files[list->files_count++]);
        else
            return -EINVAL;
        line += length + 1;
    }
    return r;
}

/* ---- the checks ---- */

static bool directories_are_same(const struct ck_plugins_list *list)
{
    for (size_t i = 0; i < list->directories_count; i++) {
        const struct ck_version now = ck_plugins_version_now(list->directories[i].path);
        if (!ck_version_equal(&now, &list->directories[i].version))
            return false;
    }
    return list->directories_count > 0;
}

static bool is_needed(const struct ck_elf *earlier, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < earlier[i].needed_count; k++)
            if (strcmp(earlier[i].needed[k], name) == 0)
                return true;
    return false;
}

/*
 * As strict as a search: a plug-in is in a directory of the table, and a library has a name that a
 * file before it needs. Without the second rule a forged file could name any library of the system.
 */
static bool belongs(const struct ck_plugins_check *check, const char *path, const struct ck_elf *elfs, size_t i)
{
    return ck_plugins_layout_holds(check->interpreter, path) ||
           is_needed(elfs, i, elfs[i].soname ? elfs[i].soname : strrchr(path, '/') + 1);
}

/* 1, 0 or a negative errno: as ck_plugins_cache_load. */
static int check_files(struct ck_plugins_check *check, const struct ck_plugins_list *list)
{
    struct ck_elf *elfs = ck_arena_array(check->arena, list->files_count + 1, sizeof(*elfs));
    if (!elfs)
        return -ENOMEM;
    for (size_t i = 0; i < list->files_count; i++) {
        const struct ck_plugins_stamp *file = &list->files[i];
        struct ck_version now = {0};
        int r = ck_plugins_check_file(check, file->path, &elfs[i], &now);
        if (r != CK_PLUGINS_ACCEPTED)
            return r < 0 ? r : 0;
        if (!ck_version_equal(&now, &file->version) || !belongs(check, file->path, elfs, i))
            return 0;
    }
    return 1;
}

/* ---- the file ---- */

/* The path of an interpreter that the table has: only letters, digits, dots and slashes. */
static void name_of(const struct ck_plugins_check *check, char name[80])
{
    (void)snprintf(name, 80, "plugins%s", check->interpreter->path);
    for (char *slash = strchr(name, '/'); slash; slash = strchr(slash, '/'))
        *slash = '-';
}

static int open_directory(const char *home, const struct ck_identity *root)
{
    CK_HEAP char *path = ck_heap_own(malloc(PATH_MAX));
    struct choke_error error = {0};
    int fd = -1;
    int r = !path ? -ENOMEM : ck_cachedir_open(home, root, path, &fd, &error);
    return r < 0 ? r : fd;
}

int ck_plugins_cache_load(struct ck_plugins_check *check, const struct ck_identity *root, struct ck_plugins_list *list)
{
    char name[80], *text = NULL;
    size_t length = 0;
    struct choke_error error = {0};
    name_of(check, name);
    CK_FD fd = open_directory(check->home, root);
    int r = fd < 0 ? fd : ck_statefile_read(fd, name, CK_PLUGINS_CACHE_MAX_BYTES, &text, &length, &error);
    if (r == 0 && strlen(text) != length)
        r = -EINVAL;
    if (r == 0)
        r = ck_plugins_cache_parse(text, check->interpreter->path, check->arena, list);
    free(text);
    if (r < 0)
        return ck_errkind_is_shortage(-r) ? r : 0;
    return directories_are_same(list) ? check_files(check, list) : 0;
}

void ck_plugins_cache_save(const struct ck_plugins_check *check, const struct ck_identity *root,
                           const struct ck_plugins_list *list)
{
    char name[80];
    if (!list->settled)
        return;
    name_of(check, name);
    CK_FD fd = open_directory(check->home, root);
    CK_HEAP char *text = ck_heap_own(fd < 0 ? NULL : ck_plugins_cache_format(list, check->interpreter->path));
    if (text)
        (void)ck_atomic_file_write(fd, name, 0600, text, strlen(text));
}
