/*
 * changes.c - walks the upper directory of an overlay and lists what changed.
 *
 * The walk remembers the directories that it has found, by name and parent, and opens each from the
 * top: a few descriptors are enough for any tree. It goes through all of them three times (enum
 * pass). Only the first pass finds directories. Those that may hold files that run later are walked
 * before the others.
 *
 * The kernel leaves two kinds of marks in an upper directory: a character device 0:0 marks a
 * deleted entry, and an attribute on a directory hides what is below it in the lower one
 * ("opaque"). A path is longer than PATH_MAX only if someone wanted that; entries there are not
 * listed.
 */
#include "overlay/changes.h"

#include "base/fd.h"
#include "base/file.h"
#include "overlay/compare.h"
#include "overlay/directories.h"
#include "overlay/keep.h"
#include "overlay/order.h"
#include "overlay/runs_later.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

/*
 * The overlay is mounted with userxattr, because a user namespace may not set trusted.* attributes.
 */
#define OPAQUE "user.overlay.opaque"
#define REDIRECT "user.overlay.redirect"
#define KEEP_MAX ((uint64_t)1 << 30) /* as much as an overlay can hold */
/* opening this many bytes of a path costs as much as looking at one entry */
#define OPEN_SHARE 64

enum pass {
    PASS_NAMED,    /* entries that run later by their name, and symlinks */
    PASS_PROGRAMS, /* executable files */
    PASS_REST,
    PASS_ORDER, /* everything is listed; the list is sorted now */
    PASS_DONE,
};

struct ck_changes_walk {
    struct ck_changes *changes;
    struct ck_changes_dirs where;
    enum pass pass;
    size_t seen;           /* entries in all passes; bounded */
    uint64_t copied_bytes; /* at most KEEP_MAX */

    struct ck_directories directories;

    /* The current directory. */
    uint32_t number; /* its index in directories */
    char directory[PATH_MAX];
    size_t directory_length;
    /* -1: no current directory; lower_fd also if the repository does not have it */
    int upper_fd, lower_fd;
    int keep_fd;        /* -1: not needed so far */
    DIR *stream;        /* of upper_fd or, for what an opaque directory hides, of lower_fd */
    bool reading_lower; /* stream is of lower_fd */

    /* The entry that is being compared or copied. */
    struct ck_compare_entry entry;
    char path[PATH_MAX];
    bool comparing, copying;
    /* CK_COMPARE_BUFFER bytes, for comparisons and copies; never both at once */
    char *buffer;
    struct ck_comparison comparison;
    struct ck_keep_copy copy;
    struct ck_order order;
};

/* ---- the list ---------------------------------------------------------------------------- */

/* Lists nothing more. */
static void stop(struct ck_changes_walk *walk)
{
    walk->changes->incomplete = true;
    walk->pass = PASS_ORDER;
}

/* The type in the result. A constant, so it needs no copy. */
static const char *type_of(mode_t mode)
{
    return S_ISREG(mode) ? "file" : S_ISDIR(mode) ? "dir" : S_ISLNK(mode) ? "link" : "other";
}

/* False without memory, or when the list has its maximum: both end the walk. */
static bool make_room(struct ck_changes *changes)
{
    if (changes->count >= CK_CHANGES_ENTRIES_MAX)
        return false;
    if (changes->count < changes->capacity)
        return true;
    size_t wanted = changes->capacity == 0 ? 64 : changes->capacity * 2;
    void *grown = reallocarray(changes->items, wanted, sizeof(*changes->items));
    if (!grown)
        return false;
    changes->items = grown;
    changes->capacity = wanted;
    return true;
}

static void add_change(struct ck_changes_walk *walk, const char *path, const char *kind, mode_t mode,
                       const char *runs_later)
{
    struct ck_changes *changes = walk->changes;
    const char *copied = make_room(changes) ? ck_arena_strdup(&changes->text, path) : NULL;
    if (!copied) {
        stop(walk);
        return;
    }
    changes->items[changes->count++] =
        (struct choke_file_change){.path = copied, .kind = kind, .type = type_of(mode), .runs_later = runs_later};
}

