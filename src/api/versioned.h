/*
 * versioned.h - structs that callers fill and that grow (docs/adr/0080).
 *
 * Such a struct ends, in its first version, with struct_size; later versions add members after it.
 * A program was built with one version, the library with another, and each may be the newer one.
 */
#ifndef CK_API_VERSIONED_H
#define CK_API_VERSIONED_H

#include "chokepoint.h"

/* The versions of a struct that this library knows. */
struct ck_versioned {
    size_t first_bytes; /* of the version that struct_size ends */
    size_t known_bytes; /* of the newest one */
};

#define CK_VERSIONED(type) \
    ((struct ck_versioned){offsetof(struct type, struct_size) + sizeof(size_t), sizeof(struct type)})

/*
 * Copies *from, of given_bytes (its struct_size; 0: the first version), to *ret, which has room for
 * known_bytes. What the caller's version lacks is 0. -EINVAL if given_bytes is smaller than the
 * first version, -E2BIG if a member that this library does not know is not 0.
 */
int ck_versioned_read(struct ck_versioned versions, const void *from, size_t given_bytes, void *ret,
                      struct choke_error *error);

#endif
