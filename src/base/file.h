/*
 * file.h - open and read files that others may have made, or may replace meanwhile.
 *
 * A FIFO that nobody writes to would be waited for without end, and a terminal would become the caller's own: so a file is
 * opened with O_NONBLOCK and O_NOCTTY, and looked at before anything is read. All descriptors are close-on-exec. A path may
 * be relative to directory_fd, which may be AT_FDCWD.
 */
#ifndef CK_BASE_FILE_H
#define CK_BASE_FILE_H

#include <dirent.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/*
 * A regular file, for reading; more_flags may be O_NOFOLLOW. The descriptor, or a negative errno: -EINVAL where it is not
 * a regular file. ret_status may be NULL.
 */
int ck_file_open(int directory_fd, const char *path, int more_flags, struct stat *ret_status);

/* All of it, as ck_fd_read_text does: to be freed. -EFBIG where it is more than max_bytes. */
int ck_file_read(int directory_fd, const char *path, int more_flags, size_t max_bytes, char **ret_text,
                 size_t *ret_length);

/*
 * The beginning of it, at most size - 1 bytes, with a NUL after them. How many, or a negative errno. For files of /proc
 * and /sys too: these are regular, and have no length before they are read.
 */
long ck_file_read_into(int directory_fd, const char *path, int more_flags, char *text, size_t size);

/* openat2 with RESOLVE_* and no check of the type. The descriptor, or a negative errno. */
int ck_file_resolve(int directory_fd, const char *path, int flags, uint64_t resolve);

/* DT_* of an entry of the directory; a file system that does not say is asked. DT_UNKNOWN where it cannot be looked at. */
unsigned char ck_file_type(int directory_fd, const struct dirent *entry);

#endif
