/*
 * plugins_scan.c - finds plug-ins and their libraries. See plugins_scan.h.
 *
 * Nothing here depends on a directory staying as it is. Each file is checked by itself, and the list
 * is used again only while every directory has the version that it had before it was read.
 */
#include "jail/plugins_scan.h"

#include "base/errkind.h"
#include "base/file.h"
#include "base/heap.h"
#include "sys/loader.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 8
#define NAMES_MAX 65536   /* of all directories together */
#define LOOKUPS_MAX 16384 /* of libraries */
#define LOADER_CACHE "/etc/ld.so.cache"

struct plugins_scan {
    struct ck_plugins_check *check;
    struct ck_depend *depend;
    struct ck_plugins_list *list;
    struct ck_object *objects; /* what list->files has, by the same index */
    const char **asked;        /* names that were looked up for objects without a path of their own */
    size_t asked_count, names, lookups;
};

int ck_plugins_list_init(struct ck_plugins_list *list, struct ck_arena *arena)
{
    *list = (struct ck_plugins_list){.settled = true};
    list->files = ck_arena_array(arena, CK_PLUGINS_FILES_MAX, sizeof(*list->files));
    list->directories = ck_arena_array(arena, CK_PLUGINS_DIRECTORIES_MAX, sizeof(*list->directories));
    return !list->files || !list->directories ? -ENOMEM : 0;
}

struct ck_version ck_plugins_version_now(const char *path)
{
    struct stat status;
    return lstat(path, &status) < 0 ? (struct ck_version){0} : ck_version_of(&status);
}

/* Notes the version of a directory before it is read. 1; 0 if there is no room for it, or it was read before. */
static int stamp(struct plugins_scan *scan, const char *path)
{
    struct ck_plugins_list *list = scan->list;
    for (size_t i = 0; i < list->directories_count; i++)
        if (strcmp(list->directories[i].path, path) == 0)
            return 0;
    if (list->directories_count == CK_PLUGINS_DIRECTORIES_MAX) {
        list->settled = false; /* what was left out can change unseen */
        return 0;
    }
    struct ck_plugins_stamp *added = &list->directories[list->directories_count];
    *added = (struct ck_plugins_stamp){.path = ck_arena_strdup(scan->check->arena, path)};
    if (!added->path)
        return -ENOMEM;
    added->version = ck_plugins_version_now(path);
    if (added->version.inode != 0 && !ck_version_settled(&added->version))
        list->settled = false;
    list->directories_count++;
    return 1;
}

/* ---- files ---- */

static bool is_listed(const struct ck_plugins_list *list, const char *path)
{
    for (size_t i = 0; i < list->files_count; i++)
        if (strcmp(list->files[i].path, path) == 0)
            return true;
    return false;
}

/* The verdict, as of ck_plugins_check_file. real has no symlink in its last component. */
static int take_file(struct plugins_scan *scan, const char *real, const struct ck_object *parent)
{
    struct ck_plugins_list *list = scan->list;
    if (is_listed(list, real))
        return CK_PLUGINS_ACCEPTED;
    if (list->files_count == CK_PLUGINS_FILES_MAX || strchr(real, '\n'))
        return CK_PLUGINS_REFUSED;
    struct ck_object *object = &scan->objects[list->files_count];
    struct ck_plugins_stamp *file = &list->files[list->files_count];
    *object = (struct ck_object){.parent = parent};
    int r = ck_plugins_check_file(scan->check, real, &object->elf, &file->version);
    if (r != CK_PLUGINS_ACCEPTED)
        return r;
    file->path = ck_arena_strdup(scan->check->arena, real);
    object->origin = ck_arena_memdup(scan->check->arena, real, (size_t)(strrchr(real, '/') - real));
    if (!file->path || !object->origin)
        return -ENOMEM;
    if (!ck_version_settled(&file->version))
        list->settled = false;
    list->files_count++;
    return r;
}

/* ---- directories ---- */

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* What one directory has: plug-ins and directories, or what a pattern matches. */
struct listing {
    const char **names;
    size_t count, capacity;
};

static int add_name(struct plugins_scan *scan, struct listing *listing, const char *path)
{
    if (listing->count == listing->capacity) {
        size_t wanted = listing->capacity == 0 ? 32 : 2 * listing->capacity;
        const char **larger = ck_arena_array(scan->check->arena, wanted, sizeof(*larger));
        if (!larger)
            return -ENOMEM;
        if (listing->count > 0)
            memcpy((void *)larger, (const void *)listing->names, listing->count * sizeof(*larger));
        listing->names = larger;
        listing->capacity = wanted;
    }
    listing->names[listing->count] = path;
    return !listing->names[listing->count++] ? -ENOMEM : 0;
}

/* Python keeps no plug-in in __pycache__; half of its directories are these. */
static bool is_wanted(unsigned char type, const char *name, const char *pattern)
{
    if (pattern)
        return type == DT_DIR && fnmatch(pattern, name, FNM_PERIOD) == 0;
    return type == DT_DIR ? name[0] != '.' && strcmp(name, "__pycache__") != 0
                          : type == DT_REG && ck_plugins_layout_is_object(name);
}

/*
 * The full paths in a directory, sorted: files in *files, directories in *directories. A symlink is
 * neither. With a pattern: the directories that it matches.
 */
