/*
 * walk.c - walks directories for files to scan. See walk.h.
 *
 * A directory is read to its end and closed before the next is opened, and each is opened by its
 * path from the top. So nesting costs neither descriptors nor stack. Directories that are still to
 * be read wait in a list. openat2 refuses every symlink on the way, so a directory that is replaced
 * by a symlink during the walk is not entered.
 *
 * The order of readdir(3) is arbitrary, so the files are sorted at the end.
 */
#include "lint/walk.h"

#include "base/error.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/quote.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ARENA_MAX_BYTES ((size_t)1 << 30) /* for all paths and patterns of a run */
#define IGNORE_FILE ".gitignore"

/* A directory that waits to be read. */
struct pending_directory {
    struct pending_directory *next;
    const char *path;               /* from the top; "" is the top itself */
    const char *shown;              /* as the caller would write it */
    const struct ck_ignore *ignore; /* of the directories above */
};

/* ---- lists ------------------------------------------------------------------------------- */

void ck_walk_init(struct ck_lint_walk *walk, const struct ck_top *top, const struct ck_ignore *exclude,
                  bool no_gitignore)
{
    *walk = (struct ck_lint_walk){.top = top, .exclude = exclude, .no_gitignore = no_gitignore};
    walk->arena.max_bytes = ARENA_MAX_BYTES;
}

/* Makes room for one more. The items may move. */
static void *grown(void *items, size_t count, size_t *capacity, size_t element_bytes)
{
    if (count < *capacity)
        return items;
    size_t wanted = *capacity == 0 ? 64 : *capacity * 2;
    void *moved = reallocarray(items, wanted, element_bytes);
    if (moved)
        *capacity = wanted;
    return moved;
}

int ck_walk_skip(struct ck_lint_walk *walk, struct ck_walk_skip skip)
{
    struct ck_walk_skip *skips = grown(walk->skips, walk->skip_count, &walk->skip_capacity, sizeof(*skips));
    if (!skips)
        return -ENOMEM;
    walk->skips = skips;
    skip.path = ck_arena_strdup(&walk->arena, skip.path);
    skip.shown = ck_arena_strdup(&walk->arena, skip.shown);
    skip.reason = ck_arena_strdup(&walk->arena, skip.reason);
    if (!skip.path || !skip.shown || !skip.reason)
        return -ENOMEM;
    skips[walk->skip_count++] = skip;
    return 0;
}

static int add_file(struct ck_lint_walk *walk, const char *path, const char *shown, bool named)
{
    struct ck_walk_file *files = grown(walk->files, walk->file_count, &walk->file_capacity, sizeof(*files));
    if (!files)
        return -ENOMEM;
    walk->files = files;
    files[walk->file_count++] = (struct ck_walk_file){.path = path, .shown = shown, .named = named};
    return 0;
}

/* ---- one directory ----------------------------------------------------------------------- */

/* "a" and "b" give "a/b"; "" and "b" give "b". */
static const char *join(struct ck_lint_walk *walk, const char *directory, const char *name)
{
    size_t length = strlen(directory);
    bool slash = length > 0 && directory[length - 1] != '/';
    return ck_arena_printf(&walk->arena, "%s%s%s", directory, slash ? "/" : "", name);
}

/* The empty path of the top is shown as ".". */
static int skip_directory(struct ck_lint_walk *walk, const struct pending_directory *directory, const char *reason,
                          bool not_scanned)
{
    bool top = directory->path[0] == '\0', here = directory->shown[0] == '\0';
    return ck_walk_skip(
        walk, (struct ck_walk_skip){top ? "." : directory->path, here ? "." : directory->shown, reason, not_scanned});
}

/* Not a source itself, so not_scanned is false. */
static int skip_ignore_file(struct ck_lint_walk *walk, const struct pending_directory *directory, const char *reason)
{
    const char *path = join(walk, directory->path, IGNORE_FILE);
    const char *shown = join(walk, directory->shown, IGNORE_FILE);
    bool good = path && shown;
    return good ? ck_walk_skip(walk, (struct ck_walk_skip){path, shown, reason, false}) : -ENOMEM;
}

/*
 * Like Git, does not read a .gitignore that is a symlink. One that cannot be read in full leaves
 * nothing out: it must not hide files.
 */
