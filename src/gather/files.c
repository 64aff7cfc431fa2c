/*
 * files.c - walks over the files of a repository; see files.h.
 *
 * Directories to read are on a stack, by their paths from the root. Each is opened from the root's
 * descriptor with openat2 flags that refuse symlinks and other mounts on the way, so a repository
 * that changes meanwhile cannot lead elsewhere. Names are sorted within a directory, so the order
 * does not depend on the disk.
 */
#include "gather/files.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/file.h"
#include "front/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define PATHS_BYTES_MAX ((size_t)64 << 20) /* for all paths that are held at the same time */
#define CLOCK_EVERY 256                    /* entries between two looks at the clock and at signals */

struct files_walk {
    int root_fd;
    const struct ck_probes *probes; /* their globs are compared with every file */
    struct ck_files *files;
    char **waiting; /* directories; "" is the root */
    size_t waiting_count, waiting_room;
    size_t entries;       /* names read so far */
    size_t held_bytes;    /* of waiting and of all matches */
    uint64_t deadline_ms; /* monotonic */
    bool (*stop)(void *data);
    void *data;
    bool over; /* a limit is reached, or the caller asked to stop */
};

/* One name of a directory. */
struct files_entry {
    char *name;
    unsigned char type; /* DT_REG, DT_DIR, ... */
};

/* The names of one directory. */
struct files_listing {
    struct files_entry *items;
    size_t count, room;
};

/* Room for one more item and the NULL after it; false when out of memory. */
static bool make_room(void **items, size_t count, size_t *room, size_t size)
{
    if (count + 2 <= *room)
        return true;
    size_t more = *room ? *room * 2 : 16;
    void *grown = reallocarray(*items, more, size);
    if (!grown)
        return false;
    *items = grown;
    *room = more;
    return true;
}

/* ---- one directory ---- */

/* RESOLVE_NO_XDEV refuses other mounts. The root itself is "". */
static int open_directory(int root_fd, const char *path)
{
    return ck_file_resolve(root_fd, path[0] != '\0' ? path : ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK,
                           RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV);
}

/* .git is git's own, and may have more files than the repository. */
static bool is_skipped_name(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strcmp(name, ".git") == 0;
}

/*
 * The clock and the signal are checked now and then only: a system call for each entry would cost
 * too much.
 */
static bool check_bounds(struct files_walk *walk)
{
    if (walk->entries >= CK_FILES_ENTRIES_MAX || walk->held_bytes >= PATHS_BYTES_MAX)
        walk->over = true;
    if (walk->entries % CLOCK_EVERY == 0 && (ck_clock_now_ms() >= walk->deadline_ms || walk->stop(walk->data)))
        walk->over = true;
    return walk->over;
}

static int add_entry(struct files_listing *listing, int directory_fd, const struct dirent *entry)
{
    if (!make_room((void **)&listing->items, listing->count, &listing->room, sizeof(*listing->items)))
        return -ENOMEM;
    struct files_entry *added = &listing->items[listing->count];
    *added = (struct files_entry){.name = strdup(entry->d_name), .type = ck_file_type(directory_fd, entry)};
    if (!added->name)
        return -ENOMEM;
    listing->count++;
    return 0;
}

/*
 * Lists the directory within the limits. Returns 0, -ENOMEM, or another errno if it cannot be read.
 */
static int list(struct files_walk *walk, const char *path, struct files_listing *listing)
{
    CK_FD fd = open_directory(walk->root_fd, path);
    DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *entry;
    int r = 0;

    if (!stream)
        return fd < 0 ? fd : -errno;
    (void)ck_fd_take(&fd); /* the stream owns it now */
    /* An error of readdir is treated as the end of the directory. */
    while (r == 0 && !walk->over && (errno = 0, entry = readdir(stream))) {
        if (is_skipped_name(entry->d_name))
            continue;
        r = add_entry(listing, dirfd(stream), entry);
        walk->entries++;
        (void)check_bounds(walk);
    }
    (void)closedir(stream);
    return r;
}

static void free_listing(struct files_listing *listing)
{
    for (size_t i = 0; i < listing->count; i++)
        free(listing->items[i].name);
    free(listing->items);
}

static int compare_entries(const void *left, const void *right)
{
    return strcmp(((const struct files_entry *)left)->name, ((const struct files_entry *)right)->name);
}

