/*
 * snapshot.c - compares a directory with what it was. See snapshot.h.
 *
 * Both walks are the same: each directory is opened by its path from the top, so a few descriptors are
 * enough for any depth, and entries are in one list, in which directories wait for their turn. The
 * sorted lists are then merged.
 */
#include "overlay/snapshot.h"

#include "base/clock.h"
#include "base/fd.h"
#include "overlay/runs_later.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CLOCK_EVERY 256 /* entries between two looks at the clock */

struct snapshot_entry {
    const char *path; /* from the top */
    struct timespec changed;
    uint64_t inode, size;
    mode_t mode;
    bool unreadable; /* a directory that could not be opened or read to its end */
};

struct ck_snapshot {
    struct ck_arena text;
    struct snapshot_entry *entries;
    size_t count, capacity;
    uint64_t until_ns;
    bool incomplete;
};

/* ---- walking ---- */

static struct snapshot_entry *add_entry(struct ck_snapshot *snapshot)
{
    if (snapshot->count == CK_SNAPSHOT_ENTRIES_MAX)
        return NULL;
    if (snapshot->count == snapshot->capacity) {
        size_t wanted = snapshot->capacity > 0 ? 2 * snapshot->capacity : 256;
        void *grown = reallocarray(snapshot->entries, wanted, sizeof(*snapshot->entries));
        if (!grown)
            return NULL;
        snapshot->entries = grown;
        snapshot->capacity = wanted;
    }
    return &snapshot->entries[snapshot->count++];
}