/* Puts the path of an entry of the current directory into walk->path. False if it is too long. */
static bool join(struct ck_changes_walk *walk, const char *name)
{
    size_t slash = walk->directory_length > 0 ? 1 : 0, length = strlen(name);
    if (walk->directory_length + slash + length >= sizeof(walk->path)) {
        walk->changes->incomplete = true;
        return false;
    }
    memcpy(walk->path, walk->directory, walk->directory_length);
    if (slash > 0)
        walk->path[walk->directory_length] = '/';
    memcpy(walk->path + walk->directory_length + slash, name, length + 1);
    walk->entry.path = walk->path;
    walk->entry.name = walk->path + walk->directory_length + slash;
    return true;
}

/* ---- keeping ----------------------------------------------------------------------------- */

/*
 * Remembers the first error only. The walk continues: the list is worth having without the copies.
 */
static void note_keep(struct ck_changes_walk *walk, int r)
{
    if (r < 0 && walk->changes->keep_error == 0)
        walk->changes->keep_error = -r;
}

/* Keeps the current entry; for a file, starts the copy. Returns 0 or a negative errno. */
static int keep_entry(struct ck_changes_walk *walk, const struct ck_compare_entry *entry, struct ck_slice *slice)
{
    mode_t mode = entry->upper.st_mode;
    /* A device, a socket or a FIFO is listed and never copied. A directory is kept in PASS_REST. */
    if (!S_ISREG(mode) && !S_ISLNK(mode))
        return 0;
    if (walk->keep_fd < 0)
        walk->keep_fd = ck_keep_make_path(walk->where.keep_fd, walk->directory, slice);
    if (walk->keep_fd < 0)
        return walk->keep_fd;
    ck_slice_spend_creations(slice, 1);
    if (S_ISLNK(mode))
        return ck_keep_link(entry->upper_fd, walk->keep_fd, entry->name);
    /*
     * A file with many names becomes many files, so its bytes count for each name. st_blocks counts
     * units of 512 bytes on every file system: the data, without holes.
     */
    uint64_t bytes = (uint64_t)entry->upper.st_blocks * 512u;
    if (bytes > KEEP_MAX - walk->copied_bytes)
        return -EFBIG;
    walk->copied_bytes += bytes;
    int r = ck_keep_begin(&walk->copy, entry->upper_fd, entry->name);
    walk->copying = r == 0;
    return r;
}

/* The rest of keep_entry for a file, in as many slices as it needs. */
static void continue_copy(struct ck_changes_walk *walk, struct ck_slice *slice)
{
    int r = ck_keep_step(&walk->copy, walk->buffer, CK_COMPARE_BUFFER, slice);
    if (r == 0)
        return;
    walk->copying = false;
    if (r > 0)
        r = ck_keep_end(&walk->copy, walk->keep_fd, walk->entry.name, walk->entry.upper.st_mode);
    note_keep(walk, r);
}

/* Its owner may always use the copy, and setuid, setgid and sticky are not kept. */
static int keep_directory(struct ck_changes_walk *walk, const struct ck_overlay_directory *directory,
                          struct ck_slice *slice)
{
    CK_FD fd = ck_keep_make_path(walk->where.keep_fd, walk->directory, slice);
    ck_slice_spend_creations(slice, 1);
    return fd < 0 ? fd : fchmod(fd, (directory->mode & 0777) | 0700) < 0 ? -errno : 0;
}

/* ---- one entry --------------------------------------------------------------------------- */

/*
 * The tool may have removed our permissions on its files and directories, but we own them. The tool
 * is dead, so the entry cannot become a symlink before fchmodat, which would follow it.
 */
static void make_accessible(struct ck_changes_walk *walk, const struct ck_compare_entry *entry)
{
    mode_t mode = entry->upper.st_mode;
    mode_t needed = S_ISDIR(mode) ? 0700 : S_ISREG(mode) ? 0400 : 0;
    if ((mode & needed) != needed && fchmodat(entry->upper_fd, entry->name, (mode & 0777) | needed, 0) < 0)
        walk->changes->incomplete = true;
}

/* The overlay's mark for a deleted entry. An unprivileged tool cannot make other devices. */
static bool is_whiteout(const struct stat *status)
{
    return S_ISCHR(status->st_mode) && status->st_rdev == makedev(0, 0);
}

