/*
 * versioned.c - reads a struct of a caller that was built with another version of the header. See
 * versioned.h.
 */
#include "api/versioned.h"

#include "base/error.h"

#include <errno.h>
#include <string.h>

int ck_versioned_read(struct ck_versioned versions, const void *from, size_t given_bytes, void *ret,
                      struct choke_error *error)
{
    size_t size = given_bytes == 0 ? versions.first_bytes : given_bytes;
    if (size < versions.first_bytes)
        return ck_error_set(error, CHOKE_INVALID, EINVAL,
                            "struct_size is %zu, and the first version has %zu: set it to sizeof, or leave it 0", size,
                            versions.first_bytes);
    const unsigned char *bytes = from;
    /* A member that is 0 has no effect, so a newer program may pass it to an older library. */
    for (size_t i = versions.known_bytes; i < size; i++)
        if (bytes[i] != 0)
            return ck_error_set(error, CHOKE_INVALID, E2BIG,
                                "the program uses a member that libchokepoint " CHOKE_VERSION " does not have");
    size_t copied = size < versions.known_bytes ? size : versions.known_bytes;
    memset(ret, 0, versions.known_bytes);
    memcpy(ret, from, copied);
    return 0;
}
