/*
 * fingerprint.c - see fingerprint.h.
 */
#include "front/fingerprint.h"

#include "base/hex.h"

#include <sodium.h>
#include <stdbool.h>
#include <string.h>

#define KEPT_BYTES ((CK_FINGERPRINT_SIZE - 1) / 2) /* of the hash: 128 bits are enough for a name */

/* Each part ends with its NUL, so that "ab", "c" is not "a", "bc". */
void ck_fingerprint_make(char dst[CK_FINGERPRINT_SIZE], const char *const *parts, size_t count)
{
    crypto_hash_sha256_state state;
    unsigned char hash[crypto_hash_sha256_BYTES];

    (void)crypto_hash_sha256_init(&state);
    for (size_t i = 0; i < count; i++)
        (void)crypto_hash_sha256_update(&state, (const unsigned char *)parts[i], strlen(parts[i]) + 1);
    (void)crypto_hash_sha256_final(&state, hash);
    ck_hex_encode(dst, hash, KEPT_BYTES);
}

const char *ck_fingerprint_line(char *dst, size_t dst_size, const char *line)
{
    size_t used = 0;
    bool blank = false;

    for (; *line != '\0' && used + 2 < dst_size; line++) {
        if (strchr(" \t\r\v\f", *line)) {
            blank = used > 0;
            continue;
        }
        if (blank)
            dst[used++] = ' ';
        blank = false;
        dst[used++] = *line;
    }
    dst[used] = '\0';
    return dst;
}
