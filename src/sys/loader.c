/*
 * loader.c - looks up one shared object in the order of the glibc loader.
 *
 * /etc/ld.so.cache is read in glibc's format: a header, a table of (flags, name, path), then the
 * strings. Root owns the file, but its offsets are still checked: a truncated file must not cause
 * reads outside of it.
 */
#include "sys/loader.h"

#include "base/errkind.h"
#include "base/fd.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define CACHE_PATH "/etc/ld.so.cache"
#define CACHE_MAX_BYTES ((size_t)16 << 20)

static const char old_magic[] = "ld.so-1.7.0";
static const char new_magic[] = "glibc-ld.so.cache1.1";

struct old_header {
    char magic[12];
    uint32_t count;
};
#define OLD_ENTRY_BYTES 12

struct new_header {
    char magic[20];
    uint32_t count;
    uint32_t strings_bytes;
    uint32_t unused[5];
};

struct new_entry {
    int32_t flags;
    uint32_t name_at; /* from the beginning of the header */
    uint32_t path_at;
    uint32_t os_version;
    uint64_t hwcaps;
};

/* A table of the old format may come before the new one. */
static const char *find_table(const char *cache, size_t *length)
{
    struct old_header old;
    if (*length >= sizeof(old) && memcmp(cache, old_magic, sizeof(old_magic) - 1) == 0) {
        memcpy(&old, cache, sizeof(old));
        uint64_t skip = (sizeof(old) + (uint64_t)old.count * OLD_ENTRY_BYTES + 7) & ~UINT64_C(7);
        if (skip >= *length)
            return NULL;
        cache += skip;
        *length -= (size_t)skip;
    }
    bool good = *length >= sizeof(struct new_header) && memcmp(cache, new_magic, sizeof(new_magic) - 1) == 0;
    return good ? cache : NULL;
}

static const char *text_at(const char *table, size_t length, uint32_t at)
{
    return at < length && memchr(table + at, '\0', length - at) ? table + at : NULL;
}

const char *ck_loader_cached(const char *cache, size_t length, const char *name, size_t *at)
{
    const char *table = find_table(cache, &length);
    struct new_header header;
    if (!table)
        return NULL;
    memcpy(&header, table, sizeof(header));
    for (; *at < header.count; (*at)++) {
        struct new_entry entry;
        size_t here = sizeof(header) + *at * sizeof(entry);
        if (here + sizeof(entry) > length)
            return NULL;
        memcpy(&entry, table + here, sizeof(entry));
        const char *entry_name = text_at(table, length, entry.name_at);
        const char *path = text_at(table, length, entry.path_at);
        if (!entry_name || !path || strcmp(entry_name, name) != 0)
            continue;
        (*at)++;
        return path;
    }
    return NULL;
}

static int read_cache(struct ck_depend *depend)
{
    if (depend->cache_tried)
        return 0;
    CK_FD fd = ck_depend_open(CACHE_PATH);
    struct stat status;
    if (fd < 0 && ck_errkind_is_shortage(-fd))
        return fd;
    depend->cache_tried = true;
    if (fd < 0 || fstat(fd, &status) < 0 || (uint64_t)status.st_size > CACHE_MAX_BYTES)
        return 0; /* a system without a cache: only the standard directories remain */
    char *text = ck_arena_alloc(&depend->arena, (size_t)status.st_size + 1);
    if (!text)
        return -ENOMEM;
    long got = ck_fd_read_all(fd, text, (size_t)status.st_size);
    depend->cache = text;
    depend->cache_length = got > 0 ? (size_t)got : 0;
    return 0;
}

/* ---- directories ---- */

/*
 * A directory, and its subdirectories for certain processors; glibc before 2.37 had more kinds of
 * them.
 */