/* False if the entry cannot be read. */
static bool load(struct ck_changes_walk *walk, struct ck_compare_entry *entry)
{
    entry->upper_fd = walk->upper_fd;
    entry->lower_fd = walk->lower_fd;
    if (fstatat(entry->upper_fd, entry->name, &entry->upper, AT_SYMLINK_NOFOLLOW) < 0) {
        walk->changes->incomplete = true;
        return false;
    }
    entry->has_lower =
        entry->lower_fd >= 0 && fstatat(entry->lower_fd, entry->name, &entry->lower, AT_SYMLINK_NOFOLLOW) == 0;
    /* it may exist and not be readable: then "added" is a guess */
    if (entry->lower_fd >= 0 && !entry->has_lower && errno != ENOENT)
        walk->changes->incomplete = true;
    return true;
}

/*
 * The comparison is finished; kind is NULL for an entry that has not changed. add_change may have
 * ended the walk, so the pass is checked before something is kept.
 */
static void take_kind(struct ck_changes_walk *walk, const char *kind, struct ck_slice *slice)
{
    const struct ck_compare_entry *entry = &walk->entry;
    walk->comparing = false;
    if (!kind)
        return;
    add_change(walk, entry->path, kind, entry->upper.st_mode, ck_compare_runs_later(&walk->comparison, entry, slice));
    if (walk->where.keep_fd >= 0 && walk->pass < PASS_ORDER)
        note_keep(walk, keep_entry(walk, entry, slice));
}

/* Handles anything but a directory. */
static void take(struct ck_changes_walk *walk, struct ck_slice *slice)
{
    struct ck_compare_entry *entry = &walk->entry;
    const char *kind;
    if (!load(walk, entry))
        return;
    if (is_whiteout(&entry->upper)) {
        /* without a lower entry it was made and deleted in the run: no change */
        if (entry->has_lower)
            add_change(walk, entry->path, "deleted", entry->lower.st_mode, NULL);
        return;
    }
    make_accessible(walk, entry);
    walk->comparing = true;
    if (ck_compare_begin(&walk->comparison, entry, &kind))
        take_kind(walk, kind, slice);
}

static void continue_compare(struct ck_changes_walk *walk, struct ck_slice *slice)
{
    const char *kind;
    if (ck_compare_step(&walk->comparison, &walk->entry, slice, &kind))
        take_kind(walk, kind, slice);
}

/* Records a directory. Its own change is listed in PASS_REST. */
static void find_directory(struct ck_changes_walk *walk)
{
    struct ck_compare_entry *entry = &walk->entry;
    struct ck_overlay_directory found = {.name = entry->name, .parent = walk->number};
    if (!load(walk, entry))
        return;
    /* always finished at once for a directory */
    (void)ck_compare_begin(&walk->comparison, entry, &found.kind);
    found.mode = entry->upper.st_mode;
    make_accessible(walk, entry);
    if (!ck_directories_add(&walk->directories, &found, !!ck_runs_later_by_directory(entry->path)))
        walk->changes->incomplete = true;
}

/* The type only, as bits of a mode; 0 if it cannot be read, which is handled as a file. */
static mode_t type_in(const struct ck_changes_walk *walk, const struct dirent *entry)
{
    return (mode_t)DTTOIF(ck_file_type(walk->upper_fd, entry));
}

/*
 * Executable for anyone. Only asked after the first pass, which then needs no stat for most
 * entries.
 */
