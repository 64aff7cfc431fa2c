/*
 * compare.c - compares one entry of the overlay with the repository's, and finds out whether it
 * runs later.
 */
#include "overlay/compare.h"

#include "base/fd.h"
#include "base/file.h"
#include "overlay/runs_later.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Bytes that are compared in one run. After that a file with the same size counts as modified. */
#define COMPARE_MAX ((uint64_t)64 << 20)
/*
 * The size up to which one package.json is parsed, and the limit for all of them together. Parsing
 * costs as much as copying 16 times.
 */
#define PACKAGE_MAX ((size_t)64 << 10)
#define PACKAGES_MAX ((uint64_t)4 << 20)
#define PARSE_SHARE 16
#define LINKS_MAX 8 /* followed from one to the next, by their text */

static const char executable[] = "executable";
static const char script[] = "package script";

void ck_compare_init(struct ck_comparison *comparison, int upper_top_fd, int lower_top_fd, char *buffer)
{
    *comparison = (struct ck_comparison){.upper_fd = -1, .lower_fd = -1};
    comparison->upper_top_fd = upper_top_fd;
    comparison->lower_top_fd = lower_top_fd;
    comparison->buffer = buffer;
}

void ck_compare_done(struct ck_comparison *comparison)
{
    ck_fd_close(&comparison->upper_fd);
    ck_fd_close(&comparison->lower_fd);
}

int ck_compare_open(int top_fd, const char *path, int flags)
{
    /* NO_XDEV: what the host has mounted inside the repository is not part of it. */
    int fd = ck_file_resolve(top_fd, path[0] != '\0' ? path : ".", flags,
                             RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV);
    if (fd >= 0)
        return fd;
    errno = -fd;
    return -1;
}

/* ---- comparing --------------------------------------------------------------------------- */

/*
 * Only for what is a regular file by its status; the repository's may have become a FIFO meanwhile.
 */
static int open_file(int directory_fd, const char *name)
{
    return ck_file_open(directory_fd, name, O_NOFOLLOW, NULL);
}

/* A target cannot have PATH_MAX bytes (symlink(2) refuses it), so none is cut. */
static bool same_target(const struct ck_comparison *comparison, const struct ck_compare_entry *entry)
{
    char *upper = comparison->buffer, *lower = comparison->buffer + PATH_MAX;
    ssize_t length = readlinkat(entry->upper_fd, entry->name, upper, PATH_MAX);
    ssize_t other = readlinkat(entry->lower_fd, entry->name, lower, PATH_MAX);
    return length >= 0 && length == other && memcmp(upper, lower, (size_t)length) == 0;
}

/* For entries with the same content. */
static const char *mode_kind(const struct ck_compare_entry *entry)
{
    return (entry->upper.st_mode & 07777) != (entry->lower.st_mode & 07777) ? "mode" : NULL;
}

/* Files of different size differ; no need to read them. */
static bool may_compare(const struct ck_comparison *comparison, const struct ck_compare_entry *entry)
{
    return entry->upper.st_size == entry->lower.st_size &&
           /* compared_bytes never exceeds COMPARE_MAX, so this cannot underflow. */
           (uint64_t)entry->upper.st_size <= COMPARE_MAX - comparison->compared_bytes;
}

bool ck_compare_begin(struct ck_comparison *comparison, const struct ck_compare_entry *entry, const char **ret_kind)
{
    mode_t upper = entry->upper.st_mode, lower = entry->lower.st_mode;
    *ret_kind = "modified";
    if (!entry->has_lower)
        *ret_kind = "added";
    else if ((upper & S_IFMT) != (lower & S_IFMT))
        *ret_kind = "modified";
    else if (S_ISLNK(upper))
        *ret_kind = same_target(comparison, entry) ? NULL : "modified";
    else if (S_ISDIR(upper))
        *ret_kind = mode_kind(entry);
    else if (S_ISREG(upper) && may_compare(comparison, entry)) {
        /* A failed open is noticed by the first step, which then reports "modified". */
        comparison->compared_bytes += (uint64_t)entry->upper.st_size;
        comparison->upper_fd = open_file(entry->upper_fd, entry->name);
        comparison->lower_fd = open_file(entry->lower_fd, entry->name);
        return false;
    }
    return true;
}

/* 1: equal to the end. 0: equal so far. -1: different, or it cannot be read. */
static int compare_piece(struct ck_comparison *comparison, struct ck_slice *slice)
{
    size_t piece = CK_COMPARE_BUFFER / 2;
    /* both files are read, and at least one byte, so that every step makes progress */
    if (slice->bytes / 2 + 1 < piece)
        piece = (size_t)slice->bytes / 2 + 1;
    char *one = comparison->buffer, *other = comparison->buffer + CK_COMPARE_BUFFER / 2;
    long got = ck_fd_read_all(comparison->upper_fd, one, piece);
    long same = ck_fd_read_all(comparison->lower_fd, other, piece);
    ck_slice_spend_bytes(slice, 2 * piece);
    if (got < 0 || got != same || memcmp(one, other, (size_t)got) != 0)
        return -1;
    return got < (long)piece ? 1 : 0;
}

bool ck_compare_step(struct ck_comparison *comparison, const struct ck_compare_entry *entry, struct ck_slice *slice,
                     const char **ret_kind)
{
    int same = comparison->upper_fd < 0 || comparison->lower_fd < 0 ? -1 : 0;
    while (same == 0 && slice->bytes > 0)
        same = compare_piece(comparison, slice);
    if (same == 0)
        return false;
    ck_compare_done(comparison);
    *ret_kind = same < 0 ? "modified" : mode_kind(entry);
    return true;
}

