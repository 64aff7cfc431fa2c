/*
 * cage.c - see cage.h.
 *
 * Laying out a root means looking for every library of the tool, which takes milliseconds; it is done once for a set of
 * files, and again when one of them has changed.
 */
#include "run/cage.h"

#include "base/error.h"
#include "base/fd.h"
#include "sys/version.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FILES_MAX 64
#define ENTRIES_MAX 32

struct ck_cages_entry {
    struct ck_cage_image image;
    bool in_place, tracing, egress, named;
    struct ck_version files[FILES_MAX];
    char *inside[FILES_MAX]; /* of the tools, which come first */
    size_t count;
};

void ck_cages_init(struct ck_cages *cages, struct ck_search *search)
{
    *cages = (struct ck_cages){.search = search};
}

static void drop_entry(struct ck_cages_entry *entry)
{
    for (size_t i = 0; i < entry->count; i++)
        free(entry->inside[i]);
    if (entry->count > 0)
        ck_fd_close(&entry->image.fd);
    *entry = (struct ck_cages_entry){0};
}

void ck_cages_done(struct ck_cages *cages)
{
    for (size_t i = 0; cages->entries != NULL && i < ENTRIES_MAX; i++)
        drop_entry(&cages->entries[i]);
    free(cages->entries);
    *cages = (struct ck_cages){0};
}

/* ---- the files --------------------------------------------------------------------------- */

struct gathering {
    struct ck_native_file files[FILES_MAX];
    struct ck_version versions[FILES_MAX];
    int owned[FILES_MAX]; /* descriptors of helpers, to be closed */
    bool in_place, tracing, egress, named;
    size_t count, owned_count;
};

static void close_helpers(struct gathering *gathering)
{
    for (size_t i = 0; i < gathering->owned_count; i++)
        ck_fd_close(&gathering->owned[i]);
}

static int add_file(struct gathering *gathering, int fd, const char *path, bool directory)
{
    struct stat status;
    if (gathering->count == FILES_MAX)
        return -E2BIG;
    if (fstat(fd, &status) < 0)
        return -errno;
    gathering->versions[gathering->count] = ck_version_of(&status);
    gathering->files[gathering->count++] = (struct ck_native_file){.fd = fd, .path = path, .directory = directory};
    return 0;
}

/* A helper that is not installed is not in the jail, which is no error. */
static int add_helper(struct gathering *gathering, struct ck_search *search, const struct ck_cages_wanted *wanted,
                      const char *helper, struct choke_error *error)
{
    const struct ck_wanted file = {.name = helper, .path = helper[0] == '/' ? helper : NULL};
    struct ck_binary binary;
    int r = ck_search_directory(helper, wanted->root, &binary.fd, error);
    bool directory = r == 0;
    if (r == -ENOTDIR)
        r = ck_search_find(search, &file, wanted->root, &binary, NULL, error);
    if (r < 0 && error->outcome == CHOKE_TOOL_MISSING) {
        *error = (struct choke_error){0};
        return 0;
    }
    if (r < 0)
        return r;
    if (gathering->owned_count == FILES_MAX) {
        ck_fd_close(&binary.fd);
        return -E2BIG;
    }
    gathering->owned[gathering->owned_count++] = binary.fd;
    const char *path = ck_arena_strdup(wanted->arena, directory ? helper : binary.path);
    return path == NULL ? -ENOMEM : add_file(gathering, binary.fd, path, directory);
}

static int gather(struct gathering *gathering, struct ck_search *search, const struct ck_cages_wanted *wanted,
                  struct choke_error *error)
{
    const struct ck_execs_tool *tools = wanted->tools;
    int r = 0;
    for (size_t i = 0; r == 0 && i < wanted->count; i++)
        r = add_file(gathering, tools[i].fd, tools[i].path, false);
    for (size_t i = 0; r == 0 && i < wanted->count; i++)
        for (uint32_t k = 0; r == 0 && k < tools[i].execs->count; k++)
            r = add_helper(gathering, search, wanted, tools[i].execs->items[k], error);
    return r;
}

