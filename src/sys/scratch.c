/* scratch.c - makes, locks, sweeps and removes scratch directories. */
#include "sys/scratch.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/quote.h"
#include "sys/trust.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <unistd.h>

#define PREFIX "chokepoint-"
#define REMOVE_NS (100 * CK_NS_PER_MS)
#define DONE_NS (200 * CK_NS_PER_MS)

/* ---- removing ---------------------------------------------------------------------------- */

int ck_scratch_clear(int top_fd, uint64_t deadline_ns)
{
    struct ck_clearing clearing;
    ck_clear_init(&clearing, top_fd);
    bool done = false;
    do {
        struct ck_slice slice = CK_SLICE_WHOLE;
        done = ck_clear_step(&clearing, &slice);
    } while (!done && ck_clock_now_ns() < deadline_ns);
    ck_clear_done(&clearing);
    return done ? clearing.error : -ETIME;
}

/* ---- the parent directory ---------------------------------------------------------------- */

/* A directory that belongs to the caller and that no one else may enter. */
static bool is_private(const struct stat *status)
{
    return S_ISDIR(status->st_mode) && status->st_uid == geteuid() && (status->st_mode & 077) == 0;
}

void ck_scratch_pool_init(struct ck_scratch_pool *scratch_pool)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    struct stat status;
    *scratch_pool = (struct ck_scratch_pool){.parent_fd = -1, .leftover = true, .owner = getpid(), .found.fd = -1};
    int length = -1;
    if (runtime && runtime[0] == '/' && lstat(runtime, &status) == 0 && is_private(&status))
        length = snprintf(scratch_pool->parent, sizeof(scratch_pool->parent), "%s/chokepoint", runtime);
    if (length < 0 || length >= (int)sizeof(scratch_pool->parent))
        (void)snprintf(scratch_pool->parent, sizeof(scratch_pool->parent), "/tmp/" PREFIX "%u", (unsigned)geteuid());
}

static int fail(struct choke_error *error, int r, const char *path, const char *why)
{
    return ck_error_set(error, CHOKE_SPAWN_FAILED, -r, "cannot make the scratch directory '%s': %s", CK_QUOTE(path),
                        why ? why : strerror(-r));
}

/* Opens the parent by a path that no one else can redirect. */
static int open_parent(struct ck_scratch_pool *scratch_pool, struct choke_error *error)
{
    struct ck_trusted trusted;
    struct stat status;
    char above[PATH_MAX];
    (void)snprintf(above, sizeof(above), "%s", scratch_pool->parent);
    char *name = strrchr(above, '/');
    *name++ = '\0';
    struct choke_error why = {0};
    int r = ck_trust_walk(above, &trusted, &why);
    if (r == 0 && mkdirat(trusted.fd, name, S_IRWXU) < 0 && errno != EEXIST)
        r = -errno;
    CK_FD fd = r < 0 ? -1 : openat(trusted.fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (r == 0 && (fd < 0 || fstat(fd, &status) < 0))
        r = -errno;
    ck_trust_done(&trusted);
    if (r < 0)
        return fail(error, r, scratch_pool->parent, why.message[0] != '\0' ? why.message : NULL);
    if (!is_private(&status))
        return fail(error, -EPERM, scratch_pool->parent, "it belongs to another user, or other users may enter it");
    scratch_pool->parent_fd = ck_fd_take(&fd);
    return 0;
}

/* ---- sweeping ---------------------------------------------------------------------------- */

/*
 * A locked directory belongs to a run. If we get the lock, the directory is abandoned and ours to
 * remove.
 */
static bool claim(struct ck_scratch_pool *scratch_pool, const char *name)
{
    struct ck_scratch found = {.scratch_pool = scratch_pool, .owner = getpid()};
    if (strncmp(name, PREFIX, strlen(PREFIX)) != 0)
        return false;
    CK_FD fd = ck_clear_open(scratch_pool->parent_fd, name);
    if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
        return false;
    (void)snprintf(found.name, sizeof(found.name), "%s", name);
    found.fd = ck_fd_take(&fd);
    scratch_pool->found = found;
    return true;
}

static void end_sweep(struct ck_scratch_pool *scratch_pool)
{
    if (scratch_pool->sweeping)
        (void)closedir(scratch_pool->sweeping);
    scratch_pool->sweeping = NULL;
    scratch_pool->leftover = false;
}

/*
 * Takes the lock of the parent: a new directory is unlocked for a moment after it is made, and must
 * not be swept then. If someone is making one now, the sweep is postponed.
 */
static void find_abandoned(struct ck_scratch_pool *scratch_pool, struct ck_slice *slice)
{
    const struct dirent *entry = NULL;
    int fd = dirfd(scratch_pool->sweeping);
    if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        end_sweep(scratch_pool);
        scratch_pool->postponed = true;
        return;
    }
    do {
        ck_slice_spend_entries(slice, 1);
        entry = readdir(scratch_pool->sweeping);
    } while (entry && !claim(scratch_pool, entry->d_name) && !ck_slice_spent(slice));
    (void)flock(fd, LOCK_UN);
    if (!entry)
        end_sweep(scratch_pool);
}