/* ---- what runs later --------------------------------------------------------------------- */

/* NULL if it is too large or cannot be read. */
static char *read_package(int directory_fd, const char *name, size_t *ret_length)
{
    char *text = NULL;
    return ck_file_read(directory_fd, name, O_NOFOLLOW, PACKAGE_MAX - 1, &text, ret_length) == 0 ? text : NULL;
}

/* What cannot be read or is too much to parse counts as a script. */
static const char *package_runs(struct ck_comparison *comparison, const struct ck_compare_entry *entry,
                                struct ck_slice *slice)
{
    size_t was = 0, is = 0;
    bool compare = entry->has_lower && S_ISREG(entry->lower.st_mode);
    if (entry->upper.st_size >= (off_t)PACKAGE_MAX || comparison->parsed_bytes > PACKAGES_MAX)
        return script;
    char *before = compare ? read_package(entry->lower_fd, entry->name, &was) : NULL;
    char *after = read_package(entry->upper_fd, entry->name, &is);
    comparison->parsed_bytes += was + is;
    ck_slice_spend_bytes(slice, (was + is) * PARSE_SHARE);
    const char *why = !after || (compare && !before) ? script : ck_runs_later_by_package(before, was, after, is);
    free(before);
    free(after);
    return why;
}

/* By its first bytes. A file that cannot be read may be anything. */
static const char *content_runs(int fd, mode_t mode)
{
    char head[4];
    long length = fd < 0 ? -1 : ck_fd_read_all(fd, head, sizeof(head));
    return length < 0 ? executable : ck_runs_later_by_content(head, (size_t)length, (mode & 0111) != 0);
}

/* By its name first, then by its first bytes and its mode. */
static const char *file_runs(struct ck_comparison *comparison, const struct ck_compare_entry *entry,
                             struct ck_slice *slice)
{
    const char *why = ck_runs_later_is_package(entry->path) ? package_runs(comparison, entry, slice)
                                                            : ck_runs_later_by_path(entry->path);
    if (why)
        return why;
    CK_FD fd = open_file(entry->upper_fd, entry->name);
    return content_runs(fd, entry->upper.st_mode);
}

/* ---- the target of a symlink ------------------------------------------------------------- */

/*
 * Opens what a path names in the overlay or, if that has nothing there, in the repository. Symlinks
 * on the path are not followed.
 */
static int open_named(const struct ck_comparison *comparison, const char *path, int flags)
{
    int fd = ck_compare_open(comparison->upper_top_fd, path, flags);
    return fd >= 0 || (errno != ENOENT && errno != ENOTDIR) ? fd
                                                            : ck_compare_open(comparison->lower_top_fd, path, flags);
}

/*
 * 1: path is now the target of the next symlink. 0: *ret_why is the answer. If nothing is there, a
 * later change that makes it is listed then.
 */
static int follow(const struct ck_comparison *comparison, char *path, const char **ret_why)
{
    char *target = comparison->buffer;
    struct stat status;
    CK_FD fd = open_named(comparison, path, O_PATH | O_NOFOLLOW);
    if (fd < 0 || fstat(fd, &status) < 0) {
        /* any other error: something is there that cannot be judged */
        *ret_why = errno == ENOENT ? NULL : executable;
        return 0;
    }
    if (S_ISREG(status.st_mode)) {
        CK_FD file = open_named(comparison, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
        *ret_why = content_runs(file, status.st_mode);
        return 0;
    }
    /* a directory or a special file: by itself it does not run */
    if (!S_ISLNK(status.st_mode)) {
        *ret_why = NULL;
        return 0;
    }
    ssize_t length = readlinkat(fd, "", target, PATH_MAX - 1);
    target[length < 0 ? 0 : length] = '\0';
    *ret_why = length < 0 ? executable : ck_runs_later_by_link(path, target);
    if (!*ret_why && !ck_runs_later_resolve(path, target, path))
        *ret_why = executable;
    return !*ret_why ? 1 : 0;
}

/* What it replaces counts too: a path that was run before now leads to something else. */
static const char *link_runs(const struct ck_comparison *comparison, const struct ck_compare_entry *entry)
{
    char path[PATH_MAX];
    char *target = comparison->buffer;
    ssize_t length = readlinkat(entry->upper_fd, entry->name, target, PATH_MAX - 1);
    if (length < 0)
        return "leads out of the root";
    target[length] = '\0';
    const char *why = ck_runs_later_by_link(entry->path, target);
    if (why)
        return why;
    if (entry->has_lower && S_ISREG(entry->lower.st_mode) && (entry->lower.st_mode & 0111) != 0)
        return executable;
    if (entry->has_lower && S_ISDIR(entry->lower.st_mode))
        return "replaced directory";
    if (!ck_runs_later_resolve(entry->path, target, path))
        return executable;
    /* A longer chain, or a loop, counts as a program. */
    for (int i = 0; i < LINKS_MAX; i++)
        if (follow(comparison, path, &why) == 0)
            return why;
    return executable;
}

const char *ck_compare_runs_later(struct ck_comparison *comparison, const struct ck_compare_entry *entry,
                                  struct ck_slice *slice)
{
    if (S_ISREG(entry->upper.st_mode))
        return file_runs(comparison, entry, slice);
    return S_ISLNK(entry->upper.st_mode) ? link_runs(comparison, entry) : NULL;
}
