/*
 * key.c - an Ed25519 key pair as two small text files. The secret key is stored as its seed; all
 * else is derived.
 *
 * sodium_init is not called, as in sys/digest.c: random bytes come directly from the kernel.
 */
#include "audit/head.h"

#include "base/error.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/quote.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sodium/crypto_sign_ed25519.h>
#include <sodium/utils.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define VARIANT sodium_base64_VARIANT_URLSAFE_NO_PADDING
#define SECRET_PREFIX "cks1."
#define PUBLIC_PREFIX "ckp1."
#define PREFIX_LENGTH (sizeof(SECRET_PREFIX) - 1)
/* a key and blanks; the rest of a larger file would not be read */
#define KEY_FILE_MAX 4096
#define BLANKS " \t\r\n"

_Static_assert(CK_SEED_BYTES == CK_PUBLIC_BYTES, "both have the same length");

/* Both prefixes have the same length. */
static void format(const char *prefix, const unsigned char bytes[CK_SEED_BYTES], char ret_text[CK_KEY_TEXT_MAX])
{
    memcpy(ret_text, prefix, PREFIX_LENGTH);
    (void)sodium_bin2base64(ret_text + PREFIX_LENGTH, CK_KEY_TEXT_MAX - PREFIX_LENGTH, bytes, CK_SEED_BYTES, VARIANT);
}

/* One key with blanks around it, and nothing else in the text. */
static bool parse(const char *text, const char *prefix, unsigned char ret_bytes[CK_SEED_BYTES])
{
    size_t length;
    const char *start = text + strspn(text, BLANKS);
    const char *end = start + strcspn(start, BLANKS);
    if (end[strspn(end, BLANKS)] != '\0' || strncmp(start, prefix, PREFIX_LENGTH) != 0)
        return false;
    start += PREFIX_LENGTH;
    return sodium_base642bin(ret_bytes, CK_SEED_BYTES, start, (size_t)(end - start), NULL, &length, NULL, VARIANT) ==
               0 &&
           length == CK_SEED_BYTES;
}

int ck_key_parse_public(const char *text, unsigned char ret_key[CK_PUBLIC_BYTES], struct choke_error *error)
{
    if (parse(text, PUBLIC_PREFIX, ret_key))
        return 0;
    if (strncmp(text + strspn(text, BLANKS), SECRET_PREFIX, PREFIX_LENGTH) ==
        0) /* a secret must not be shown in a message */
        return ck_error_set(error, CHOKE_INVALID, EINVAL, "this is a secret key; verify heads with the public key");
    return ck_error_set(error, CHOKE_INVALID, EINVAL,
                        "'%s' is not a public key; a public key begins with " PUBLIC_PREFIX, CK_QUOTE(text));
}

/* ---- the secret file ---- */

static int refuse(struct choke_error *error, const char *path, int errnum, const char *why)
{
    return ck_error_set(error, CHOKE_INVALID, errnum, "the secret key '%s' %s", CK_QUOTE(path), why);
}

/* As ssh does it: a key that others can read is not secret any more. */
static int check_secret(const struct stat *status, const char *path, struct choke_error *error)
{
    if (status->st_uid != geteuid())
        return refuse(error, path, EPERM, "belongs to another user");
    if (status->st_mode & (S_IRWXG | S_IRWXO))
        return refuse(error, path, EPERM, "is accessible to group or others; run chmod 600 on it");
    return 0;
}

int ck_key_read_secret(const char *path, unsigned char ret_seed[CK_SEED_BYTES], struct choke_error *error)
{
    struct stat status;
    CK_FD fd = ck_file_open(AT_FDCWD, path, 0, &status);
    char text[KEY_FILE_MAX];
    if (fd == -EINVAL)
        return refuse(error, path, EINVAL, "is not a regular file");
    if (fd < 0)
        return refuse(error, path, -fd, fd == -ENOENT ? "does not exist" : strerror(-fd));
    int r = check_secret(&status, path, error);
    if (r < 0)
        return r;
    long length = ck_fd_read_all(fd, text, sizeof(text) - 1);
    if (length < 0)
        return refuse(error, path, (int)-length, strerror((int)-length));
    text[length] = '\0';
    /* a NUL would hide what follows it */
    bool good = strlen(text) == (size_t)length && parse(text, SECRET_PREFIX, ret_seed);
    sodium_memzero(text, sizeof(text));
    return good ? 0
                : refuse(error, path, EINVAL, "does not contain a secret key; a secret key begins with " SECRET_PREFIX);
}

/* ---- making ---- */

/* Never replaces a file: an older secret key could be lost. */
static int write_new(const char *path, mode_t mode, const char *text, struct choke_error *error)
{
    char line[CK_KEY_TEXT_MAX + 1];
    int length = snprintf(line, sizeof(line), "%s\n", text);
    CK_FD fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    int r = fd < 0 ? -errno : ck_fd_write_all(fd, line, (size_t)length);
    if (r == 0)
        r = ck_fd_sync(fd);
    sodium_memzero(line, sizeof(line));
    if (r == -EEXIST)
        return ck_error_set(error, CHOKE_INVALID, EEXIST, "'%s' exists; a key is never overwritten", CK_QUOTE(path));
    if (r == 0)
        return 0;
    if (fd >= 0)
        (void)unlink(path);
    return ck_error_set(error, CHOKE_INVALID, -r, "cannot write '%s': %s", CK_QUOTE(path), strerror(-r));
}

/* Both files or neither: a secret key without its public key would be noticed too late. */
static int write_pair(const char *path, const char *secret, const char *public, struct choke_error *error)
{
    char public_path[PATH_MAX];
    int length = snprintf(public_path, sizeof(public_path), "%s.pub", path);
    if (length < 0 || length >= (int)sizeof(public_path))
        return ck_error_set(error, CHOKE_INVALID, ENAMETOOLONG, "'%s' is too long", CK_QUOTE(path));
    int r = write_new(path, 0600, secret, error);
    if (r == 0)
        r = write_new(public_path, 0644, public, error);
    else
        return r;
    if (r < 0)
        (void)unlink(path);
    return r;
}

int ck_key_generate(const char *path, char ret_public[CK_KEY_TEXT_MAX], struct choke_error *error)
{
    unsigned char seed[CK_SEED_BYTES], public[CK_PUBLIC_BYTES], secret[crypto_sign_ed25519_SECRETKEYBYTES];
    char secret_text[CK_KEY_TEXT_MAX], public_text[CK_KEY_TEXT_MAX];
    if (getrandom(seed, sizeof(seed), 0) != (ssize_t)sizeof(seed))
        return ck_error_set(error, CHOKE_INVALID, EIO, "cannot get random bytes for a key");
    (void)crypto_sign_ed25519_seed_keypair(public, secret, seed);
    format(SECRET_PREFIX, seed, secret_text);
    format(PUBLIC_PREFIX, public, public_text);
    int r = write_pair(path, secret_text, public_text, error);
    sodium_memzero(seed, sizeof(seed));
    sodium_memzero(secret, sizeof(secret));
    sodium_memzero(secret_text, sizeof(secret_text));
    if (r == 0)
        memcpy(ret_public, public_text, sizeof(public_text));
    return r;
}
