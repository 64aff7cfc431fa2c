/*
 * atomic_file.h - replace a file as a whole: a reader, and a crash, find the old one or the new one.
 *
 * It is written under a random name in the same directory, and takes its own name when all of it is on the disk: written,
 * synced, closed, renamed, and the directory synced. What had the name, a link too, is replaced and never written through.
 *
 *   1. ck_atomic_file_begin    the file is open for writing.
 *   2. writes to fd
 *   3. ck_atomic_file_commit, or ck_atomic_file_drop
 */
#ifndef CK_BASE_ATOMIC_FILE_H
#define CK_BASE_ATOMIC_FILE_H

#include <stddef.h>
#include <sys/types.h>

struct ck_atomic_file {
    int fd; /* to be written to */
    int directory_fd;
    const char *name;   /* the end of the caller's path */
    char temporary[32]; /* what it is called until it is whole */
};

/* mode is cut by the umask; path must live until the end. directory_fd may be AT_FDCWD. 0, or a negative errno. */
int ck_atomic_file_begin(struct ck_atomic_file *file, int directory_fd, const char *path, mode_t mode);

/* Done in any case. After a negative errno the old file is there, unless the directory alone could not be synced. */
int ck_atomic_file_commit(struct ck_atomic_file *file);
void ck_atomic_file_drop(struct ck_atomic_file *file);

/* All three at once. */
int ck_atomic_file_write(int directory_fd, const char *path, mode_t mode, const void *data, size_t length);

#endif
