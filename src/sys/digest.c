/*
 * digest.c - SHA-256 over a descriptor, with a check that the file did not change.
 *
 * sodium_init is not called: it would open a random device in the host program, and hashing does
 * not need it.
 */
#include "sys/digest.h"

#include "base/fd.h"
#include "base/heap.h"
#include "base/hex.h"

#include <errno.h>
#include <sodium/crypto_hash_sha256.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE_BYTES 32768
#define STOP_CHECK_BYTES ((uint64_t)1 << 20) /* a few milliseconds */

/* What else is done with the bytes. */
struct hash_options {
    int copy_fd; /* -1: none */
    uint64_t max_bytes;
    bool (*stop)(void *data);
    void *data;
};

static bool same_time(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

/* Returns the bytes hashed, or a negative errno. */
static int64_t hash(int fd, const struct hash_options *hash_options, crypto_hash_sha256_state *state)
{
    CK_HEAP unsigned char *piece = ck_heap_own(malloc(PIECE_BYTES));
    uint64_t total = 0;
    if (!piece)
        return -ENOMEM;
    for (;;) {
        if (total % STOP_CHECK_BYTES == 0 && hash_options->stop && hash_options->stop(hash_options->data))
            return -ECANCELED;
        ssize_t got = pread(fd, piece, PIECE_BYTES, (off_t)total);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? -errno : (int64_t)total;
        total += (uint64_t)got;
        if (total > hash_options->max_bytes)
            return -EFBIG;
        (void)crypto_hash_sha256_update(state, piece, (unsigned long long)got);
        int r = hash_options->copy_fd < 0 ? 0 : ck_fd_write_all(hash_options->copy_fd, piece, (size_t)got);
        if (r < 0)
            return r;
    }
}

static int take(int fd, const struct hash_options *hash_options, char ret_hex[CK_DIGEST_SIZE])
{
    struct stat before, after;
    crypto_hash_sha256_state state;
    unsigned char digest[crypto_hash_sha256_BYTES];
    if (fstat(fd, &before) < 0)
        return -errno;
    (void)crypto_hash_sha256_init(&state);
    int64_t total = hash(fd, hash_options, &state);
    if (total < 0)
        return (int)total;
    (void)crypto_hash_sha256_final(&state, digest);
    if (fstat(fd, &after) < 0)
        return -errno;
    /* A writer during the read would give a digest of bytes that never existed together. */
    if (total != before.st_size || after.st_size != before.st_size || !same_time(&before.st_mtim, &after.st_mtim) ||
        !same_time(&before.st_ctim, &after.st_ctim))
        return -ESTALE;
    ck_hex_encode(ret_hex, digest, sizeof(digest));
    return 0;
}

void ck_digest_bytes(const void *bytes, size_t length, char ret_hex[CK_DIGEST_SIZE])
{
    unsigned char digest[crypto_hash_sha256_BYTES];
    (void)crypto_hash_sha256(digest, bytes, length);
    ck_hex_encode(ret_hex, digest, sizeof(digest));
}

int ck_digest_copy(int fd, int copy_fd, uint64_t max_bytes, char ret_hex[CK_DIGEST_SIZE])
{
    return take(fd, &(struct hash_options){.copy_fd = copy_fd, .max_bytes = max_bytes}, ret_hex);
}

int ck_digest_interruptible(int fd, bool (*stop)(void *data), void *data, char ret_hex[CK_DIGEST_SIZE])
{
    return take(fd, &(struct hash_options){.copy_fd = -1, .max_bytes = INT64_MAX, .stop = stop, .data = data}, ret_hex);
}

int ck_digest_file(int fd, char ret_hex[CK_DIGEST_SIZE])
{
    return ck_digest_interruptible(fd, NULL, NULL, ret_hex);
}
