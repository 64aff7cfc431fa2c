/*
 * sealed.h - bytes in a memory file that nobody can change any more, not even who holds a descriptor of it for writing.
 *
 * It is at its beginning when it is handed out. Data cannot be executed, nor be made executable (MFD_NOEXEC_SEAL, from
 * Linux 6.3 on).
 */
#ifndef CK_BASE_SEALED_H
#define CK_BASE_SEALED_H

#include <stddef.h>

enum ck_sealed_kind {
    CK_SEALED_DATA,
    CK_SEALED_PROGRAM, /* it may be executed */
};

/* All at once. The descriptor, or a negative errno. */
int ck_sealed_write(const char *name, enum ck_sealed_kind kind, const void *data, size_t length);

/* In two steps, for who fills it in another way: an empty one, open for writing; and the seals. */
int ck_sealed_create(const char *name, enum ck_sealed_kind kind);
int ck_sealed_finish(int fd);

#endif
