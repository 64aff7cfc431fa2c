/*
 * atomic_file.h - replace a file as a whole: readers find the old file or the new one, also after
 * a crash.
 *
 * The new file is written under a random name in the same directory. When all of it is on the disk
 * it gets its real name: written, synced, closed, renamed, and the directory synced. Whatever had
 * the name before is replaced; a link is not followed.
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
    int fd;             /* the caller writes to it */
    int directory_fd;   /* where both names are; owned */
    const char *name;   /* the end of the caller's path, not a copy */
    char temporary[32]; /* its name until the commit */
};

/*
 * The umask applies to mode. path must stay valid until the commit or the drop. directory_fd may be
 * AT_FDCWD. Returns 0 or a negative errno; then nothing is open and neither commit nor drop is
 * needed.
 */
int ck_atomic_file_begin(struct ck_atomic_file *file, int directory_fd, const char *path, mode_t mode);

/*
 * Both close everything, also when the commit fails. After a negative errno the old file is still
 * there, except where only the sync of the directory failed: then the new one is.
 */
int ck_atomic_file_commit(struct ck_atomic_file *file);
void ck_atomic_file_drop(struct ck_atomic_file *file);

/* Begin, write and commit. The old file stays if any of them fails before the rename. */
int ck_atomic_file_write(int directory_fd, const char *path, mode_t mode, const void *data, size_t length);

#endif