/* ---- the jails --------------------------------------------------------------------------- */

static struct ck_cages_entry *find_entry(const struct ck_cages *cages, const struct gathering *gathering)
{
    for (size_t i = 0; cages->entries != NULL && i < ENTRIES_MAX; i++) {
        struct ck_cages_entry *entry = &cages->entries[i];
        bool same = entry->count == gathering->count && entry->tracing == gathering->tracing &&
                    entry->egress == gathering->egress && entry->named == gathering->named &&
                    entry->in_place == gathering->in_place;
        for (size_t k = 0; same && k < gathering->count; k++)
            same = ck_version_equal(&entry->files[k], &gathering->versions[k]);
        if (same)
            return entry;
    }
    return NULL;
}

/* An entry that is pushed out keeps nothing: wardens of its number are found no more, and end with the context. */
static struct ck_cages_entry *new_entry(struct ck_cages *cages, const struct gathering *gathering, int fd)
{
    if (cages->entries == NULL)
        cages->entries = calloc(ENTRIES_MAX, sizeof *cages->entries);
    if (cages->entries == NULL)
        return NULL;
    struct ck_cages_entry *entry = &cages->entries[cages->next++ % ENTRIES_MAX];
    drop_entry(entry);
    entry->in_place = gathering->in_place;
    entry->tracing = gathering->tracing;
    entry->egress = gathering->egress;
    entry->named = gathering->named;
    entry->image = (struct ck_cage_image){.fd = fd, .number = ++cages->last_number};
    for (; entry->count < gathering->count; entry->count++) {
        entry->files[entry->count] = gathering->versions[entry->count];
        entry->inside[entry->count] = strdup(gathering->files[entry->count].inside);
        if (entry->inside[entry->count] == NULL) {
            entry->image.fd = -1;
            drop_entry(entry);
            return NULL;
        }
    }
    return entry;
}

static int make_entry(struct ck_cages *cages, struct gathering *gathering, struct ck_arena *arena,
                      struct ck_cages_entry **ret_entry, struct choke_error *error)
{
    const struct ck_native_wanted wanted = {
        .files = gathering->files,
        .count = gathering->count,
        .search = cages->search->paths,
        .search_count = cages->search->count,
        .in_place = gathering->in_place,
        .tracing = gathering->tracing,
        .egress = gathering->egress,
        .named = gathering->named,
        .arena = arena,
    };
    CK_FD fd = -1;
    int r = ck_native_make(&wanted, &fd, error);
    if (r < 0)
        return r;
    *ret_entry = new_entry(cages, gathering, fd);
    if (*ret_entry == NULL)
        return -ENOMEM;
    (void)ck_fd_take(&fd);
    return 0;
}

int ck_cages_find(struct ck_cages *cages, const struct ck_cages_wanted *wanted, struct ck_cage_image *ret_image,
                  const char **ret_inside, struct choke_error *error)
{
    struct gathering gathering = {
        .in_place = wanted->in_place, .tracing = wanted->count > 1, .egress = wanted->egress, .named = wanted->named};
    struct ck_cages_entry *entry = NULL;
    int r = gather(&gathering, cages->search, wanted, error);
    if (r == 0)
        entry = find_entry(cages, &gathering);
    if (r == 0 && entry == NULL)
        r = make_entry(cages, &gathering, wanted->arena, &entry, error);
    close_helpers(&gathering);
    if (entry == NULL) {
        if (error->outcome == CHOKE_NONE)
            (void)ck_error_set(error, ck_error_is_passing(-r) ? CHOKE_SPAWN_FAILED : CHOKE_JAIL_UNAVAILABLE, -r,
                               "the native jail cannot be laid out: %s", ck_error_text(-r));
        return r;
    }
    *ret_image = entry->image;
    for (size_t i = 0; i < wanted->count; i++)
        ret_inside[i] = entry->inside[i];
    return 0;
}