/* ---- matches ---- */

/* Does a call of the probe get names of files? */
static bool wants_paths(const struct ck_probe *probe)
{
    for (size_t i = 0; i < probe->call_count; i++)
        for (const char *const *arg = probe->calls[i].argv; *arg; arg++)
            if (strcmp(*arg, CK_PROBE_FILE) == 0 || strcmp(*arg, CK_PROBE_FILES) == 0)
                return true;
    return false;
}

/* One more than can be used is enough to know that there are more. */
static bool is_full(const struct ck_probe *probe, const struct ck_matches *matches)
{
    return matches->count > (wants_paths(probe) ? CK_PROBE_FILES_MAX : 0);
}

/* Room for one more and the NULL after it. held_bytes is never reduced for matches. */
static int add_match(struct files_walk *walk, struct ck_matches *matches, const char *path)
{
    char **grown = reallocarray(matches->paths, matches->count + 2, sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    matches->paths = grown;
    grown[matches->count] = strdup(path);
    if (!grown[matches->count])
        return -ENOMEM;
    grown[++matches->count] = NULL;
    walk->held_bytes += strlen(path) + 1;
    return 0;
}

/* One walk serves all probes: each file is compared with the globs of every probe. */
static int match_file(struct files_walk *walk, const char *path)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < walk->probes->count; i++) {
        const struct ck_probe *probe = &walk->probes->items[i];
        /* A probe without globs needs no matches. */
        if (!probe->applies_when[0] || is_full(probe, &walk->files->matches[i]))
            continue;
        const char *const *glob = probe->applies_when;
        while (*glob && !ck_glob_match(*glob, path))
            glob++;
        if (*glob)
            r = add_match(walk, &walk->files->matches[i], path);
    }
    return r;
}

/*
 * A file on which open(2) may wait, or that has no end. A symlink is followed, because tools follow
 * it; nothing is opened. A socket cannot be opened at all. A symlink to /dev/null is an empty file,
 * and repositories use it.
 */
static bool is_special(const struct files_walk *walk, const char *path, unsigned char type)
{
    struct stat status;

    /* A symlink to nowhere is not special. makedev(1, 3) is /dev/null. */
    if (type == DT_LNK && fstatat(walk->root_fd, path, &status, 0) == 0)
        return S_ISFIFO(status.st_mode) || S_ISBLK(status.st_mode) ||
               (S_ISCHR(status.st_mode) && status.st_rdev != makedev(1, 3));
    return type == DT_FIFO || type == DT_CHR || type == DT_BLK;
}

/* Does the tool of the probe open this path by itself? */
static bool opens(const struct ck_probe *probe, const char *path)
{
    const char *const *glob = probe->opens;

    while (*glob && !ck_glob_match(*glob, path))
        glob++;
    return !!*glob;
}

/* The first such file is enough to skip a probe; the reason names it. */
static int note_special(const struct files_walk *walk, const char *path)
{
    struct ck_files *files = walk->files;

    if (!files->special && !(files->special = strdup(path)))
        return -ENOMEM;
    for (size_t i = 0; i < walk->probes->count; i++) {
        struct ck_matches *matches = &files->matches[i];
        if (!matches->blocking_path && opens(&walk->probes->items[i], path) && !(matches->blocking_path = strdup(path)))
            return -ENOMEM;
    }
    return 0;
}

static int take_file(struct files_walk *walk, const char *path, unsigned char type)
{
    if (type == DT_REG)
        return match_file(walk, path);
    return is_special(walk, path, type) ? note_special(walk, path) : 0;
}

static int push(struct files_walk *walk, const char *path)
{
    if (!make_room((void **)&walk->waiting, walk->waiting_count, &walk->waiting_room, sizeof(*walk->waiting)))
        return -ENOMEM;
    char *copy = strdup(path);
    if (!copy)
        return -ENOMEM;
    walk->waiting[walk->waiting_count++] = copy;
    walk->held_bytes += strlen(path) + 1;
    return 0;
}

/* Joins a directory and a name; false if the path is too long to open. */
static bool join(char path[PATH_MAX], const char *directory, const char *name)
{
    int length = snprintf(path, PATH_MAX, "%s%s%s", directory, directory[0] != '\0' ? "/" : "", name);
    return length > 0 && length < PATH_MAX;
}

