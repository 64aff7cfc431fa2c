/*
 * changes.c - see changes.h.
 *
 * The walk has a list of directories still to be looked at, by their paths, and opens each from the top: a few
 * descriptors do for any tree. The kernel's own notes in an upper directory are: a character device 0:0 where something
 * was deleted, and an attribute on a directory that hides what is below it ("opaque"). A path is longer than PATH_MAX
 * only where somebody wanted it to be; what lies there is not listed.
 */
#include "sys/changes.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/heap.h"
#include "sys/keep.h"
#include "sys/later.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#define OPAQUE "user.overlay.opaque"
#define REDIRECT "user.overlay.redirect"
#define COMPARE_MAX ((uint64_t)64 << 20) /* bytes of all files together; beyond that a file counts as modified */
#define KEEP_MAX ((uint64_t)1 << 30)     /* as much as a layer holds */
#define PACKAGE_MAX ((size_t)1 << 20)
#define PIECE_BYTES ((size_t)16 << 10)

struct walk {
    struct ck_changes *changes;
    const struct ck_changes_where *where;
    const char **pending; /* directories, from the root: "" is the root itself */
    size_t pending_count, pending_capacity;
    size_t seen;
    uint64_t compared_bytes, kept_bytes;
    bool stopped;
};

/* The directory that is being looked at. */
struct spot {
    const char *path;
    int upper_fd;
    int lower_fd; /* -1: the repository has none there */
    int keep_fd;  /* -1: not needed so far */
};

struct entry {
    const char *name;
    const char *path;
    struct stat upper;
    struct stat lower;
    bool has_lower;
};

/* ---- remembering ------------------------------------------------------------------------- */

static void stop(struct walk *walk)
{
    walk->changes->incomplete = true;
    walk->stopped = true;
}

/* Room for one more in an array that grows; false when there is none. */
static bool grow(void **items, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return true;
    size_t wanted = *capacity == 0 ? 64 : *capacity * 2;
    void *grown = reallocarray(*items, wanted, size);
    if (grown == NULL)
        return false;
    *items = grown;
    *capacity = wanted;
    return true;
}

static const char *join(struct walk *walk, const char *directory, const char *name)
{
    char path[PATH_MAX];
    size_t before = strlen(directory), behind = strlen(name), slash = before > 0 ? 1 : 0;
    if (before + slash + behind >= sizeof path) {
        walk->changes->incomplete = true;
        return NULL;
    }
    memcpy(path, directory, before);
    if (slash > 0)
        path[before] = '/';
    memcpy(path + before + slash, name, behind);
    const char *joined = ck_arena_memdup(&walk->changes->text, path, before + slash + behind);
    if (joined == NULL)
        stop(walk);
    return joined;
}

static void add_pending(struct walk *walk, const char *path)
{
    void *items = walk->pending;
    if (!grow(&items, walk->pending_count, &walk->pending_capacity, sizeof *walk->pending)) {
        stop(walk);
        return;
    }
    walk->pending = items;
    walk->pending[walk->pending_count++] = path;
}

static const char *type_of(mode_t mode)
{
    return S_ISREG(mode) ? "file" : S_ISDIR(mode) ? "dir" : S_ISLNK(mode) ? "link" : "other";
}

static void add_change(struct walk *walk, const char *path, const char *kind, mode_t mode, const char *runs_later)
{
    struct ck_changes *changes = walk->changes;
    void *items = changes->items;
    if (!grow(&items, changes->count, &changes->capacity, sizeof *changes->items)) {
        stop(walk);
        return;
    }
    changes->items = items;
    changes->items[changes->count++] =
        (struct choke_file_change){.path = path, .kind = kind, .type = type_of(mode), .runs_later = runs_later};
}

/* Counts an entry; false at the end of what may be looked at. The clock is asked now and then. */
static bool may_look(struct walk *walk)
{
    walk->seen++;
    if (walk->seen > CK_CHANGES_ENTRIES_MAX || (walk->seen % 16 == 0 && ck_clock_now_ns() >= walk->where->deadline_ns))
        stop(walk);
    return !walk->stopped;
}

/* ---- comparing --------------------------------------------------------------------------- */

