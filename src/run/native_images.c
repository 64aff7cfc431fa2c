/*
 * native_images.c - the cache of native jail programs. See native_images.h.
 *
 * To prepare a root means to find every library of the tool, which takes milliseconds. It is done
 * once for a set of files, and again when one of them has changed.
 */
#include "run/native_images.h"

#include "base/error.h"
#include "base/fd.h"
#include "base/heap.h"
#include "base/quote.h"
#include "jail/plugins.h"
#include "policy/grant.h"
#include "run/guarded.h"
#include "run/helper_files.h"
#include "sys/trust.h"
#include "sys/version.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FILES_MAX (CK_HELPER_FILES_MAX + CK_GUARDED_CARRIERS_MAX)
#define ENTRIES_MAX 32

struct ck_native_images_entry {
    struct ck_native_image image;
    bool libraries, plugins, in_place, tracing, workspace_code, loopback, egress, reports_attempts, names_execs, why,
        learn;
    bool in_workspace;              /* the first tool is beneath the root */
    bool stale;                     /* a file of the system has changed: it is not looked at again */
    char *places;                   /* where the root and the shown directories are, as text: see places_of */
    struct ck_native_loader loader; /* an image with a copy of another loader is not used again */
    struct ck_plugins found;        /* nor one that lacks a plug-in, or has one that was replaced */
    struct ck_version *files;
    char **inside; /* paths inside; the tools come first */
    size_t count;  /* 0: not in use */
};

void ck_native_images_init(struct ck_native_images *native_images, struct ck_binary_search *search)
{
    *native_images = (struct ck_native_images){.search = search};
}

static void drop_entry(struct ck_native_images_entry *entry)
{
    for (size_t i = 0; entry->inside && i < entry->count; i++)
        free(entry->inside[i]);
    free((void *)entry->inside);
    free(entry->files);
    free(entry->places);
    ck_plugins_done(&entry->found);
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
    struct ck_helper_files helpers;
    bool libraries, plugins, in_place, tracing, workspace_code, loopback, egress, reports_attempts, names_execs, why,
        learn;
    const struct ck_native_images_wanted *wanted;
    const char *places;
    size_t count;
};

static int add_file(struct file_set *file_set, int fd, const char *path, bool directory, struct choke_error *error)
{
    struct stat status;
    if (file_set->count == FILES_MAX)
        return -E2BIG;
    if (fstat(fd, &status) < 0)
        return -errno;
    if (file_set->wanted->guard && ck_trust_has_second_name(&status))
        return ck_error_set(error, CHOKE_DISALLOWED, EPERM, CK_NATIVE_SECOND_NAME, CK_QUOTE(path));
    file_set->versions[file_set->count] = ck_version_of(&status);
    file_set->files[file_set->count++] = (struct ck_native_file){.fd = fd, .path = path, .directory = directory};
    return 0;
}

