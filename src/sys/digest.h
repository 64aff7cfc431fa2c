/*
 * digest.h - the SHA-256 of an open file.
 *
 * The bytes are read from the descriptor that is given, from its beginning and without moving its offset, so what was
 * hashed is what that descriptor is of, whatever its name leads to by now.
 */
#ifndef CK_SYS_DIGEST_H
#define CK_SYS_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CK_DIGEST_SIZE 65 /* 64 lower-case hexadecimal digits and a NUL */

/*
 * 0; -EBADF where the descriptor cannot be read (O_PATH); -ESTALE where the file changed while it was read; else a
 * negative errno.
 */
int ck_digest_file(int fd, char ret_hex[CK_DIGEST_SIZE]);

/* The same, but stop is asked now and then (NULL: never), and where it says so that is the end: -ECANCELED. */
int ck_digest_interruptible(int fd, bool (*stop)(void *data), void *data, char ret_hex[CK_DIGEST_SIZE]);

/* As ck_digest_file, and what was hashed is written to copy_fd. -EFBIG where it is more than max_bytes. */
int ck_digest_copy(int fd, int copy_fd, uint64_t max_bytes, char ret_hex[CK_DIGEST_SIZE]);

/* Of bytes in memory. */
void ck_digest_bytes(const void *bytes, size_t length, char ret_hex[CK_DIGEST_SIZE]);

#endif
