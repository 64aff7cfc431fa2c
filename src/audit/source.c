/*
 * source.c - reads lines from one buffer that never grows.
 *
 * The buffer holds twice what a torn write can leave, so every line that can be valid fits. No
 * writer makes a longer one. Of a longer line the beginning is returned, as cut short, and the rest
 * of its file is not read. Otherwise a sparse file, which needs no space on the disk, would be read
 * for hours.
 */
#include "audit/source.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/quote.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define BUFFER_BYTES (2 * CK_AUDIT_TORN_MAX)
#define PIECE_BYTES ((size_t)1 << 18) /* small enough to stay in the processor's cache */
/* A reader waits for a writer this long, and looks this often. */
#define LOCK_WAIT_NS CK_NS_PER_S
#define LOCK_PAUSE_NS 1000000L

int ck_audit_source_init(struct ck_audit_source *source, const char *const *paths)
{
    *source = (struct ck_audit_source){.paths = paths, .fd = -1, .buffer = malloc(BUFFER_BYTES)};
    return source->buffer ? 0 : -ENOMEM;
}

void ck_audit_source_done(struct ck_audit_source *source)
{
    ck_fd_close(&source->fd);
    free(source->buffer);
    source->buffer = NULL;
}

/* ---- files ---- */

static int fail(const char *path, int errnum, struct choke_error *error)
{
    return ck_error_set(error, CHOKE_INVALID, errnum, "cannot read '%s': %s", CK_QUOTE(path),
                        errnum == ENOENT ? "it does not exist" : strerror(errnum));
}

/*
 * Anyone who may create a name may create a FIFO, or a symlink to a terminal, and then write
 * nothing: the read would never end. A pipe of the shell, "<(zcat log.gz)", has a path too, but
 * only the caller's own processes have its other end.
 */
static bool is_readable(int fd, mode_t mode)
{
    struct statfs place;
    return S_ISREG(mode) || S_ISDIR(mode) || /* read(2) reports what is wrong with a directory */
           (S_ISFIFO(mode) && fstatfs(fd, &place) == 0 && place.f_type == PIPEFS_MAGIC);
}

/*
 * O_NONBLOCK: the open must not wait for the other end of a FIFO. A pipe is then read as data
 * arrives.
 */
static int open_path(const char *path)
{
    if (strcmp(path, CK_AUDIT_SOURCE_STDIN) == 0)
        return fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    int flags = fd >= 0 ? fcntl(fd, F_GETFL) : 0;
    if (fd >= 0 && (flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) < 0))
        ck_fd_close(&fd);
    return fd;
}

static int open_file(struct ck_audit_source *source, const char *path, struct choke_error *error)
{
    struct stat status;
    CK_FD fd = open_path(path);
    if (fd < 0 || fstat(fd, &status) < 0)
        return fail(path, errno, error);
    if (strcmp(path, CK_AUDIT_SOURCE_STDIN) != 0 && !is_readable(fd, status.st_mode))
        return ck_error_set(error, CHOKE_INVALID, EINVAL,
                            "cannot read '%s': it is neither a regular file nor a pipe; '-' reads standard input",
                            CK_QUOTE(path));
    ck_fd_close(&source->fd);
    source->fd = ck_fd_take(&fd);
    source->device = status.st_dev;
    source->inode = status.st_ino;
    source->is_regular = S_ISREG(status.st_mode);
    source->is_given_up = false;
    source->line = 0;
    /* counted here: a path can lead to several files */
    source->files++;
    (void)snprintf(source->file, sizeof(source->file), "%s", path);
    return 0;
}

/* The file after the open one, of the same path. */
static int next_of_path(const struct ck_audit_source *source, char ret_path[PATH_MAX])
{
    const struct stat at = {.st_dev = source->device, .st_ino = source->inode};
    bool is_last = !source->paths[source->index + 1];
    if (source->fd < 0 || !(source->with_rotated || (source->is_followed && is_last)))
        return -ENOENT;
    return ck_series_next(source->paths[source->index], source->file, &at, ret_path);
}

/* With rotated files the oldest comes first, and the path itself last. */
static int first_of_path(const struct ck_audit_source *source, size_t index, char ret_path[PATH_MAX])
{
    if (source->with_rotated)
        return ck_series_next(source->paths[index], NULL, NULL, ret_path);
    return snprintf(ret_path, PATH_MAX, "%s", source->paths[index]) < PATH_MAX ? 0 : -ENAMETOOLONG;
}

/* 0 and the file to open now, with the index of its path; -ENOENT if there is none. */
static int next_file(const struct ck_audit_source *source, char ret_path[PATH_MAX], size_t *ret_index)
{
    size_t index = source->index + (source->fd >= 0);
    *ret_index = source->index;
    int r = next_of_path(source, ret_path);
    if (r != -ENOENT || !source->paths[index])
        return r;
    *ret_index = index;
    return first_of_path(source, index, ret_path);
}

/*
 * A rotation that was interrupted leaves a log with two names. A caller who names all files of a
 * directory names it twice, one after the other. It is one file, and is read once.
 */
static void skip_second_names(struct ck_audit_source *source)
{
    struct stat status;
    const char *next;
    while (source->is_regular && (next = source->paths[source->index + 1]) &&
           strcmp(next, CK_AUDIT_SOURCE_STDIN) != 0 && stat(next, &status) == 0 && status.st_dev == source->device &&
           status.st_ino == source->inode)
        source->index++;
}

