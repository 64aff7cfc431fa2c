/*
 * native_images.c - the cache of native jail programs. See native_images.h.
 *
 * To prepare a root means to find every library of the tool, which takes milliseconds. It is done
 * once for a set of files, and again when one of them has changed.
 */
#include "run/native_images.h"

#include "base/error.h"
#include "base/fd.h"
#include "sys/version.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FILES_MAX 64
#define ENTRIES_MAX 32

struct ck_native_images_entry {
    struct ck_native_image image;
    bool libraries, in_place, tracing, egress, reports_attempts;
    struct ck_native_loader loader; /* an image with a copy of another loader is not used again */
    struct ck_version files[FILES_MAX];
    char *inside[FILES_MAX]; /* paths inside; the tools come first */
    size_t count;
};

void ck_native_images_init(struct ck_native_images *native_images, struct ck_binary_search *search)
{
    *native_images = (struct ck_native_images){.search = search};
}

static void drop_entry(struct ck_native_images_entry *entry)
{
    for (size_t i = 0; i < entry->count; i++)
        free(entry->inside[i]);
    if (entry->count > 0)
        ck_fd_close(&entry->image.fd);
    *entry = (struct ck_native_images_entry){0};
}

void ck_native_images_done(struct ck_native_images *native_images)
{
    for (size_t i = 0; native_images->entries && i < ENTRIES_MAX; i++)
        drop_entry(&native_images->entries[i]);
    free(native_images->entries);
    *native_images = (struct ck_native_images){0};
}

/* ---- the files ---- */

struct file_set {
    struct ck_native_file files[FILES_MAX];
    struct ck_version versions[FILES_MAX];
    int owned[FILES_MAX]; /* descriptors of helpers, which this struct must close */
    bool libraries, in_place, tracing, egress, reports_attempts;
    size_t count, owned_count;
};

static void close_helpers(struct file_set *file_set)
{
    for (size_t i = 0; i < file_set->owned_count; i++)
        ck_fd_close(&file_set->owned[i]);
}

static int add_file(struct file_set *file_set, int fd, const char *path, bool directory)
{
    struct stat status;
    if (file_set->count == FILES_MAX)
        return -E2BIG;
    if (fstat(fd, &status) < 0)
        return -errno;
    file_set->versions[file_set->count] = ck_version_of(&status);
    file_set->files[file_set->count++] = (struct ck_native_file){.fd = fd, .path = path, .directory = directory};
    return 0;
}

/*
 * A helper that is not installed is not an error. It is missing in the jail as it is on the host.
 */
static int add_helper(struct file_set *file_set, struct ck_binary_search *search,
                      const struct ck_native_images_wanted *wanted, const char *helper, struct choke_error *error)
{
    const struct ck_binary_wanted file = {.name = helper, .path = helper[0] == '/' ? helper : NULL};
    struct ck_binary binary;
    int r = ck_binary_directory(helper, wanted->root, &binary.fd, error);
    bool directory = r == 0;
    if (r == -ENOTDIR)
        r = ck_binary_find(search, &file, wanted->root, &binary, NULL, error);
    if (r < 0 && error->outcome == CHOKE_TOOL_MISSING) {
        *error = (struct choke_error){0};
        return 0;
    }
    if (r < 0)
        return r;
    if (file_set->owned_count == FILES_MAX) {
        ck_fd_close(&binary.fd);
        return -E2BIG;
    }
    file_set->owned[file_set->owned_count++] = binary.fd;
    const char *path = ck_arena_strdup(wanted->arena, directory ? helper : binary.path);
    return !path ? -ENOMEM : add_file(file_set, binary.fd, path, directory);
}

static int collect_files(struct file_set *file_set, struct ck_binary_search *search,
                         const struct ck_native_images_wanted *wanted, struct choke_error *error)
{
    const struct ck_execs_tool *tools = wanted->tools;
    int r = 0;
    /* The tools come first, so that ret_inside has them at the same index. */
    for (size_t i = 0; r == 0 && i < wanted->count; i++)
        r = add_file(file_set, tools[i].fd, tools[i].path, false);
    for (size_t i = 0; r == 0 && i < wanted->count; i++)
        for (uint32_t k = 0; r == 0 && k < tools[i].execs->count; k++)
            r = add_helper(file_set, search, wanted, tools[i].execs->items[k], error);
    return r;
}

/* ---- the jails ---- */

/* An upgrade of the C library replaces the loader, and the old one does not work with the new library. */
static bool is_current(const struct ck_native_loader *loader)
{
    struct stat status;
    if (loader->path[0] == '\0')
        return true;
    if (stat(loader->path, &status) < 0)
        return false;
    const struct ck_version version = ck_version_of(&status);
    return ck_version_equal(&version, &loader->version);
}