static int read_directory(struct plugins_scan *scan, const char *path, const char *pattern, struct listing *files,
                          struct listing *directories)
{
    DIR *directory = opendir(path);
    if (!directory)
        return ck_errkind_is_shortage(errno) ? -errno : 0;
    int r = 0;
    const struct dirent *entry;
    for (errno = 0; r == 0 && scan->names < NAMES_MAX && (entry = readdir(directory)); errno = 0) {
        scan->names++;
        unsigned char type = ck_file_type(dirfd(directory), entry);
        if (is_wanted(type, entry->d_name, pattern))
            r = add_name(scan, type == DT_DIR ? directories : files,
                         ck_arena_printf(scan->check->arena, "%s/%s", path, entry->d_name));
    }
    /* What was not read can be there, so the list is not remembered as the whole. */
    if (r == 0 && errno != 0) {
        scan->list->settled = false;
        r = ck_errkind_is_shortage(errno) ? -errno : 0;
    }
    (void)closedir(directory);
    if (files->count > 1)
        qsort((void *)files->names, files->count, sizeof(*files->names), compare_names);
    if (directories->count > 1)
        qsort((void *)directories->names, directories->count, sizeof(*directories->names), compare_names);
    return r;
}

static int walk(struct plugins_scan *scan, const char *path, unsigned depth)
{
    struct listing files = {0}, directories = {0};
    int r = stamp(scan, path);
    if (r == 1)
        r = ck_plugins_check_directory(scan->check, path);
    if (r <= 0)
        return r;
    r = read_directory(scan, path, NULL, &files, &directories);
    for (size_t i = 0; r >= 0 && i < files.count; i++)
        r = take_file(scan, files.names[i], NULL);
    for (size_t i = 0; r >= 0 && depth < DEPTH_MAX && i < directories.count; i++)
        r = walk(scan, directories.names[i], depth + 1);
    return r < 0 ? r : 0;
}

/* base has no pattern in it; rest is empty, or begins with '/'. The table has a few components at most. */
static int expand(struct plugins_scan *scan, const char *base, const char *rest)
{
    if (*rest == '\0')
        return walk(scan, base, 0);
    size_t length = 1 + strcspn(rest + 1, "/");
    const char *component = ck_arena_memdup(scan->check->arena, rest + 1, length - 1);
    if (!component)
        return -ENOMEM;
    if (!strchr(component, '*')) {
        const char *path = ck_arena_printf(scan->check->arena, "%s/%s", base, component);
        return !path ? -ENOMEM : expand(scan, path, rest + length);
    }
    struct listing files = {0}, directories = {0};
    int r = stamp(scan, base);
    if (r >= 0)
        r = read_directory(scan, base, component, &files, &directories);
    for (size_t i = 0; r >= 0 && i < directories.count; i++)
        r = expand(scan, directories.names[i], rest + length);
    return r < 0 ? r : 0;
}

static int find_plugins(struct plugins_scan *scan)
{
    CK_HEAP char *pattern = ck_heap_own(malloc(PATH_MAX));
    int r = !pattern ? -ENOMEM : 0;
    for (size_t i = 0; r >= 0 && ck_plugins_layout_directory(scan->check->interpreter, i, pattern); i++)
        r = expand(scan, "", pattern);
    return r;
}

/* ---- libraries ---- */

/* Whether the loader would look in other places than for the rest of the process. */
static bool has_own_path(const struct ck_object *object)
{
    for (const struct ck_object *owner = object; owner; owner = owner->parent)
        if (owner->elf.rpath || owner->elf.runpath)
            return true;
    return false;
}

static bool was_asked(struct plugins_scan *scan, const char *name)
{
    for (size_t i = 0; i < scan->asked_count; i++)
        if (strcmp(scan->asked[i], name) == 0)
            return true;
    if (scan->asked_count < CK_PLUGINS_FILES_MAX)
        scan->asked[scan->asked_count++] = name;
    return false;
}

/* A file that is refused ends the search, too: the loader would take it, and fail to map it. */
static int take_candidate(void *data, const char *name, const char *path, const struct ck_object *requester)
{
    struct plugins_scan *scan = data;
    (void)name;
    CK_HEAP char *real = ck_heap_own(realpath(path, NULL));
    if (!real)
        return ck_errkind_is_shortage(errno) ? -errno : 0;
    int r = take_file(scan, real, requester);
    if (r != CK_PLUGINS_ACCEPTED)
        return r < 0 ? r : r == CK_PLUGINS_REFUSED;
    *strrchr(real, '/') = '\0';
    r = stamp(scan, real);
    return r < 0 ? r : 1;
}

static int find_libraries(struct plugins_scan *scan)
{
    const struct ck_loader_visit visit = {.candidate = take_candidate, .data = scan};
    for (size_t i = 0; i < scan->list->files_count; i++) {
        const struct ck_object *object = &scan->objects[i];
        bool own_path = has_own_path(object);
        for (size_t k = 0; k < object->elf.needed_count; k++) {
            if ((!own_path && was_asked(scan, object->elf.needed[k])) || scan->lookups++ >= LOOKUPS_MAX)
                continue;
            int r = ck_loader_find(scan->depend, object, object->elf.needed[k], &visit);
            if (r < 0)
                return r;
        }
    }
    return 0;
}

int ck_plugins_scan(struct ck_plugins_check *check, struct ck_depend *depend, struct ck_plugins_list *list)
{
    struct plugins_scan scan = {.check = check, .depend = depend, .list = list};
    scan.objects = ck_arena_array(check->arena, CK_PLUGINS_FILES_MAX, sizeof(*scan.objects));
    scan.asked = ck_arena_array(check->arena, CK_PLUGINS_FILES_MAX, sizeof(*scan.asked));
    if (!scan.objects || !scan.asked)
        return -ENOMEM;
    int r = stamp(&scan, LOADER_CACHE);
    if (r >= 0)
        r = find_plugins(&scan);
    return r < 0 ? r : find_libraries(&scan);
}