static int collect_files(struct file_set *file_set, struct ck_binary_search *search,
                         const struct ck_native_images_wanted *wanted, struct choke_error *error)
{
    const struct ck_execs_tool *tools = wanted->tools;
    const struct ck_helper_files *helpers = &file_set->helpers;
    int r = 0;
    /* The tools come first, so that ret_inside has them at the same index. */
    for (size_t i = 0; r == 0 && i < wanted->count; i++)
        r = add_file(file_set, tools[i].fd, tools[i].path, false, error);
    file_set->files[0].in_workspace = tools[0].in_workspace;
    for (size_t i = 0; r == 0 && i < wanted->count; i++)
        r = ck_helper_files_open(search, tools[i].tool, wanted->root, &file_set->helpers, error);
    for (size_t i = 0; r == 0 && i < helpers->count; i++)
        r = add_file(file_set, helpers->items[i].fd, helpers->items[i].path, helpers->items[i].directory, error);
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
 * The place of the root, and every shown directory with its identity: another directory at the same
 * path needs another jail. Each part ends with a byte that no path has at its end. The doors of a cage
 * do not change while a context has it.
 */
static const char *places_of(const struct ck_native_images_wanted *wanted)
{
    const char *text = ck_arena_printf(wanted->arena, "%s/", wanted->place ? wanted->place : "");
    for (size_t i = 0; text && i < wanted->shown_count; i++) {
        const struct ck_native_directory *shown = &wanted->shown[i];
        text = ck_arena_printf(wanted->arena, "%s%s/%s/%llu:%llu/", text, shown->path, shown->real,
                               (unsigned long long)shown->device, (unsigned long long)shown->inode);
    }
    for (size_t i = 0; text && wanted->guard && i < wanted->guard->writable_count; i++) {
        const struct ck_native_directory *writable = &wanted->guard->writable[i];
        text = ck_arena_printf(wanted->arena, "%srw:%s/%llu:%llu/", text, writable->path,
                               (unsigned long long)writable->device, (unsigned long long)writable->inode);
    }
    for (size_t i = 0; text && wanted->guard && wanted->guard->read_only && wanted->guard->read_only[i]; i++)
        text = ck_arena_printf(wanted->arena, "%sro:%s/", text, wanted->guard->read_only[i]);
    if (text && wanted->guard && wanted->guard->door)
        text = ck_arena_printf(wanted->arena, "%scage/", text);
    return text;
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
        bool same = entry->count > 0 && entry->count == file_set->count && entry->tracing == file_set->tracing &&
                    entry->egress == file_set->egress && entry->reports_attempts == file_set->reports_attempts &&
                    entry->names_execs == file_set->names_execs && entry->why == file_set->why &&
                    entry->learn == file_set->learn && entry->in_place == file_set->in_place &&
                    entry->libraries == file_set->libraries && entry->plugins == file_set->plugins &&
                    entry->workspace_code == file_set->workspace_code && entry->loopback == file_set->loopback &&
                    entry->in_workspace == file_set->files[0].in_workspace &&
                    strcmp(entry->places, file_set->places) == 0;
        for (size_t k = 0; same && k < file_set->count; k++)
            same = ck_version_equal(&entry->files[k], &file_set->versions[k]);
        if (!same || entry->stale)
            continue;
        if (is_current(&entry->loader) && ck_plugins_are_current(&entry->found))
            return entry;
        entry->stale = true;
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
    entry->plugins = file_set->plugins;
    entry->in_place = file_set->in_place;
    entry->workspace_code = file_set->workspace_code;
    entry->loopback = file_set->loopback;
    entry->in_workspace = file_set->files[0].in_workspace;
    entry->places = strdup(file_set->places);
    if (!entry->places)
        return NULL;
    entry->tracing = file_set->tracing;
    entry->egress = file_set->egress;
    entry->reports_attempts = file_set->reports_attempts;
    entry->names_execs = file_set->names_execs;
    entry->why = file_set->why;
    entry->learn = file_set->learn;
    entry->image = (struct ck_native_image){.fd = fd, .number = ++native_images->last_number};
    entry->count = file_set->count;
    entry->files = calloc(entry->count, sizeof(*entry->files));
    entry->inside = calloc(entry->count, sizeof(*entry->inside));
    bool good = entry->files && entry->inside;
    for (size_t i = 0; good && i < entry->count; i++) {
        entry->files[i] = file_set->versions[i];
        entry->inside[i] = strdup(file_set->files[i].inside);
        good = !!entry->inside[i];
    }
    if (good)
        return entry;
    entry->image.fd = -1; /* it is the caller's until there is an entry */
    drop_entry(entry);
    return NULL;
}

static int make_entry(struct ck_native_images *native_images, struct file_set *file_set, struct ck_arena *arena,
                      struct ck_native_images_entry **ret_entry, struct choke_error *error)
{
    struct ck_native_loader loader = {0};
    struct ck_plugins found = {.root = file_set->wanted->root, .home = file_set->wanted->state_home};
    const struct ck_native_wanted wanted = {
        .files = file_set->files,
        .count = file_set->count,
        .shown = file_set->wanted->shown,
        .shown_count = file_set->wanted->shown_count,
        .root = file_set->wanted->place,
        .search = native_images->search->paths,
        .search_count = native_images->search->count,
        .libraries = file_set->libraries,
        .in_place = file_set->in_place,
        .workspace_code = file_set->workspace_code,
        .loopback = file_set->loopback,
        .tracing = file_set->tracing,
        .egress = file_set->egress,
        .reports_attempts = file_set->reports_attempts,
        .names_execs = file_set->names_execs,
        .why = file_set->why,
        .learn = file_set->learn,
        .guard = file_set->wanted->guard,
        .arena = arena,
        .loader = &loader,
        .plugins = file_set->plugins ? &found : NULL,
    };
    CK_FD fd = -1;
    int r = ck_native_make(&wanted, &fd, error);
    *ret_entry = r < 0 ? NULL : new_entry(native_images, file_set, fd);
    if (!*ret_entry) {
        ck_plugins_done(&found);
        return r < 0 ? r : -ENOMEM;
    }
    (*ret_entry)->loader = loader;
    (*ret_entry)->found = found;
    (void)ck_fd_take(&fd);
    return 0;
}

int ck_native_images_find(struct ck_native_images *native_images, const struct ck_native_images_wanted *wanted,
                          struct ck_native_image *ret_image, const char **ret_inside, struct choke_error *error)
{
    /* On the heap: it is larger than a frame may be. */
    CK_HEAP struct file_set *file_set = ck_heap_own(malloc(sizeof(*file_set)));
    struct ck_native_images_entry *entry = NULL;
    int r = file_set ? 0 : -ENOMEM;
    if (file_set) {
        file_set->libraries = wanted->libraries;
        file_set->plugins = wanted->plugins;
        file_set->in_place = wanted->in_place;
        file_set->workspace_code = wanted->workspace_code;
        file_set->loopback = wanted->loopback;
        /* A tool that runs another for the caller may trace it, as strace does. */
        file_set->tracing = wanted->count > 1 && !(wanted->guard && wanted->guard->door);
        file_set->egress = wanted->egress;
        file_set->reports_attempts = wanted->reports_attempts;
        file_set->names_execs = wanted->names_execs;
        file_set->why = wanted->why;
        file_set->learn = wanted->learn;
        file_set->wanted = wanted;
        file_set->places = places_of(wanted);
        file_set->count = file_set->helpers.count = 0;
        r = file_set->places ? collect_files(file_set, native_images->search, wanted, error) : -ENOMEM;
        if (r == 0)
            entry = find_entry(native_images, file_set);
        if (r == 0 && !entry)
            r = make_entry(native_images, file_set, wanted->arena, &entry, error);
        ck_helper_files_done(&file_set->helpers);
    }
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
