/*
 * file.h - open and read files that others may have made, or may replace meanwhile.
 *
 * A plain open of a FIFO without a writer waits forever, and a terminal can become the controlling
 * terminal of the caller. So every file is opened with O_NONBLOCK and O_NOCTTY, and its type is
 * checked before anything is read. All descriptors are close-on-exec. A path may be relative to
 * directory_fd, which may be AT_FDCWD.
 */
#ifndef CK_BASE_FILE_H
#define CK_BASE_FILE_H

#include <dirent.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/*
 * Opens a regular file for reading; more_flags may be O_NOFOLLOW. Returns the descriptor or a
 * negative errno; -EINVAL if it is not a regular file. ret_status may be NULL.
 */
int ck_file_open(int directory_fd, const char *path, int more_flags, struct stat *ret_status);

/*
 * Reads all of it, as ck_fd_read_text does; the caller frees *ret_text. -EFBIG if it has more than
 * max_bytes.
 */
int ck_file_read(int directory_fd, const char *path, int more_flags, size_t max_bytes, char **ret_text,
                 size_t *ret_length);

/*
 * Reads the beginning of it, at most size - 1 bytes, and adds a NUL. Returns the number of bytes or
 * a negative errno. Works for files of /proc and /sys too: they are regular files, but their size
 * is 0 until they are read.
 */
long ck_file_read_into(int directory_fd, const char *path, int more_flags, char *text, size_t size);

/*
 * openat2 with RESOLVE_* flags; the type is not checked. Returns the descriptor or a negative
 * errno.
 */
int ck_file_resolve(int directory_fd, const char *path, int flags, uint64_t resolve);

/*
 * The directory that a path's last component is in, opened with O_PATH: search permission is enough.
 * Returns the descriptor or a negative errno.
 */
int ck_file_open_parent(int directory_fd, const char *path);

/*
 * DT_* of an entry of the directory, and DT_LNK for a link, which is not followed. If the file
 * system does not report the type, stat is asked; DT_UNKNOWN if that fails.
 */
unsigned char ck_file_type(int directory_fd, const struct dirent *entry);

#endif