/* Files first, then directories in reverse order: the last one on the stack is read next. */
static int take_listing(struct files_walk *walk, const char *directory, struct files_listing *listing)
{
    char path[PATH_MAX];
    int r = 0;

    qsort(listing->items, listing->count, sizeof(*listing->items), compare_entries);
    for (size_t i = 0; r == 0 && i < listing->count; i++) {
        if (listing->items[i].type == DT_DIR)
            continue;
        /* Everything but directories is counted, also what cannot be joined. */
        walk->files->count++;
        if (join(path, directory, listing->items[i].name))
            r = take_file(walk, path, listing->items[i].type);
    }
    for (size_t i = listing->count; r == 0 && i-- > 0;) {
        if (listing->items[i].type != DT_DIR)
            continue;
        if (join(path, directory, listing->items[i].name))
            r = push(walk, path);
        else
            walk->files->unreadable++;
    }
    return r;
}

/* ---- the walk ---- */

/*
 * What another mount covers is not part of the repository. A directory that has disappeared, or is
 * no longer a directory, is ignored.
 */
static int take_directory(struct files_walk *walk, const char *path)
{
    struct files_listing listing = {0};
    int r = list(walk, path, &listing);

    if (r == 0 && listing.count > 0)
        r = take_listing(walk, path, &listing);
    free_listing(&listing);
    if (r == 0 || r == -ENOMEM || r == -EXDEV || r == -ENOENT || r == -ENOTDIR || r == -ELOOP)
        return r == -ENOMEM ? r : 0;
    /* The root itself cannot be read: then there is no walk. */
    if (path[0] == '\0')
        return r;
    walk->files->unreadable++;
    return 0;
}

static int compare_paths(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

/*
 * Sorted here, because the walk goes directory by directory and the paths must be in byte order.
 * Only a limit lets a probe apply without a match: an unreadable directory does not.
 */
static void finish(struct files_walk *walk)
{
    struct ck_files *files = walk->files;

    files->incomplete = walk->over || files->unreadable > 0;
    for (size_t i = 0; i < files->match_count; i++) {
        struct ck_matches *matches = &files->matches[i];
        if (matches->count > 1)
            qsort(matches->paths, matches->count, sizeof(*matches->paths), compare_paths);
        /* The one too many, which is_full accepts, is removed after sorting. */
        if (matches->count > CK_PROBE_FILES_MAX) {
            free(matches->paths[--matches->count]);
            matches->paths[matches->count] = NULL;
            matches->cut = true;
        }
        matches->may_apply = matches->count == 0 && walk->over && !wants_paths(&walk->probes->items[i]);
    }
}

int ck_files_walk(int root_fd, const struct ck_probes *probes, bool (*stop)(void *data), void *data,
                  struct ck_files *ret_files, struct choke_error *error)
{
    struct files_walk walk = {.root_fd = root_fd,
                              .probes = probes,
                              .files = ret_files,
                              .deadline_ms = ck_clock_now_ms() + CK_FILES_TIME_MS,
                              .stop = stop,
                              .data = data};
    int r = 0;

    *ret_files = (struct ck_files){.matches = calloc(probes->count + 1, sizeof(*ret_files->matches)),
                                   .match_count = probes->count};
    /* "" is the root. waiting is a stack: the last one is read next. */
    r = ret_files->matches ? push(&walk, "") : -ENOMEM;
    while (r == 0 && !walk.over && walk.waiting_count > 0) {
        char *path = walk.waiting[--walk.waiting_count];
        /* It leaves the stack, so it no longer counts. */
        walk.held_bytes -= strlen(path) + 1;
        r = take_directory(&walk, path);
        free(path);
    }
    while (walk.waiting_count > 0)
        free(walk.waiting[--walk.waiting_count]);
    free(walk.waiting);
    if (r == 0) {
        finish(&walk);
        return 0;
    }
    ck_files_done(ret_files);
    return ck_text_error(error, CHOKE_NONE, -r, "cannot read the repository: %s", strerror(-r));
}

void ck_files_done(struct ck_files *files)
{
    for (size_t i = 0; files->matches && i < files->match_count; i++) {
        for (size_t path = 0; path < files->matches[i].count; path++)
            free(files->matches[i].paths[path]);
        free(files->matches[i].paths);
        free(files->matches[i].blocking_path);
    }
    free(files->matches);
    free(files->special);
    *files = (struct ck_files){0};
}
