/*
 * clear.c - empties a directory, without recursion and in bounded steps.
 *
 * A hostile tool leaves what is hardest to remove: directories a hundred thousand deep, directories
 * without any permission, symlinks to important places, files of many gigabytes. So nothing is
 * reached by a path. A directory that is not empty is moved into the top directory under a new
 * name, until every directory there holds only files. This needs no recursion, and no more
 * descriptors for a deep tree than for a flat one. The caller owns everything in the tree, so it
 * can change the modes.
 *
 * A large file is emptied piece by piece before it is removed: when the last name of a file goes,
 * the kernel frees all of its blocks in that one call, however long it takes.
 */
#include "sys/clear.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Freeing memory or blocks costs a sixteenth of writing them. */
#define FREE_SHARE 16
#define PIECE_BYTES (CK_SLICE_BYTES * FREE_SHARE)

void ck_clear_init(struct ck_clearing *clearing, int top_fd)
{
    *clearing = (struct ck_clearing){.top_fd = top_fd};
    (void)fchmod(top_fd, S_IRWXU);
}

int ck_clear_open(int parent_fd, const char *name)
{
    char self[64];
    CK_FD path_fd = openat(parent_fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (path_fd < 0)
        return -errno;
    struct stat status;
    if (fstat(path_fd, &status) < 0)
        return -errno;
    /*
     * fchmod refuses an O_PATH descriptor; the link in /proc leads to the same inode without a
     * name.
     */
    (void)snprintf(self, sizeof(self), "/proc/self/fd/%d", path_fd);
    if ((status.st_mode & S_IRWXU) != S_IRWXU && chmod(self, S_IRWXU) < 0)
        return -errno;
    int fd = openat(path_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

static void note(struct ck_clearing *clearing, int r)
{
    if (r == 0 || r == -ENOENT)
        clearing->removed++;
    else if (clearing->error == 0)
        clearing->error = r;
}

/* Moves a directory into the top directory, under a name that is not used there. */
static int move_up(struct ck_clearing *clearing, int directory_fd)
{
    char fresh[32];
    CK_FD opened = ck_clear_open(
        directory_fd, clearing->name); /* the kernel updates ".." of a directory that moves, so it must be writable */
    if (opened < 0)
        return opened;
    int r;
    do {
        (void)snprintf(fresh, sizeof(fresh), "%llu", (unsigned long long)clearing->last_name++);
        r = renameat2(directory_fd, clearing->name, clearing->top_fd, fresh, RENAME_NOREPLACE) < 0 ? -errno : 0;
    } while (r == -EEXIST);
    return r;
}

/* Makes a directory of the top directory the next one to empty. */
static int descend(struct ck_clearing *clearing)
{
    int fd = ck_clear_open(clearing->top_fd, clearing->name);
    if (fd < 0)
        return fd;
    clearing->inner = fdopendir(fd);
    if (!clearing->inner) {
        int r = -errno;
        (void)close(fd);
        return r;
    }
    memcpy(clearing->inner_name, clearing->name, sizeof(clearing->name));
    return 0;
}

/* The bytes a file occupies; st_blocks counts 512-byte units on every file system. */
static uint64_t bytes_of(const struct stat *status)
{
    return (uint64_t)status->st_blocks * 512;
}

/* Counts what was really freed: a file may have only one block in each piece. */
static bool punch_hole(int fd, const struct stat *before, struct ck_slice *slice)
{
    struct stat after;
    off_t start = lseek(fd, 0, SEEK_DATA);
    if (start < 0 || fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, start, (off_t)PIECE_BYTES) < 0 ||
        fstat(fd, &after) < 0 || bytes_of(&after) >= bytes_of(before))
        return false;
    ck_slice_spend_bytes(slice, (bytes_of(before) - bytes_of(&after)) / FREE_SHARE);
    ck_slice_spend_entries(slice, 1);
    return true;
}

/*
 * Frees a piece of a large file that has no other name. True if that was done. False if the file is
 * not large, or cannot be freed in pieces. What the removal of the name will free is counted too.
 */
static bool free_piece(int directory_fd, const char *name, struct ck_slice *slice)
{
    struct stat status;
    if (fstatat(directory_fd, name, &status, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(status.st_mode) ||
        status.st_nlink != 1)
        return false;
    if (bytes_of(&status) <= PIECE_BYTES) {
        ck_slice_spend_bytes(slice, bytes_of(&status) / FREE_SHARE);
        return false;
    }
    if ((status.st_mode & S_IRWXU) != S_IRWXU && fchmodat(directory_fd, name, S_IRWXU, 0) < 0)
        return false;
    CK_FD fd = openat(directory_fd, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    return fd >= 0 && punch_hole(fd, &status, slice);
}

/* Removes a file or an empty directory; -EISDIR for a directory that is not empty. */
static int remove_simple(int directory_fd, const char *name)
{
    if (unlinkat(directory_fd, name, 0) == 0)
        return 0;
    /*
     * For a directory unlink gives EISDIR on Linux, and EPERM as POSIX says on some file systems.
     */
    if (errno != EISDIR && errno != EPERM)
        return -errno;
    if (unlinkat(directory_fd, name, AT_REMOVEDIR) == 0)
        return 0;
    return errno == ENOTEMPTY || errno == EEXIST || errno == EACCES ? -EISDIR : -errno;
}

static void remove_current(struct ck_clearing *clearing, struct ck_slice *slice)
{
    int directory_fd = clearing->inner ? dirfd(clearing->inner) : clearing->top_fd;
    if (free_piece(directory_fd, clearing->name, slice))
        return;
    ck_slice_spend_entries(slice, 1);
    int r = remove_simple(directory_fd, clearing->name);
    if (r == -EISDIR && !clearing->inner) {
        r = descend(clearing);
        if (r < 0)
            note(clearing, r);
    } else {
        note(clearing, r == -EISDIR ? move_up(clearing, directory_fd) : r);
    }
    clearing->name[0] = '\0';
}

/* False at the end of the stream. */
static bool read_name(struct ck_clearing *clearing, DIR *stream)
{
    const struct dirent *entry = readdir(stream);
    if (entry && strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
        (void)snprintf(clearing->name, sizeof(clearing->name), "%s", entry->d_name);
    return !!entry;
}

/* Leaves a directory of the top directory: its files are removed and its directories moved up. */
static void leave_inner(struct ck_clearing *clearing, struct ck_slice *slice)
{
    (void)closedir(clearing->inner);
    clearing->inner = NULL;
    ck_slice_spend_entries(slice, 1);
    note(clearing, unlinkat(clearing->top_fd, clearing->inner_name, AT_REMOVEDIR) < 0 ? -errno : 0);
}

/* Starts another round through the top directory. False if it cannot be read. */
static bool begin_round(struct ck_clearing *clearing)
{
    clearing->removed = 0;
    clearing->error = 0;
    int fd = openat(clearing->top_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    clearing->top = fd < 0 ? NULL : fdopendir(fd);
    if (!clearing->top) {
        clearing->error = -errno;
        ck_fd_close(&fd);
    }
    return !!clearing->top;
}

bool ck_clear_step(struct ck_clearing *clearing, struct ck_slice *slice)
{
    while (!ck_slice_spent(slice)) {
        if (clearing->name[0] != '\0') {
            remove_current(clearing, slice);
        } else if (clearing->inner) {
            if (!read_name(clearing, clearing->inner))
                leave_inner(clearing, slice);
        } else if (!clearing->top) {
            if (!begin_round(clearing))
                return true;
        } else if (!read_name(clearing, clearing->top)) {
            (void)closedir(clearing->top);
            clearing->top = NULL;
            /*
             * A round that removed nothing is the last one: the rest cannot be removed. Otherwise
             * another round is needed, because a directory that was moved up may be before the
             * position of the stream.
             */
            if (clearing->removed == 0)
                return true;
        }
    }
    return false;
}

void ck_clear_done(struct ck_clearing *clearing)
{
    if (clearing->inner)
        (void)closedir(clearing->inner);
    if (clearing->top)
        (void)closedir(clearing->top);
    clearing->inner = clearing->top = NULL;
}
