/*
 * fd.h - descriptors with an owner.
 *
 * 0 is a valid descriptor, -1 is none. CK_FD declares one that is closed when it leaves its block;
 * ck_fd_take hands it on and leaves -1 behind.
 */
#ifndef CK_BASE_FD_H
#define CK_BASE_FD_H

#include <stddef.h>

#define CK_FD __attribute__((cleanup(ck_fd_close))) int

/* Closes *fd if it is one, and sets it to -1; errno is kept. */
void ck_fd_close(int *fd);

static inline int ck_fd_take(int *fd)
{
    int taken = *fd;
    *fd = -1;
    return taken;
}

/* Writes all, through EINTR and short writes; 0 or a negative errno. */
int ck_fd_write_all(int fd, const void *data, size_t length);

/* Reads until length or end of file; bytes read or a negative errno. */
long ck_fd_read_all(int fd, void *data, size_t length);

/*
 * All that is left to read, as text with a NUL behind it, to be freed. -EFBIG where it is more than max_bytes; -ENOMEM;
 * another negative errno.
 */
int ck_fd_read_text(int fd, size_t max_bytes, char **ret_text, size_t *ret_length);

#endif