/* Only for what is a regular file by its status; O_NONBLOCK in case the repository's turned into a fifo meanwhile. */
static int open_file(int directory_fd, const char *name)
{
    return openat(directory_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

static bool same_bytes(struct walk *walk, int one_fd, int other_fd, uint64_t size)
{
    CK_HEAP char *one = malloc(2 * PIECE_BYTES);
    if (one == NULL || size > COMPARE_MAX - walk->compared_bytes)
        return false;
    walk->compared_bytes += size;
    for (;;) {
        long got = ck_fd_read_all(one_fd, one, PIECE_BYTES);
        long same = ck_fd_read_all(other_fd, one + PIECE_BYTES, PIECE_BYTES);
        if (got < 0 || got != same || memcmp(one, one + PIECE_BYTES, (size_t)got) != 0)
            return false;
        if (got < (long)PIECE_BYTES)
            return true;
    }
}

static bool same_file(struct walk *walk, const struct spot *spot, const struct entry *entry)
{
    if (entry->upper.st_size != entry->lower.st_size)
        return false;
    CK_FD upper = open_file(spot->upper_fd, entry->name);
    CK_FD lower = open_file(spot->lower_fd, entry->name);
    return upper >= 0 && lower >= 0 && same_bytes(walk, upper, lower, (uint64_t)entry->upper.st_size);
}

static bool same_target(const struct spot *spot, const struct entry *entry)
{
    char upper[PATH_MAX], lower[PATH_MAX];
    ssize_t length = readlinkat(spot->upper_fd, entry->name, upper, sizeof upper);
    ssize_t other = readlinkat(spot->lower_fd, entry->name, lower, sizeof lower);
    return length >= 0 && length == other && memcmp(upper, lower, (size_t)length) == 0;
}

/* "added", "modified", "mode", or NULL: a file that was opened and left as it was, a directory on the way to one. */
static const char *kind_of(struct walk *walk, const struct spot *spot, const struct entry *entry)
{
    mode_t upper = entry->upper.st_mode, lower = entry->lower.st_mode;
    if (!entry->has_lower)
        return "added";
    if ((upper & S_IFMT) != (lower & S_IFMT))
        return "modified";
    if (S_ISLNK(upper))
        return same_target(spot, entry) ? NULL : "modified";
    if (!S_ISREG(upper) && !S_ISDIR(upper))
        return "modified";
    if (S_ISREG(upper) && !same_file(walk, spot, entry))
        return "modified";
    return (upper & 07777) != (lower & 07777) ? "mode" : NULL;
}

/* ---- what will run ----------------------------------------------------------------------- */

/* NULL where it is too large or cannot be read. */
static char *read_package(int directory_fd, const char *name, size_t *ret_length)
{
    CK_FD fd = open_file(directory_fd, name);
    char *text = fd < 0 ? NULL : malloc(PACKAGE_MAX);
    long length = text == NULL ? -1 : ck_fd_read_all(fd, text, PACKAGE_MAX);
    if (length < 0 || length == (long)PACKAGE_MAX) {
        free(text);
        return NULL;
    }
    *ret_length = (size_t)length;
    return text;
}

static const char *package_runs(const struct spot *spot, const struct entry *entry)
{
    size_t was = 0, is = 0;
    bool compare = entry->has_lower && S_ISREG(entry->lower.st_mode);
    char *before = compare ? read_package(spot->lower_fd, entry->name, &was) : NULL;
    char *after = read_package(spot->upper_fd, entry->name, &is);
    const char *why =
        after == NULL || (compare && before == NULL) ? "package script" : ck_later_package(before, was, after, is);
    free(before);
    free(after);
    return why;
}

static const char *file_runs(const struct spot *spot, const struct entry *entry)
{
    char head[4];
    const char *why = ck_later_is_package(entry->path) ? package_runs(spot, entry) : ck_later_place(entry->path);
    if (why != NULL)
        return why;
    CK_FD fd = open_file(spot->upper_fd, entry->name);
    long length = fd < 0 ? 0 : ck_fd_read_all(fd, head, sizeof head);
    return ck_later_content(head, length < 0 ? 0 : (size_t)length, (entry->upper.st_mode & 0111) != 0);
}

static const char *link_runs(const struct spot *spot, const struct entry *entry)
{
    char target[PATH_MAX];
    ssize_t length = readlinkat(spot->upper_fd, entry->name, target, sizeof target - 1);
    target[length < 0 ? 0 : length] = '\0';
    const char *why = length < 0 ? "leads out of the root" : ck_later_link(entry->path, target);
    return why != NULL ? why : ck_later_place(entry->path);
}

static const char *runs_later(const struct spot *spot, const struct entry *entry)
{
    if (S_ISREG(entry->upper.st_mode))
        return file_runs(spot, entry);
    return S_ISLNK(entry->upper.st_mode) ? link_runs(spot, entry) : NULL;
}

/* ---- keeping ----------------------------------------------------------------------------- */

static int keep_entry(struct walk *walk, struct spot *spot, const struct entry *entry)
{
    mode_t mode = entry->upper.st_mode;
    if (!S_ISREG(mode) && !S_ISDIR(mode) && !S_ISLNK(mode))
        return 0;
    if (spot->keep_fd < 0)
        spot->keep_fd = ck_keep_enter(walk->where->keep_fd, spot->path);
    if (spot->keep_fd < 0)
        return spot->keep_fd;
    /* One file can have many names, and is many files then. */
    uint64_t bytes = S_ISREG(mode) ? (uint64_t)entry->upper.st_blocks * 512u : 0;
    if (bytes > KEEP_MAX - walk->kept_bytes)
        return -EFBIG;
    walk->kept_bytes += bytes;
    if (S_ISREG(mode))
        return ck_keep_file(spot->upper_fd, spot->keep_fd, entry->name, mode);
    return S_ISLNK(mode) ? ck_keep_link(spot->upper_fd, spot->keep_fd, entry->name)
                         : ck_keep_directory(spot->keep_fd, entry->name, mode);
}

static void keep(struct walk *walk, struct spot *spot, const struct entry *entry)
{
    int result = walk->where->keep_fd < 0 ? 0 : keep_entry(walk, spot, entry);
    if (result < 0 && walk->changes->keep_error == 0)
        walk->changes->keep_error = -result;
}

/* ---- the walk ---------------------------------------------------------------------------- */

/* The dead tool may have closed its files and directories to us, who are their owner. Nothing moves: no link by now. */
static void open_up(struct walk *walk, int directory_fd, const struct entry *entry)
{
    mode_t mode = entry->upper.st_mode;
    mode_t needed = S_ISDIR(mode) ? 0700 : S_ISREG(mode) ? 0400 : 0;
    if ((mode & needed) != needed && fchmodat(directory_fd, entry->name, (mode & 0777) | needed, 0) < 0)
        walk->changes->incomplete = true;
}

static bool is_whiteout(const struct stat *status)
{
    return S_ISCHR(status->st_mode) && status->st_rdev == makedev(0, 0);
}

static void look_at(struct walk *walk, struct spot *spot, const char *name)
{
    struct entry entry = {.name = name};
    if (fstatat(spot->upper_fd, name, &entry.upper, AT_SYMLINK_NOFOLLOW) < 0) {
        walk->changes->incomplete = true;
        return;
    }
    entry.path = join(walk, spot->path, name);
    if (entry.path == NULL)
        return;
    entry.has_lower = spot->lower_fd >= 0 && fstatat(spot->lower_fd, name, &entry.lower, AT_SYMLINK_NOFOLLOW) == 0;
    if (spot->lower_fd >= 0 && !entry.has_lower && errno != ENOENT)
        walk->changes->incomplete = true;
    if (is_whiteout(&entry.upper)) {
        if (entry.has_lower)
            add_change(walk, entry.path, "deleted", entry.lower.st_mode, NULL);
        return;
    }
    open_up(walk, spot->upper_fd, &entry);
    const char *kind = kind_of(walk, spot, &entry);
    if (kind != NULL) {
        add_change(walk, entry.path, kind, entry.upper.st_mode, runs_later(spot, &entry));
        keep(walk, spot, &entry);
    }
    if (S_ISDIR(entry.upper.st_mode))
        add_pending(walk, entry.path);
}

static void each_name(struct walk *walk, struct spot *spot, int directory_fd,
                      void (*visit)(struct walk *walk, struct spot *spot, const char *name))
{
    int fd = openat(directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = fd < 0 ? NULL : fdopendir(fd);
    if (directory == NULL) {
        ck_fd_close(&fd);
        walk->changes->incomplete = true;
        return;
    }
    for (struct dirent *entry; !walk->stopped && (entry = readdir(directory)) != NULL;)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 && may_look(walk))
            visit(walk, spot, entry->d_name);
    (void)closedir(directory);
}

/* What an opaque directory hides is deleted, unless there is something new of the same name. */
static void look_below(struct walk *walk, struct spot *spot, const char *name)
{
    struct stat upper, lower;
    if (fstatat(spot->upper_fd, name, &upper, AT_SYMLINK_NOFOLLOW) == 0 ||
        fstatat(spot->lower_fd, name, &lower, AT_SYMLINK_NOFOLLOW) < 0)
        return;
    const char *path = join(walk, spot->path, name);
    if (path != NULL)
        add_change(walk, path, "deleted", lower.st_mode, NULL);
}

static int open_beneath(int top_fd, const char *path, int flags)
{
    const struct open_how how = {.flags = (unsigned)(flags | O_DIRECTORY | O_CLOEXEC),
                                 .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV};
    return (int)syscall(SYS_openat2, top_fd, path[0] != '\0' ? path : ".", &how, sizeof how);
}

static void look_into(struct walk *walk, const char *path)
{
    char note[2];
    CK_FD lower = open_beneath(walk->where->lower_fd, path, O_PATH);
    if (lower < 0 && errno != ENOENT && errno != ENOTDIR && errno != ELOOP)
        walk->changes->incomplete = true;
    CK_FD upper = open_beneath(walk->where->upper_fd, path, O_RDONLY);
    if (upper < 0) {
        walk->changes->incomplete = true;
        return;
    }
    /* The kernel does not make these in an overlay of ours; if it did, what it stands for would be missing here. */
    if (fgetxattr(upper, REDIRECT, NULL, 0) >= 0)
        walk->changes->incomplete = true;
    struct spot spot = {.path = path, .upper_fd = upper, .lower_fd = lower, .keep_fd = -1};
    each_name(walk, &spot, upper, look_at);
    if (lower >= 0 && fgetxattr(upper, OPAQUE, note, sizeof note) == 1 && note[0] == 'y')
        each_name(walk, &spot, lower, look_below);
    ck_fd_close(&spot.keep_fd);
}

/* The root's own mode is a change like any other; it is what the run found it to be at first. */
static void look_at_root(struct walk *walk)
{
    struct stat upper, lower;
    if (fstat(walk->where->upper_fd, &upper) < 0 || fstat(walk->where->lower_fd, &lower) < 0) {
        stop(walk);
        return;
    }
    if ((upper.st_mode & 0777) != (lower.st_mode & 0777))
        add_change(walk, ".", "mode", upper.st_mode, NULL);
    if ((upper.st_mode & 0700) != 0700)
        (void)fchmod(walk->where->upper_fd, 0700);
    add_pending(walk, "");
}

static int by_path(const void *one, const void *other)
{
    return strcmp(((const struct choke_file_change *)one)->path, ((const struct choke_file_change *)other)->path);
}

void ck_changes_list(struct ck_changes *changes, const struct ck_changes_where *where)
{
    struct walk walk = {.changes = changes, .where = where};
    changes->text.max_bytes = CK_CHANGES_TEXT_MAX;
    look_at_root(&walk);
    while (walk.pending_count > 0 && !walk.stopped)
        look_into(&walk, walk.pending[--walk.pending_count]);
    free(walk.pending);
    if (changes->count > 1)
        qsort(changes->items, changes->count, sizeof *changes->items, by_path);
}

void ck_changes_done(struct ck_changes *changes)
{
    free(changes->items);
    ck_arena_done(&changes->text);
    *changes = (struct ck_changes){0};
}