bool ck_scratch_pool_sweep(struct ck_scratch_pool *scratch_pool, struct ck_slice *slice)
{
    if (scratch_pool->parent_fd < 0 || !scratch_pool->leftover)
        return true;
    if (!scratch_pool->sweeping) {
        int fd = openat(scratch_pool->parent_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        scratch_pool->sweeping = fd < 0 ? NULL : fdopendir(fd);
        if (!scratch_pool->sweeping) {
            ck_fd_close(&fd);
            end_sweep(scratch_pool);
            return true;
        }
    }
    while (scratch_pool->leftover && !ck_slice_spent(slice)) {
        if (!scratch_pool->found.scratch_pool)
            find_abandoned(scratch_pool, slice);
        else
            (void)ck_scratch_remove_step(&scratch_pool->found, slice);
    }
    return !scratch_pool->leftover;
}

void ck_scratch_pool_done(struct ck_scratch_pool *scratch_pool)
{
    uint64_t deadline_ns = ck_clock_now_ns() + DONE_NS;
    bool swept = scratch_pool->owner != getpid();
    while (!swept && ck_clock_now_ns() < deadline_ns) {
        struct ck_slice slice = CK_SLICE_WHOLE;
        swept = ck_scratch_pool_sweep(scratch_pool, &slice);
    }
    ck_scratch_release(&scratch_pool->found);
    end_sweep(scratch_pool);
    ck_fd_close(&scratch_pool->parent_fd);
}

/* ---- one directory ----------------------------------------------------------------------- */

const char *ck_scratch_name(struct ck_scratch_pool *scratch_pool, const char *label, struct ck_arena *arena)
{
    uint64_t number;
    if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
        return NULL;
    return ck_arena_printf(arena, "%s/" PREFIX "%s-%016llx", scratch_pool->parent, label, (unsigned long long)number);
}

static int make_locked(struct ck_scratch_pool *scratch_pool, struct ck_scratch *scratch)
{
    int r = 0;
    CK_FD fd = -1;
    /*
     * Shared: several may make directories at once, but no sweep may look in between
     * (find_abandoned).
     */
    (void)flock(scratch_pool->parent_fd, LOCK_SH);
    if (mkdirat(scratch_pool->parent_fd, scratch->name, S_IRWXU) < 0)
        r = -errno;
    if (r == 0) {
        fd = openat(scratch_pool->parent_fd, scratch->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0) {
            r = -errno;
            (void)unlinkat(scratch_pool->parent_fd, scratch->name, AT_REMOVEDIR);
        }
    }
    (void)flock(scratch_pool->parent_fd, LOCK_UN);
    if (r == 0)
        scratch->fd = ck_fd_take(&fd);
    return r;
}

int ck_scratch_make(struct ck_scratch_pool *scratch_pool, const char *path, struct ck_scratch *ret,
                    struct choke_error *error)
{
    struct ck_scratch scratch = {.scratch_pool = scratch_pool, .fd = -1, .owner = getpid()};
    (void)snprintf(scratch.name, sizeof(scratch.name), "%s", strrchr(path, '/') + 1);
    int r = scratch_pool->parent_fd < 0 ? open_parent(scratch_pool, error) : 0;
    if (r < 0)
        return r;
    scratch_pool->leftover = scratch_pool->leftover || scratch_pool->postponed;
    scratch_pool->postponed = false;
    r = make_locked(scratch_pool, &scratch);
    if (r == -ENOENT) { /* someone cleaned up and removed our empty directory */
        ck_fd_close(&scratch_pool->parent_fd);
        r = open_parent(scratch_pool, error);
        if (r < 0)
            return r;
        r = make_locked(scratch_pool, &scratch);
    }
    if (r < 0)
        return fail(error, r, path, NULL);
    *ret = scratch;
    return 0;
}

bool ck_scratch_remove_step(struct ck_scratch *scratch, struct ck_slice *slice)
{
    struct ck_scratch_pool *scratch_pool = scratch->scratch_pool;
    if (!scratch_pool || scratch->owner != getpid()) {
        ck_scratch_release(scratch);
        return true;
    }
    if (!scratch->clearing) {
        scratch->clearing = malloc(sizeof(*scratch->clearing));
        if (!scratch->clearing) {
            ck_scratch_release(scratch);
            return true;
        }
        ck_clear_init(scratch->clearing, scratch->fd);
    }
    if (!ck_clear_step(scratch->clearing, slice))
        return false;
    (void)unlinkat(scratch_pool->parent_fd, scratch->name, AT_REMOVEDIR);
    ck_scratch_release(scratch);
    return true;
}

void ck_scratch_release(struct ck_scratch *scratch)
{
    if (!scratch->scratch_pool)
        return;
    if (scratch->clearing)
        ck_clear_done(scratch->clearing);
    free(scratch->clearing);
    ck_fd_close(&scratch->fd);
    *scratch = (struct ck_scratch){.fd = -1};
}

void ck_scratch_remove_within(struct ck_scratch *scratch, uint64_t span_ns)
{
    uint64_t deadline_ns = ck_clock_now_ns() + span_ns;
    bool gone = !scratch->scratch_pool;
    while (!gone && ck_clock_now_ns() < deadline_ns) {
        struct ck_slice slice = CK_SLICE_WHOLE;
        gone = ck_scratch_remove_step(scratch, &slice);
    }
    if (!gone)
        scratch->scratch_pool->leftover = true;
    ck_scratch_release(scratch);
}

void ck_scratch_remove(struct ck_scratch *scratch)
{
    ck_scratch_remove_within(scratch, REMOVE_NS);
}