/* False: a bound was reached. */
static bool note(struct ck_snapshot *snapshot, int directory_fd, const char *above, const char *name)
{
    struct stat status;
    /* Removed meanwhile: by another program of the user, before this one runs. */
    if (fstatat(directory_fd, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
        return true;
    struct snapshot_entry *entry = add_entry(snapshot);
    const char *path = !entry ? NULL : ck_arena_printf(&snapshot->text, "%s%s%s", above, *above ? "/" : "", name);
    if (!path) {
        snapshot->count -= entry ? 1 : 0;
        return false;
    }
    *entry = (struct snapshot_entry){.path = path,
                                     .changed = status.st_ctim,
                                     .inode = status.st_ino,
                                     .size = (uint64_t)status.st_size,
                                     .mode = status.st_mode};
    return snapshot->count % CLOCK_EVERY != 0 || ck_clock_now_ns() < snapshot->until_ns;
}

/* 1: it is read to its end. 0: it cannot be read. -1: a bound was reached. */
static int read_directory(struct ck_snapshot *snapshot, int top_fd, const char *path)
{
    int fd = ck_compare_open(top_fd, path, O_RDONLY | O_DIRECTORY);
    DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;
    if (!stream) {
        ck_fd_close(&fd);
        return 0;
    }
    int r = 1;
    errno = 0;
    for (const struct dirent *found; r > 0 && (found = readdir(stream)); errno = 0)
        if (strcmp(found->d_name, ".") != 0 && strcmp(found->d_name, "..") != 0)
            r = note(snapshot, dirfd(stream), path, found->d_name) ? 1 : -1;
    r = r > 0 && errno != 0 ? 0 : r;
    (void)closedir(stream);
    return r;
}

static int by_path(const void *one, const void *other)
{
    return strcmp(((const struct snapshot_entry *)one)->path, ((const struct snapshot_entry *)other)->path);
}

struct ck_snapshot *ck_snapshot_take(int top_fd)
{
    struct ck_snapshot *snapshot = calloc(1, sizeof(*snapshot));
    if (!snapshot)
        return NULL;
    snapshot->text.max_bytes = CK_SNAPSHOT_TEXT_MAX;
    snapshot->until_ns = ck_clock_now_ns() + CK_SNAPSHOT_NS;
    int r = read_directory(snapshot, top_fd, "");
    snapshot->incomplete = r == 0;
    /*
     * Directories are found while the list grows: by index, because it is moved. What is in those that a
     * bound leaves out is as unknown as what cannot be read.
     */
    for (size_t i = 0; i < snapshot->count; i++) {
        if (!S_ISDIR(snapshot->entries[i].mode))
            continue;
        r = r < 0 ? r : read_directory(snapshot, top_fd, snapshot->entries[i].path);
        snapshot->entries[i].unreadable = r <= 0;
        snapshot->incomplete = snapshot->incomplete || r <= 0;
    }
    snapshot->incomplete = snapshot->incomplete || r < 0;
    if (snapshot->count > 0)
        qsort(snapshot->entries, snapshot->count, sizeof(*snapshot->entries), by_path);
    return snapshot;
}

void ck_snapshot_free(struct ck_snapshot *snapshot)
{
    if (!snapshot)
        return;
    ck_arena_done(&snapshot->text);
    free(snapshot->entries);
    free(snapshot);
}

/* ---- comparing ---- */

static const char *type_of(mode_t mode)
{
    return S_ISREG(mode) ? "file" : S_ISDIR(mode) ? "dir" : S_ISLNK(mode) ? "link" : "other";
}

/* NULL: it is as it was. Of a directory its mode counts alone: what is in it has entries of its own. */
static const char *kind_of(const struct snapshot_entry *was, const struct snapshot_entry *is)
{
    bool same = was->inode == is->inode && was->size == is->size && was->changed.tv_sec == is->changed.tv_sec &&
                was->changed.tv_nsec == is->changed.tv_nsec;
    if ((was->mode & S_IFMT) != (is->mode & S_IFMT))
        return "modified";
    if (S_ISDIR(is->mode))
        return was->mode != is->mode ? "mode" : NULL;
    return same ? NULL : "modified";
}

/* By the rules for every directory. A directory that cannot be read may hold anything. */
static const char *find_reason(struct ck_comparison *comparison, const struct snapshot_entry *entry)
{
    char above[PATH_MAX];
    struct ck_slice slice = {.entries = UINT32_MAX, .creations = UINT32_MAX, .bytes = UINT64_MAX};
    const char *slash = strrchr(entry->path, '/');
    size_t length = slash ? (size_t)(slash - entry->path) : 0;
    if (entry->unreadable || length >= sizeof(above))
        return "cannot be read";
    memcpy(above, entry->path, length);
    above[length] = '\0';
    CK_FD fd = ck_compare_open(comparison->upper_top_fd, above, O_PATH | O_DIRECTORY);
    struct ck_compare_entry compared = {
        .upper_fd = fd, .lower_fd = -1, .path = entry->path, .name = slash ? slash + 1 : entry->path};
    if (fd < 0 || fstatat(fd, compared.name, &compared.upper, AT_SYMLINK_NOFOLLOW) < 0)
        return "cannot be read";
    return ck_compare_runs_later(comparison, &compared, &slice);
}

/* Half of the list is for what runs later: the program could fill all of it with what does not. */
static bool is_crowded(const struct ck_changes *changes)
{
    return changes->count >= CK_CHANGES_ENTRIES_MAX / 2 || changes->text.total_bytes >= CK_CHANGES_TEXT_MAX / 2;
}

/* False: a bound was reached. */
static bool add_change(const struct ck_snapshot_list *list, const struct snapshot_entry *entry, const char *kind,
                       const char *why)
{
    struct ck_changes *changes = list->changes;
    if (list->only_runs_later && !why)
        return true;
    if (!why && is_crowded(changes)) {
        changes->incomplete = true;
        return true;
    }
    if (changes->count == CK_CHANGES_ENTRIES_MAX)
        return false;
    if (changes->count == changes->capacity) {
        size_t wanted = changes->capacity > 0 ? 2 * changes->capacity : 64;
        void *grown = reallocarray(changes->items, wanted, sizeof(*changes->items));
        if (!grown)
            return false;
        changes->items = grown;
        changes->capacity = wanted;
    }
    const char *path = ck_arena_printf(&changes->text, "%s%s", list->prefix, entry->path);
    if (!path)
        return false;
    changes->items[changes->count++] =
        (struct choke_file_change){.path = path, .kind = kind, .type = type_of(entry->mode), .runs_later = why};
    return true;
}

static bool add_new(const struct ck_snapshot_list *list, struct ck_comparison *comparison,
                    const struct snapshot_entry *is, const char *kind)
{
    const char *why = find_reason(comparison, is);
    /* A directory by itself runs nothing, unless nobody can see what is in it. */
    if (list->judge && (!S_ISDIR(is->mode) || is->unreadable))
        why = list->judge(list->data, is->path, why);
    return add_change(list, is, kind, why);
}

static bool merge(const struct ck_snapshot *before, const struct ck_snapshot *after,
                  const struct ck_snapshot_list *list, struct ck_comparison *comparison)
{
    size_t b = 0, a = 0;
    bool good = true;
    while (good && (b < before->count || a < after->count)) {
        const struct snapshot_entry *was = b < before->count ? &before->entries[b] : NULL;
        const struct snapshot_entry *is = a < after->count ? &after->entries[a] : NULL;
        int order = was && is ? strcmp(was->path, is->path) : was ? -1 : 1;
        if (was && order < 0)
            good = add_change(list, was, "deleted", NULL);
        else if (is && order > 0)
            good = add_new(list, comparison, is, "added");
        else if (was && is && (kind_of(was, is) || (is->unreadable && !was->unreadable)))
            good = add_new(list, comparison, is, kind_of(was, is) ? kind_of(was, is) : "mode");
        b += order <= 0 ? 1 : 0;
        a += order >= 0 ? 1 : 0;
    }
    return good;
}

void ck_snapshot_compare(const struct ck_snapshot *before, int top_fd, const struct ck_snapshot_list *list)
{
    struct ck_snapshot *after = ck_snapshot_take(top_fd);
    char *buffer = malloc(CK_COMPARE_BUFFER);
    struct ck_comparison comparison;
    list->changes->text.max_bytes = CK_CHANGES_TEXT_MAX;
    if (!after || !buffer || !before) {
        list->changes->incomplete = true;
    } else {
        ck_compare_init(&comparison, top_fd, top_fd, buffer);
        bool all = merge(before, after, list, &comparison);
        ck_compare_done(&comparison);
        if (!all || before->incomplete || after->incomplete)
            list->changes->incomplete = true;
    }
    free(buffer);
    ck_snapshot_free(after);
}