static int read_ignore(struct ck_lint_walk *walk, const struct pending_directory *directory, int directory_fd,
                       const struct ck_ignore **ret_ignore)
{
    char *text;
    size_t length;
    CK_FD fd = ck_file_open(directory_fd, IGNORE_FILE, O_NOFOLLOW, NULL);
    *ret_ignore = directory->ignore;
    if (fd < 0)
        return 0;
    int r = ck_fd_read_text(fd, CK_IGNORE_MAX_BYTES, &text, &length);
    if (r == -ENOMEM)
        return r;
    if (r < 0)
        return skip_ignore_file(walk, directory, r == -EFBIG ? "a .gitignore that is too large" : "cannot be read");
    /* Patterns are matched against the path after the directory and its slash. */
    size_t base = directory->path[0] == '\0' ? 0 : strlen(directory->path) + 1;
    r = ck_ignore_parse(&walk->arena, directory->ignore, base, text, length, ret_ignore);
    free(text);
    return r == -E2BIG ? skip_ignore_file(walk, directory, "a .gitignore with too many patterns") : r;
}

/* A stack on the heap, because directories may be nested deeper than the C stack allows. */
static int push(struct ck_lint_walk *walk, struct pending_directory **stack, struct pending_directory directory)
{
    struct pending_directory *waiting = ck_arena_alloc(&walk->arena, sizeof(*waiting));
    if (!waiting)
        return -ENOMEM;
    directory.next = *stack;
    *waiting = directory;
    *stack = waiting;
    return 0;
}

/* Why something that is neither file nor directory is skipped. */
static const char *reason_for(unsigned char type)
{
    return type == DT_LNK ? "a symbolic link" : type == DT_UNKNOWN ? "cannot be accessed" : "not a regular file";
}

/*
 * Decides what happens with one entry: leave out, wait, add or skip. The configuration comes before
 * .gitignore: what both leave out counts as excluded.
 */
static int take_entry(struct ck_lint_walk *walk, const struct pending_directory *directory,
                      struct pending_directory **stack, const char *name, unsigned char type)
{
    bool is_directory = type == DT_DIR;
    /* Git's own data. In a worktree or a submodule .git is a file, and is treated as any other. */
    if (is_directory && strcmp(name, ".git") == 0)
        return 0;
    const char *path = join(walk, directory->path, name);
    const char *shown = join(walk, directory->shown, name);
    if (!path || !shown)
        return -ENOMEM;
    if (ck_ignore_matches(walk->exclude, path, is_directory)) {
        walk->excluded++;
        return 0;
    }
    if (ck_ignore_matches(directory->ignore, path, is_directory)) {
        walk->ignored++;
        return 0;
    }
    if (is_directory)
        return push(walk, stack, (struct pending_directory){.path = path, .shown = shown, .ignore = directory->ignore});
    if (type == DT_REG)
        return add_file(walk, path, shown, false);
    return ck_walk_skip(walk, (struct ck_walk_skip){path, shown, reason_for(type), false});
}

/* readdir returns NULL at the end and on an error: only errno tells them apart. */
static int read_entries(struct ck_lint_walk *walk, const struct pending_directory *directory,
                        struct pending_directory **stack, DIR *stream)
{
    const struct dirent *entry;
    while (errno = 0, !!(entry = readdir(stream))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        /* Of all directories together: a hostile tree must not fill the memory. */
        if (walk->entries++ >= CK_WALK_MAX_ENTRIES)
            return -E2BIG;
        int r = take_entry(walk, directory, stack, entry->d_name, ck_file_type(dirfd(stream), entry));
        if (r < 0)
            return r;
    }
    return errno == 0 ? 0 : skip_directory(walk, directory, strerror(errno), true);
}

static int read_directory(struct ck_lint_walk *walk, struct pending_directory *directory,
                          struct pending_directory **stack)
{
    const char *path = directory->path[0] != '\0' ? directory->path : ".";
    CK_FD fd = ck_top_open(walk->top, path, O_RDONLY | O_DIRECTORY);
    if (fd < 0) {
        /* It was replaced by a symlink or removed meanwhile, so there is nothing to scan. */
        bool gone = fd == -ELOOP || fd == -ENOENT || fd == -ENOTDIR;
        return skip_directory(walk, directory, strerror(-fd), !gone);
    }
    /* From here directory->ignore includes its own .gitignore; its entries inherit that. */
    int r = walk->no_gitignore ? 0 : read_ignore(walk, directory, fd, &directory->ignore);
    if (r < 0)
        return r;
    DIR *stream = fdopendir(fd);
    if (!stream)
        return -errno;
    /* The stream owns the descriptor now. */
    (void)ck_fd_take(&fd);
    r = read_entries(walk, directory, stack, stream);
    (void)closedir(stream);
    return r;
}

/* ---- what the caller named --------------------------------------------------------------- */

/*
 * The patterns of the directories from the top to the one that contains path. Does not apply them
 * to path itself: the caller named it.
 */
