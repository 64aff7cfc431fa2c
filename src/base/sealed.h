/*
 * sealed.h - bytes in a memory file that cannot be changed any more, not even through a descriptor
 * that is open for writing.
 *
 * Its position is at the beginning when it is handed out. Data cannot be executed, nor be made
 * executable (MFD_NOEXEC_SEAL, from Linux 6.3 on).
 */
#ifndef CK_BASE_SEALED_H
#define CK_BASE_SEALED_H

#include <stddef.h>

enum ck_sealed_kind {
    CK_SEALED_DATA,
    CK_SEALED_PROGRAM, /* it may be executed */
};

/* All at once. Returns the descriptor, which the caller closes, or a negative errno. */
int ck_sealed_write(const char *name, enum ck_sealed_kind kind, const void *data, size_t length);

/*
 * In two steps, for callers that fill it in another way: create returns an empty file, open for
 * writing; finish goes back to its beginning and seals it.
 */
int ck_sealed_create(const char *name, enum ck_sealed_kind kind);
int ck_sealed_finish(int fd);

#endif