static bool is_program(const struct ck_changes_walk *walk, mode_t type)
{
    struct stat status;
    return S_ISREG(type) && fstatat(walk->upper_fd, walk->entry.name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
           (status.st_mode & 0111) != 0;
}

/*
 * The pass of an entry must not depend on anything that a pass changes. It depends on name, type,
 * and execute permission.
 */
static enum pass pass_of(const struct ck_changes_walk *walk, mode_t type)
{
    if (S_ISLNK(type) || ck_runs_later_by_path(walk->path) || ck_runs_later_is_package(walk->path))
        return PASS_NAMED;
    return walk->pass > PASS_NAMED && is_program(walk, type) ? PASS_PROGRAMS : PASS_REST;
}

/* Handles an entry if this pass is its pass. Directories are only found in the first one. */
static void look_at(struct ck_changes_walk *walk, const struct dirent *found, struct ck_slice *slice)
{
    mode_t type = type_in(walk, found);
    if (!join(walk, found->d_name))
        return;
    if (!S_ISDIR(type)) {
        if (pass_of(walk, type) == walk->pass)
            take(walk, slice);
    } else if (walk->pass == PASS_NAMED) {
        find_directory(walk);
    }
}

/* What an opaque directory hides is deleted, unless the upper directory has the same name. */
static void look_in_lower(struct ck_changes_walk *walk, const char *name)
{
    struct stat upper, lower;
    if (fstatat(walk->upper_fd, name, &upper, AT_SYMLINK_NOFOLLOW) == 0 ||
        fstatat(walk->lower_fd, name, &lower, AT_SYMLINK_NOFOLLOW) < 0)
        return;
    if (join(walk, name))
        add_change(walk, walk->path, "deleted", lower.st_mode, NULL);
}

/* ---- one directory ----------------------------------------------------------------------- */

/* Closes the current directory; the next step goes to another one. */
static void leave(struct ck_changes_walk *walk)
{
    if (walk->stream)
        (void)closedir(walk->stream);
    walk->stream = NULL;
    ck_fd_close(&walk->upper_fd);
    ck_fd_close(&walk->lower_fd);
    ck_fd_close(&walk->keep_fd);
    walk->reading_lower = false;
}

/*
 * Opened again, because closedir closes its descriptor and this one is still needed (and lower_fd
 * is O_PATH).
 */
static bool open_stream(struct ck_changes_walk *walk, int directory_fd)
{
    int fd = openat(directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    walk->stream = fd < 0 ? NULL : fdopendir(fd);
    if (!walk->stream) {
        ck_fd_close(&fd);
        walk->changes->incomplete = true;
    }
    return !!walk->stream;
}

/* The value is "y" alone; with another length fgetxattr returns another number or ERANGE. */
static bool is_opaque(int upper_fd)
{
    char note[2];
    return fgetxattr(upper_fd, OPAQUE, note, sizeof(note)) == 1 && note[0] == 'y';
}

/*
 * Lists the change of the directory itself, found in the first pass. The root is always there in
 * the copy.
 */
static void list_directory(struct ck_changes_walk *walk, const struct ck_overlay_directory *directory,
                           struct ck_slice *slice)
{
    if (!directory->kind)
        return;
    add_change(walk, walk->directory_length > 0 ? walk->directory : ".", directory->kind, directory->mode, NULL);
    if (walk->where.keep_fd >= 0 && walk->directory_length > 0 && walk->pass < PASS_ORDER)
        note_keep(walk, keep_directory(walk, directory, slice));
}

static void enter(struct ck_changes_walk *walk, uint32_t number, struct ck_slice *slice)
{
    const struct ck_overlay_directory *directory = &walk->directories.items[number];
    if (!ck_directories_path(&walk->directories, number, walk->directory, &walk->directory_length)) {
        walk->changes->incomplete = true;
        return;
    }
    walk->number = number;
    /* it is opened from the top, so a deep one costs more */
    ck_slice_spend_entries(slice, 1 + (uint32_t)(walk->directory_length / OPEN_SHARE));
    if (walk->pass == PASS_REST)
        list_directory(walk, directory, slice);
    walk->lower_fd = ck_compare_open(walk->where.lower_fd, walk->directory, O_PATH | O_DIRECTORY);
    /*
     * These three mean that the repository has no such directory: the run made it, or replaced
     * something.
     */
    if (walk->lower_fd < 0 && errno != ENOENT && errno != ENOTDIR && errno != ELOOP)
        walk->changes->incomplete = true;
    walk->upper_fd = ck_compare_open(walk->where.upper_fd, walk->directory, O_RDONLY | O_DIRECTORY);
    if (walk->upper_fd < 0 || !open_stream(walk, walk->upper_fd)) {
        walk->changes->incomplete = true;
        leave(walk);
        return;
    }
    /*
     * The kernel makes no redirects in our overlays. If it did, the redirected entries would be
     * missing here.
     */
    if (fgetxattr(walk->upper_fd, REDIRECT, NULL, 0) >= 0)
        walk->changes->incomplete = true;
}

/* At the end of a stream. What an opaque directory hides comes last. */
static void end_stream(struct ck_changes_walk *walk)
{
    bool hidden = !walk->reading_lower && walk->pass == PASS_REST && walk->lower_fd >= 0 && is_opaque(walk->upper_fd);
    (void)closedir(walk->stream);
    walk->stream = NULL;
    if (hidden && open_stream(walk, walk->lower_fd)) {
        walk->reading_lower = true;
        return;
    }
    walk->changes->incomplete = walk->changes->incomplete || hidden;
    leave(walk);
}

static void read_next(struct ck_changes_walk *walk, struct ck_slice *slice)
{
    errno = 0;
    const struct dirent *entry = readdir(walk->stream);
    if (!entry) {
        walk->changes->incomplete = walk->changes->incomplete || errno != 0;
        end_stream(walk);
        return;
    }
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
        return;
    ck_slice_spend_entries(slice, 1);
    /* An entry counts once in each pass. */
    if (++walk->seen > CK_CHANGES_SEEN_MAX)
        stop(walk);
    else if (walk->reading_lower)
        look_in_lower(walk, entry->d_name);
    else
        look_at(walk, entry, slice);
}

/* ---- the walk ---------------------------------------------------------------------------- */

/*
 * The mode of the root can change too. When the run starts, the upper directory has the mode of the
 * repository.
 */
static void find_root(struct ck_changes_walk *walk)
{
    struct stat upper, lower;
    struct ck_overlay_directory root = {.name = ""};
    if (fstat(walk->where.upper_fd, &upper) < 0 || fstat(walk->where.lower_fd, &lower) < 0) {
        stop(walk);
        return;
    }
    root.mode = upper.st_mode;
    root.kind = (upper.st_mode & 0777) != (lower.st_mode & 0777) ? "mode" : NULL;
    if ((upper.st_mode & 0700) != 0700)
        (void)fchmod(walk->where.upper_fd, 0700);
    if (!ck_directories_add(&walk->directories, &root, true))
        stop(walk);
}

/* After the last directory the next pass begins. */
static void next_directory(struct ck_changes_walk *walk, struct ck_slice *slice)
{
    uint32_t number = ck_directories_next(&walk->directories, walk->pass == PASS_NAMED);
    if (number == CK_DIRECTORIES_END)
        walk->pass++;
    else
        enter(walk, number, slice);
}

static void put_in_order(struct ck_changes_walk *walk, struct ck_slice *slice)
{
    if (ck_order_step(&walk->order, walk->changes->items, walk->changes->count, slice))
        walk->pass = PASS_DONE;
}

struct ck_changes_walk *ck_changes_begin(struct ck_changes *changes, const struct ck_changes_dirs *where)
{
    struct ck_changes_walk *walk = calloc(1, sizeof(*walk));
    char *buffer = malloc(CK_COMPARE_BUFFER);
    if (!walk || !buffer) {
        free(walk);
        free(buffer);
        return NULL;
    }
    changes->text.max_bytes = CK_CHANGES_TEXT_MAX;
    walk->changes = changes;
    walk->where = *where;
    ck_directories_init(&walk->directories);
    /* calloc has set them to 0, which is a valid descriptor */
    walk->upper_fd = walk->lower_fd = walk->keep_fd = -1;
    walk->buffer = buffer;
    ck_compare_init(&walk->comparison, where->upper_fd, where->lower_fd, buffer);
    ck_keep_init(&walk->copy, where->keep_fd);
    find_root(walk);
    return walk;
}

bool ck_changes_step(struct ck_changes_walk *walk, struct ck_slice *slice)
{
    while (walk->pass < PASS_DONE && !ck_slice_spent(slice)) {
        /* A copy that was begun is finished before anything else. */
        if (walk->copying)
            continue_copy(walk, slice);
        else if (walk->pass == PASS_ORDER)
            put_in_order(walk, slice);
        else if (walk->comparing)
            continue_compare(walk, slice);
        else if (walk->stream)
            read_next(walk, slice);
        else
            next_directory(walk, slice);
    }
    return walk->pass == PASS_DONE;
}

bool ck_changes_stop_early(struct ck_changes_walk *walk, int error)
{
    if (walk->pass >= PASS_ORDER && !walk->copying)
        return false;
    /* nothing was to be kept otherwise, so nothing failed */
    if (walk->where.keep_fd >= 0)
        note_keep(walk, -error);
    walk->copying = walk->comparing = false;
    ck_keep_drop(&walk->copy);
    ck_compare_done(&walk->comparison);
    if (walk->pass < PASS_ORDER)
        stop(walk);
    return true;
}

void ck_changes_end(struct ck_changes_walk *walk)
{
    if (!walk)
        return;
    leave(walk);
    ck_keep_drop(&walk->copy);
    ck_compare_done(&walk->comparison);
    ck_order_done(&walk->order);
    ck_directories_done(&walk->directories);
    free(walk->buffer);
    free(walk);
}

void ck_changes_done(struct ck_changes *changes)
{
    free(changes->items);
    ck_arena_done(&changes->text);
    *changes = (struct ck_changes){0};
}