static int ignore_above(struct ck_lint_walk *walk, const char *path, const struct ck_ignore **ret_ignore)
{
    struct pending_directory directory = {.path = "", .shown = ""};
    int r = 0;
    for (const char *at = path; r == 0 && at && path[0] != '\0';) {
        const char *open_path = directory.path[0] != '\0' ? directory.path : ".";
        CK_FD fd = ck_top_open(walk->top, open_path, O_RDONLY | O_DIRECTORY);
        if (fd >= 0)
            r = read_ignore(walk, &directory, fd, &directory.ignore);
        const char *slash = strchr(at, '/');
        at = slash ? slash + 1 : NULL;
        if (!slash)
            break;
        /* The next directory on the way down to path. */
        directory.path = directory.shown = ck_arena_memdup(&walk->arena, path, (size_t)(slash - path));
        if (!directory.path)
            return -ENOMEM;
    }
    *ret_ignore = directory.ignore;
    return r;
}

/* Everything below a directory that the caller named. */
static int add_directory(struct ck_lint_walk *walk, const char *path, const char *shown)
{
    struct pending_directory *stack = NULL;
    struct pending_directory first = {.path = path, .shown = strcmp(shown, ".") == 0 ? "" : shown};
    int r = walk->no_gitignore ? 0 : ignore_above(walk, path, &first.ignore);
    if (r == 0)
        r = push(walk, &stack, first);
    while (r == 0 && stack) {
        struct pending_directory *directory = stack;
        stack = directory->next;
        r = read_directory(walk, directory, &stack);
    }
    return r;
}

/* The configuration applies to named files too, .gitignore does not. */
static int add_named(struct ck_lint_walk *walk, const char *path, const char *shown, unsigned char type)
{
    if (ck_ignore_matches_within(walk->exclude, path, type == DT_DIR)) {
        walk->excluded++;
        return 0;
    }
    if (type == DT_DIR)
        return add_directory(walk, path, shown);
    if (type == DT_REG)
        return add_file(walk, path, shown, true);
    return ck_walk_skip(walk, (struct ck_walk_skip){path, shown, reason_for(type), false});
}

/* Removes "./" at the start and slashes at the end: "./a//b/" is "a//b". */
static const char *normalize(struct ck_lint_walk *walk, const char *path)
{
    while (path[0] == '.' && path[1] == '/')
        path += 1 + strspn(path + 1, "/");
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    return length == 0 ? "." : ck_arena_memdup(&walk->arena, path, length);
}

int ck_walk_add(struct ck_lint_walk *walk, const char *path, struct choke_error *error)
{
    char beneath[PATH_MAX];
    struct stat status;
    int r = ck_top_locate(walk->top, path, beneath, sizeof(beneath), &status, error);
    if (r < 0)
        return r;
    const char *relative = ck_arena_strdup(&walk->arena, beneath);
    const char *shown = normalize(walk, path);
    if (!relative || !shown)
        return ck_error_oom(error);
    r = add_named(walk, relative, shown, (unsigned char)IFTODT(status.st_mode));
    if (r == -E2BIG)
        return ck_error_set(error, CHOKE_INVALID, E2BIG, "'%s' has more than %zu files; lint a part of it",
                            CK_QUOTE(path), CK_WALK_MAX_ENTRIES);
    return r < 0 ? ck_error_set(error, CHOKE_NONE, -r, "cannot scan '%s': %s", CK_QUOTE(path), strerror(-r)) : 0;
}

/* ---- the result -------------------------------------------------------------------------- */

/*
 * By path. A file that the caller named comes before the same file found in a directory, and is
 * kept.
 */
static int compare_files(const void *left, const void *right)
{
    const struct ck_walk_file *a = left;
    const struct ck_walk_file *b = right;
    int order = strcmp(a->path, b->path);
    return order != 0 ? order : (int)b->named - (int)a->named;
}

/* By path, then by reason, so that the order does not depend on qsort. */
static int compare_skips(const void *left, const void *right)
{
    const struct ck_walk_skip *a = left;
    const struct ck_walk_skip *b = right;
    int order = strcmp(a->path, b->path);
    return order != 0 ? order : strcmp(a->reason, b->reason);
}

/*
 * A file may be listed twice, if the caller named it and its directory. relative counts those kept.
 */
void ck_walk_sort(struct ck_lint_walk *walk)
{
    size_t relative = 0;
    if (walk->file_count > 0)
        qsort(walk->files, walk->file_count, sizeof(*walk->files), compare_files);
    if (walk->skip_count > 0)
        qsort(walk->skips, walk->skip_count, sizeof(*walk->skips), compare_skips);
    for (size_t i = 0; i < walk->file_count; i++)
        if (relative == 0 || strcmp(walk->files[relative - 1].path, walk->files[i].path) != 0)
            walk->files[relative++] = walk->files[i];
    walk->file_count = relative;
}

void ck_walk_done(struct ck_lint_walk *walk)
{
    free(walk->files);
    free(walk->skips);
    ck_arena_done(&walk->arena);
    *walk = (struct ck_lint_walk){0};
}