static int look_in(const struct ck_object *requester, const char *directory, const char *name,
                   const struct ck_loader_visit *visit)
{
    static const char *const kinds[] = {
        "",
        "glibc-hwcaps/x86-64-v4/",
        "glibc-hwcaps/x86-64-v3/",
        "glibc-hwcaps/x86-64-v2/",
        "tls/",
        "x86_64/",
        "haswell/",
        "tls/x86_64/",
        "tls/haswell/",
        "haswell/x86_64/",
        "tls/haswell/x86_64/",
    };
    int found = 0;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        char path[PATH_MAX];
        int length = snprintf(path, sizeof(path), "%s/%s%s", directory, kinds[i], name);
        int taken = length > 0 && length < (int)sizeof(path) ? visit->candidate(visit->data, name, path, requester) : 0;
        if (taken < 0)
            return taken;
        found += taken;
    }
    return found;
}

/* Expands "$ORIGIN/../lib" to a path. False for other variables, and if the result does not fit. */
static bool expand(const char *item, size_t length, const char *origin, char path[PATH_MAX])
{
    static const char *const spellings[] = {"$ORIGIN", "${ORIGIN}"};
    size_t used = 0;
    for (size_t i = 0; i < length;) {
        const char *text = item + i;
        size_t take = 1, put = 1;
        for (size_t k = 0; k < 2; k++) {
            size_t spelled = strlen(spellings[k]);
            if (length - i >= spelled && memcmp(item + i, spellings[k], spelled) == 0) {
                text = origin;
                take = spelled;
                put = strlen(origin);
            }
        }
        if ((text != origin && item[i] == '$') || used + put >= PATH_MAX)
            return false;
        memcpy(path + used, text, put);
        used += put;
        i += take;
    }
    path[used] = '\0';
    return used > 0;
}

static int look_in_list(const struct ck_object *requester, const struct ck_object *owner, const char *list,
                        const char *name, const struct ck_loader_visit *visit)
{
    int found = 0;
    while (list && list[0] != '\0' && found == 0) {
        char directory[PATH_MAX];
        size_t length = strcspn(list, ":");
        if (expand(list, length, owner->origin, directory))
            found = look_in(requester, directory, name, visit);
        list += length + (list[length] == ':');
    }
    return found;
}

/* DT_RPATH is inherited from requesters, and is ignored in an object that has DT_RUNPATH. */
static int look_in_rpaths(const struct ck_object *requester, const char *name, const struct ck_loader_visit *visit)
{
    int found = 0;
    for (const struct ck_object *owner = requester; owner && found == 0; owner = owner->parent)
        if (!owner->elf.runpath)
            found = look_in_list(requester, owner, owner->elf.rpath, name, visit);
    return found;
}

static int look_in_cache(struct ck_depend *depend, const struct ck_object *requester, const char *name,
                         const struct ck_loader_visit *visit)
{
    int found = read_cache(depend);
    size_t at = 0;
    for (const char *path;
         found >= 0 && depend->cache && (path = ck_loader_cached(depend->cache, depend->cache_length, name, &at));) {
        int taken = visit->candidate(visit->data, name, path, requester);
        found = taken < 0 ? taken : found + taken;
    }
    return found;
}

static int look_in_standard(const struct ck_object *requester, const char *name, const struct ck_loader_visit *visit)
{
    static const char *const directories[] = {
        "/lib/x86_64-linux-gnu",
        "/usr/lib/x86_64-linux-gnu",
        "/lib/aarch64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu",
        "/lib64",
        "/usr/lib64",
        "/lib",
        "/usr/lib",
        "/usr/local/lib",
    };
    int found = 0;
    for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]) && found == 0; i++)
        found = look_in(requester, directories[i], name, visit);
    return found;
}

int ck_loader_find(struct ck_depend *depend, const struct ck_object *requester, const char *name,
                   const struct ck_loader_visit *visit)
{
    char path[PATH_MAX];
    if (strchr(name, '/'))
        return expand(name, strlen(name), requester->origin, path)
                   ? visit->candidate(visit->data, name, path, requester)
                   : 0;
    int found = !requester->elf.runpath ? look_in_rpaths(requester, name, visit) : 0;
    if (found == 0)
        found = look_in_list(requester, requester, requester->elf.runpath, name, visit);
    if (found == 0)
        found = look_in_cache(depend, requester, name, visit);
    return found == 0 ? look_in_standard(requester, name, visit) : found;
}