/*
 * An entry fits if all files have the same versions in the same order, and the jail has the same
 * properties.
 */
static struct ck_native_images_entry *find_entry(const struct ck_native_images *native_images,
                                                 const struct file_set *file_set)
{
    for (size_t i = 0; native_images->entries && i < ENTRIES_MAX; i++) {
        struct ck_native_images_entry *entry = &native_images->entries[i];
        bool same = entry->count == file_set->count && entry->tracing == file_set->tracing &&
                    entry->egress == file_set->egress && entry->reports_attempts == file_set->reports_attempts &&
                    entry->in_place == file_set->in_place && entry->libraries == file_set->libraries;
        for (size_t k = 0; same && k < file_set->count; k++)
            same = ck_version_equal(&entry->files[k], &file_set->versions[k]);
        if (same && is_current(&entry->loader))
            return entry;
    }
    return NULL;
}

/*
 * Replaces the oldest entry. No run asks for its number again, so its wardens stay idle and end
 * with the context.
 */
static struct ck_native_images_entry *new_entry(struct ck_native_images *native_images, const struct file_set *file_set,
                                                int fd)
{
    if (!native_images->entries)
        native_images->entries = calloc(ENTRIES_MAX, sizeof(*native_images->entries));
    if (!native_images->entries)
        return NULL;
    struct ck_native_images_entry *entry = &native_images->entries[native_images->next++ % ENTRIES_MAX];
    drop_entry(entry);
    entry->libraries = file_set->libraries;
    entry->in_place = file_set->in_place;
    entry->tracing = file_set->tracing;
    entry->egress = file_set->egress;
    entry->reports_attempts = file_set->reports_attempts;
    entry->image = (struct ck_native_image){.fd = fd, .number = ++native_images->last_number};
    for (; entry->count < file_set->count; entry->count++) {
        entry->files[entry->count] = file_set->versions[entry->count];
        entry->inside[entry->count] = strdup(file_set->files[entry->count].inside);
        if (!entry->inside[entry->count]) {
            entry->image.fd = -1;
            drop_entry(entry);
            return NULL;
        }
    }
    return entry;
}

static int make_entry(struct ck_native_images *native_images, struct file_set *file_set, struct ck_arena *arena,
                      struct ck_native_images_entry **ret_entry, struct choke_error *error)
{
    struct ck_native_loader loader = {0};
    const struct ck_native_wanted wanted = {
        .files = file_set->files,
        .count = file_set->count,
        .search = native_images->search->paths,
        .search_count = native_images->search->count,
        .libraries = file_set->libraries,
        .in_place = file_set->in_place,
        .tracing = file_set->tracing,
        .egress = file_set->egress,
        .reports_attempts = file_set->reports_attempts,
        .arena = arena,
        .loader = &loader,
    };
    CK_FD fd = -1;
    int r = ck_native_make(&wanted, &fd, error);
    if (r < 0)
        return r;
    *ret_entry = new_entry(native_images, file_set, fd);
    if (!*ret_entry)
        return -ENOMEM;
    (*ret_entry)->loader = loader;
    (void)ck_fd_take(&fd);
    return 0;
}

int ck_native_images_find(struct ck_native_images *native_images, const struct ck_native_images_wanted *wanted,
                          struct ck_native_image *ret_image, const char **ret_inside, struct choke_error *error)
{
    struct file_set file_set = {.libraries = wanted->libraries,
                                .in_place = wanted->in_place,
                                /*
                                 * A tool that runs another for the caller may trace it, as strace
                                 * does.
                                 */
                                .tracing = wanted->count > 1,
                                .egress = wanted->egress,
                                .reports_attempts = wanted->reports_attempts};
    struct ck_native_images_entry *entry = NULL;
    int r = collect_files(&file_set, native_images->search, wanted, error);
    if (r == 0)
        entry = find_entry(native_images, &file_set);
    if (r == 0 && !entry)
        r = make_entry(native_images, &file_set, wanted->arena, &entry, error);
    close_helpers(&file_set);
    if (!entry) {
        if (error->outcome == CHOKE_NONE)
            (void)ck_error_set(error, ck_error_is_transient(-r) ? CHOKE_SPAWN_FAILED : CHOKE_JAIL_UNAVAILABLE, -r,
                               "cannot prepare the native jail: %s", ck_error_text(-r));
        return r;
    }
    *ret_image = entry->image;
    for (size_t i = 0; i < wanted->count; i++)
        ret_inside[i] = entry->inside[i];
    return 0;
}
