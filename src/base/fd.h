/*
 * fd.h - descriptors with an owner.
 *
 * 0 is a valid descriptor, -1 means no descriptor. CK_FD declares one that is closed at the end of
 * its block; ck_fd_take passes it on and leaves -1 in its place.
 */
#ifndef CK_BASE_FD_H
#define CK_BASE_FD_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define CK_FD __attribute__((cleanup(ck_fd_close))) int

/* Closes *fd unless it is -1, and sets it to -1; errno is kept. */
void ck_fd_close(int *fd);

/*
 * While it is on, ck_fd_close in this thread forgets a descriptor and does not close it. For a
 * context after the program has closed its descriptors: their numbers may now belong to the
 * program.
 */
void ck_fd_forget_only(bool on);

static inline int ck_fd_take(int *fd)
{
    int taken = *fd;
    *fd = -1;
    return taken;
}

/*
 * A write beyond the caller's RLIMIT_FSIZE, also into a memory file, does not only fail with EFBIG:
 * the kernel also sends SIGXFSZ, which ends the host program. Between block and unblock the thread
 * has it blocked, and the signal of such a write, which is sent to the thread, is discarded. Every
 * write, truncation or copy into a file must be in between; the writers below do that themselves.
 */
struct ck_fd_xfsz_block {
    sigset_t before;  /* the thread's mask */
    bool was_pending; /* SIGXFSZ, before the block */
};

void ck_fd_xfsz_block(struct ck_fd_xfsz_block *ret_xfsz);
void ck_fd_xfsz_unblock(const struct ck_fd_xfsz_block *xfsz); /* errno is kept */

/* One write, repeated on EINTR. Returns bytes or a negative errno. */
ssize_t ck_fd_write(int fd, const void *data, size_t length);

/* Writes everything, through EINTR and short writes. Returns 0 or a negative errno. */
int ck_fd_write_all(int fd, const void *data, size_t length);

/*
 * fsync. EINVAL means that the file system or the file does not support it; that counts as success.
 */
int ck_fd_sync(int fd);

/* Reads until length or end of file; bytes read or a negative errno. */
long ck_fd_read_all(int fd, void *data, size_t length);

/* The same from offset on; the position of the descriptor does not change. */
long ck_fd_read_at(int fd, void *data, size_t length, uint64_t offset);

/*
 * Reads the rest as text and adds a NUL; the caller frees *ret_text. Returns 0 or a negative errno:
 * -EFBIG if there is more than max_bytes.
 */
int ck_fd_read_text(int fd, size_t max_bytes, char **ret_text, size_t *ret_length);

#endif
