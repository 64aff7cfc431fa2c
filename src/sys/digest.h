/*
 * digest.h - the SHA-256 of an open file.
 *
 * The bytes are read from the given descriptor, from its beginning and without moving its offset.
 * So the digest is of the file that the descriptor refers to, even if its name now leads to another
 * file.
 */
#ifndef CK_SYS_DIGEST_H
#define CK_SYS_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CK_DIGEST_SIZE 65 /* 64 lower-case hexadecimal digits and a NUL */

/*
 * Returns 0; -EBADF if the descriptor cannot be read (O_PATH); -ESTALE if the file changed while it
 * was read; another negative errno.
 */
int ck_digest_file(int fd, char ret_hex[CK_DIGEST_SIZE]);

/*
 * The same, but stop is asked at intervals (NULL: never). If it returns true, the result is
 * -ECANCELED.
 */
int ck_digest_interruptible(int fd, bool (*stop)(void *data), void *data, char ret_hex[CK_DIGEST_SIZE]);

/*
 * As ck_digest_file, and the hashed bytes are written to copy_fd. -EFBIG for more than max_bytes.
 */
int ck_digest_copy(int fd, int copy_fd, uint64_t max_bytes, char ret_hex[CK_DIGEST_SIZE]);

/* The digest of bytes in memory. */
void ck_digest_bytes(const void *bytes, size_t length, char ret_hex[CK_DIGEST_SIZE]);

#endif