/* ---- lines ---- */

/*
 * Reads more bytes to the end of the buffer: their number, 0 at the end of the file, or a negative
 * errno.
 */
static ssize_t fill(struct ck_audit_source *source)
{
    if (source->is_given_up)
        return 0;
    memmove(source->buffer, source->buffer + source->start, source->end - source->start);
    source->end -= source->start;
    source->start = 0;
    size_t room = BUFFER_BYTES - source->end;
    ssize_t got;
    do
        got = read(source->fd, source->buffer + source->end, room < PIECE_BYTES ? room : PIECE_BYTES);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return -errno;
    source->end += (size_t)got;
    return got;
}

/* Returns the first bytes of the buffer as a line. They stay there until the next fill. */
static void give(struct ck_audit_source *source, size_t length, bool has_newline, struct ck_line *ret_line)
{
    source->line++;
    *ret_line = (struct ck_line){.text = source->buffer + source->start,
                                 .length = length,
                                 .file = source->file,
                                 .number = source->line,
                                 .has_newline = has_newline};
    source->start += length + has_newline;
    source->searched = 0;
}

/* Remembers how far it has looked, so that a long line is not searched again for each piece. */
static bool take_to_newline(struct ck_audit_source *source, struct ck_line *ret_line)
{
    const char *start = source->buffer + source->start;
    size_t length = source->end - source->start;
    const char *newline = memchr(start + source->searched, '\n', length - source->searched);
    source->searched = length;
    if (newline)
        give(source, (size_t)(newline - start), true, ret_line);
    return !!newline;
}

/* A full buffer without a newline counts as a line, and ends the file. */
static bool take_full(struct ck_audit_source *source, struct ck_line *ret_line)
{
    if (source->start > 0 || source->end < BUFFER_BYTES)
        return false;
    give(source, BUFFER_BYTES, false, ret_line);
    ret_line->is_cut_short = true;
    source->is_given_up = true;
    return true;
}

static bool take_line(struct ck_audit_source *source, struct ck_line *ret_line)
{
    return take_to_newline(source, ret_line) || take_full(source, ret_line);
}

/* The text after the last newline. */
static bool take_rest(struct ck_audit_source *source, struct ck_line *ret_line)
{
    bool is_line = source->end > source->start;
    if (is_line)
        give(source, source->end - source->start, false, ret_line);
    source->start = source->end;
    source->searched = 0;
    return is_line;
}

/*
 * A log never gets shorter. A reader that continued would wait at an offset that does not exist any
 * more.
 */
static int check_size(const struct ck_audit_source *source, struct choke_error *error)
{
    struct stat status;
    if (source->fd < 0 || !source->is_regular || fstat(source->fd, &status) < 0 ||
        status.st_size >= lseek(source->fd, 0, SEEK_CUR))
        return 0;
    return ck_error_set(error, CHOKE_INVALID, ESTALE, "'%s' became shorter while it was read; was it truncated?",
                        CK_QUOTE(source->file));
}

/*
 * At the end of a file. 1 and its last line, if that lacks its newline; 2 if there is more to read,
 * here or in another file; 0 at the end of everything. The next file is searched before this one is
 * read again: once another has replaced it, no one appends to it any more, so that read gets all of
 * it.
 */
static int leave_file(struct ck_audit_source *source, struct ck_line *ret_line, struct choke_error *error)
{
    char path[PATH_MAX];
    size_t index;
    if (source->fd >= 0)
        skip_second_names(source);
    int r = next_file(source, path, &index);
    if (r < 0)
        return r == -ENOENT ? check_size(source, error) : fail(source->paths[index], -r, error);
    ssize_t got = source->fd >= 0 ? fill(source) : 0;
    if (got != 0)
        return got < 0 ? fail(source->file, (int)-got, error) : 2;
    if (take_rest(source, ret_line))
        return 1;
    r = open_file(source, path, error);
    source->index = index;
    return r < 0 ? r : 2;
}

int ck_audit_source_next(struct ck_audit_source *source, struct ck_line *ret_line, struct choke_error *error)
{
    for (;;) {
        if (take_line(source, ret_line))
            return 1;
        ssize_t got = source->fd >= 0 ? fill(source) : 0;
        if (got < 0)
            return fail(source->file, (int)-got, error);
        int r = got > 0 ? 2 : leave_file(source, ret_line, error);
        if (r != 2)
            return r;
    }
}

/* Once we had the lock for a moment, no writer is in the middle of a line that was begun before. */
static void wait_for_writer(int fd)
{
    uint64_t deadline = ck_clock_now_ns() + LOCK_WAIT_NS;
    while (flock(fd, LOCK_SH | LOCK_NB) < 0) {
        if (errno != EWOULDBLOCK || ck_clock_now_ns() > deadline)
            return;
        (void)nanosleep(&(struct timespec){.tv_nsec = LOCK_PAUSE_NS}, NULL);
    }
    (void)flock(fd, LOCK_UN);
}

int ck_audit_source_rest(struct ck_audit_source *source, struct ck_line *ret_line, struct choke_error *error)
{
    if (source->end == source->start)
        return 0;
    /* A pipe has no writer's lock: its end is the end. */
    if (source->is_regular) {
        wait_for_writer(source->fd);
        ssize_t got = fill(source);
        if (got != 0)
            return got < 0 ? fail(source->file, (int)-got, error) : -EAGAIN;
    }
    return take_rest(source, ret_line);
}
