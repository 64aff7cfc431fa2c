/*
 * pin.c - checks digests, holds leases, and copies scripts.
 *
 * The lease: with a read lease, a process that opens the file for writing or truncates it must wait
 * until the lease ends. A lease belongs to the open file, not to a process, so it moves with the
 * descriptor to the process that executes it. Once the file is executed, the kernel itself refuses
 * writers. A process can take a lease on its own files; another user's file only root could write,
 * and root is trusted. On a file system without leases, those who may write the file can do so
 * between check and exec: root and the caller.
 *
 * When a lease is broken, the kernel sends a signal to its holder. It must not be SIGIO, which
 * would end the host program. SIGURG is ignored by default, and the owner is cleared at once.
 */
#include "sys/pin.h"

#include "base/error.h"
#include "base/fd.h"
#include "base/quote.h"
#include "base/sealed.h"
#include "sys/digest.h"
#include "sys/version.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <unistd.h>

#define PINS_MAX 256
#define TRIES 3

struct ck_pin {
    struct ck_version version;
    char digest[CK_DIGEST_SIZE];
    int copy_fd; /* of a script; else -1. Never given to a tool, which could change its mode. */
};

/* The state of a file: its digest, and for a script the copy. */
struct examined {
    char digest[CK_DIGEST_SIZE];
    int copy_fd;
};

void ck_pin_cache_done(struct ck_pin_cache *pins)
{
    for (size_t i = 0; i < pins->count; i++)
        ck_fd_close(&pins->items[i].copy_fd);
    free(pins->items);
    *pins = (struct ck_pin_cache){0};
}

static struct ck_pin *find(const struct ck_pin_cache *pins, const struct ck_version *version)
{
    for (size_t i = 0; i < pins->count; i++)
        if (ck_version_equal(&pins->items[i].version, version))
            return &pins->items[i];
    return NULL;
}

/*
 * The slot of an older version of the same file, or a new slot, or the next one to replace; NULL
 * without memory.
 */
static struct ck_pin *make_room(struct ck_pin_cache *pins, const struct ck_version *version)
{
    if (!pins->items)
        pins->items = calloc(PINS_MAX, sizeof(*pins->items));
    if (!pins->items)
        return NULL;
    for (size_t i = 0; i < pins->count; i++)
        if (pins->items[i].version.device == version->device && pins->items[i].version.inode == version->inode)
            return &pins->items[i];
    if (pins->count < PINS_MAX) {
        pins->items[pins->count].copy_fd = -1;
        return &pins->items[pins->count++];
    }
    return &pins->items[pins->next++ % PINS_MAX];
}

static int new_copy(void)
{
    return ck_sealed_create("chokepoint-script", CK_SEALED_PROGRAM);
}

/* A second copy of a sealed copy. A descriptor or a negative errno. */
static int copy_again(int copy_fd)
{
    CK_FD fd = new_copy();
    struct stat status;
    if (fd < 0 || fstat(copy_fd, &status) < 0)
        return fd < 0 ? fd : -errno;
    for (off_t at = 0; at < status.st_size;) {
        struct ck_fd_xfsz_block xfsz;
        ck_fd_xfsz_block(&xfsz);
        ssize_t sent = sendfile(fd, copy_fd, &at, (size_t)(status.st_size - at));
        ck_fd_xfsz_unblock(&xfsz);
        if (sent <= 0)
            return sent < 0 ? -errno : -EIO;
    }
    int r = ck_sealed_finish(fd);
    return r < 0 ? r : ck_fd_take(&fd);
}

/* Without memory or a descriptor nothing is remembered, and the next run hashes again. */
static void remember(struct ck_pin_cache *pins, const struct ck_version *version, const struct examined *examined)
{
    bool script = examined->copy_fd >= 0;
    CK_FD copy_fd = script ? copy_again(examined->copy_fd) : -1;
    struct ck_pin *pin = script && copy_fd < 0 ? NULL : make_room(pins, version);
    if (!pin)
        return;
    ck_fd_close(&pin->copy_fd);
    pin->version = *version;
    pin->copy_fd = ck_fd_take(&copy_fd);
    memcpy(pin->digest, examined->digest, sizeof(pin->digest));
}

/* -ETXTBSY: the file is open for writing, and the kernel would not execute it either. */
static int take_lease(int fd)
{
    (void)fcntl(fd, F_SETSIG, SIGURG);
    if (fcntl(fd, F_SETLEASE, F_RDLCK) < 0)
        return errno == EAGAIN ? -ETXTBSY : 0;
    (void)fcntl(fd, F_SETOWN, 0);
    return 0;
}

static int copy_script(int fd, struct examined *examined)
{
    CK_FD copy_fd = new_copy();
    if (copy_fd < 0)
        return copy_fd;
    int r = ck_digest_copy(fd, copy_fd, CK_PIN_SCRIPT_MAX, examined->digest);
    if (r == 0)
        r = ck_sealed_finish(copy_fd);
    if (r < 0)
        return r;
    examined->copy_fd = ck_fd_take(&copy_fd);
    return 0;
}

/* Hashes again if the file changed between the two looks at its version. */
static int examine(struct ck_pin_cache *pins, int fd, bool script, struct examined *examined)
{
    struct stat status;
    int r = -ESTALE;
    for (int i = 0; i < TRIES && r == -ESTALE; i++) {
        if (fstat(fd, &status) < 0)
            return -errno;
        struct ck_version version = ck_version_of(&status);
        const struct ck_pin *known = find(pins, &version);
        if (known && (known->copy_fd >= 0) == script) {
            memcpy(examined->digest, known->digest, sizeof(examined->digest));
            examined->copy_fd = script ? copy_again(known->copy_fd) : -1;
            return script && examined->copy_fd < 0 ? examined->copy_fd : 0;
        }
        bool settled = ck_version_settled(&version);
        r = script ? copy_script(fd, examined) : ck_digest_file(fd, examined->digest);
        /* A younger version could change within the same tick of the clock and still look equal. */
        if (r == 0 && settled)
            remember(pins, &version, examined);
    }
    return r;
}

static int fail(struct choke_error *error, const char *path, int r)
{
    const char *why = strerror(-r);
    enum choke_outcome outcome = CHOKE_DISALLOWED;
    if (r == -ESTALE)
        why = "it changes while it is read";
    else if (r == -ETXTBSY)
        why = "it is open for writing";
    else if (r == -EFBIG)
        why = "a script of more than 64 MiB is not copied";
    else if (r != -EIO && r != -EACCES && r != -EPERM)
        outcome = CHOKE_SPAWN_FAILED;
    return ck_error_set(error, outcome, -r, "the sha256 of '%s' cannot be checked: %s", CK_QUOTE(path), why);
}

int ck_pin_check(struct ck_pin_cache *pins, const char *path, const char *sha256, bool script, int *fd,
                 struct choke_error *error)
{
    struct examined examined = {.copy_fd = -1};
    int r = script ? 0 : take_lease(*fd);
    if (r == 0)
        r = examine(pins, *fd, script, &examined);
    CK_FD copy_fd = examined.copy_fd;
    if (r < 0)
        return fail(error, path, r);
    if (strcmp(examined.digest, sha256) != 0)
        return ck_error_set(error, CHOKE_DISALLOWED, EPERM,
                            "'%s' is not the file that the policy pins: its sha256 is %s, expected is %s",
                            CK_QUOTE(path), examined.digest, sha256);
    if (script) {
        ck_fd_close(fd);
        *fd = ck_fd_take(&copy_fd);
    }
    return 0;
}
