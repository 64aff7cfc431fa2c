/* scratch.c - see scratch.h. */
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

/* ---- where they are ---------------------------------------------------------------------- */

/* A directory of the caller's own, that nobody else may enter. */
static bool is_private(const struct stat *status)
{
    return S_ISDIR(status->st_mode) && status->st_uid == geteuid() && (status->st_mode & 077) == 0;
}

void ck_scratches_init(struct ck_scratches *scratches)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    struct stat status;
    *scratches = (struct ck_scratches){.parent_fd = -1, .leftover = true, .owner = getpid(), .found.fd = -1};
    int length = -1;
    if (runtime != NULL && runtime[0] == '/' && lstat(runtime, &status) == 0 && is_private(&status))
        length = snprintf(scratches->parent, sizeof scratches->parent, "%s/chokepoint", runtime);
    if (length < 0 || length >= (int)sizeof scratches->parent)
        (void)snprintf(scratches->parent, sizeof scratches->parent, "/tmp/" PREFIX "%u", (unsigned)geteuid());
}

static int fail(struct choke_error *error, int result, const char *path, const char *why)
{
    return ck_error_set(error, CHOKE_SPAWN_FAILED, -result, "cannot make the scratch directory '%s': %s",
                        CK_QUOTE(path), why != NULL ? why : strerror(-result));
}

/* By a way that nobody else can redirect. */
static int open_parent(struct ck_scratches *scratches, struct choke_error *error)
{
    struct ck_trusted trusted;
    struct stat status;
    char above[PATH_MAX];
    (void)snprintf(above, sizeof above, "%s", scratches->parent);
    char *name = strrchr(above, '/');
    *name++ = '\0';
    struct choke_error why = {0};
    int result = ck_trust_walk(above, &trusted, &why);
    if (result == 0 && mkdirat(trusted.fd, name, S_IRWXU) < 0 && errno != EEXIST)
        result = -errno;
    CK_FD fd = result < 0 ? -1 : openat(trusted.fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (result == 0 && (fd < 0 || fstat(fd, &status) < 0))
        result = -errno;
    ck_trust_done(&trusted);
    if (result < 0)
        return fail(error, result, scratches->parent, why.message[0] != '\0' ? why.message : NULL);
    if (!is_private(&status))
        return fail(error, -EPERM, scratches->parent, "it belongs to somebody else, or others may enter it");
    scratches->parent_fd = ck_fd_take(&fd);
    return 0;
}

/* ---- sweeping ---------------------------------------------------------------------------- */

/* One that is locked belongs to a run; one that we have locked is ours to remove. */
static bool claim(struct ck_scratches *scratches, const char *name)
{
    struct ck_scratch found = {.scratches = scratches, .owner = getpid()};
    if (strncmp(name, PREFIX, strlen(PREFIX)) != 0)
        return false;
    CK_FD fd = ck_clear_open(scratches->parent_fd, name);
    if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
        return false;
    (void)snprintf(found.name, sizeof found.name, "%s", name);
    found.fd = ck_fd_take(&fd);
    scratches->found = found;
    return true;
}

static void end_sweep(struct ck_scratches *scratches)
{
    if (scratches->sweeping != NULL)
        (void)closedir(scratches->sweeping);
    scratches->sweeping = NULL;
    scratches->leftover = false;
}

/* While nobody makes one: a directory that is new is not locked for a moment. Such a sweep is put off. */
static void look_for_left(struct ck_scratches *scratches, struct ck_slice *slice)
{
    const struct dirent *entry = NULL;
    int fd = dirfd(scratches->sweeping);
    if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        end_sweep(scratches);
        scratches->put_off = true;
        return;
    }
    do {
        ck_slice_look(slice, 1);
        entry = readdir(scratches->sweeping);
    } while (entry != NULL && !claim(scratches, entry->d_name) && !ck_slice_spent(slice));
    (void)flock(fd, LOCK_UN);
    if (entry == NULL)
        end_sweep(scratches);
}

bool ck_scratches_sweep(struct ck_scratches *scratches, struct ck_slice *slice)
{
    if (scratches->parent_fd < 0 || !scratches->leftover)
        return true;
    if (scratches->sweeping == NULL) {
        int fd = openat(scratches->parent_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        scratches->sweeping = fd < 0 ? NULL : fdopendir(fd);
        if (scratches->sweeping == NULL) {
            ck_fd_close(&fd);
            end_sweep(scratches);
            return true;
        }
    }
    while (scratches->leftover && !ck_slice_spent(slice)) {
        if (scratches->found.scratches == NULL)
            look_for_left(scratches, slice);
        else
            (void)ck_scratch_remove_some(&scratches->found, slice);
    }
    return !scratches->leftover;
}

void ck_scratches_done(struct ck_scratches *scratches)
{
    uint64_t deadline_ns = ck_clock_now_ns() + DONE_NS;
    bool swept = scratches->owner != getpid();
    while (!swept && ck_clock_now_ns() < deadline_ns) {
        struct ck_slice slice = CK_SLICE_WHOLE;
        swept = ck_scratches_sweep(scratches, &slice);
    }
    ck_scratch_leave(&scratches->found);
    end_sweep(scratches);
    ck_fd_close(&scratches->parent_fd);
}

/* ---- one of them ------------------------------------------------------------------------- */

const char *ck_scratch_name(struct ck_scratches *scratches, const char *label, struct ck_arena *arena)
{
    uint64_t number;
    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
        return NULL;
    return ck_arena_printf(arena, "%s/" PREFIX "%s-%016llx", scratches->parent, label, (unsigned long long)number);
}

static int make_locked(struct ck_scratches *scratches, struct ck_scratch *scratch)
{
    int result = 0;
    CK_FD fd = -1;
    (void)flock(scratches->parent_fd, LOCK_SH);
    if (mkdirat(scratches->parent_fd, scratch->name, S_IRWXU) < 0)
        result = -errno;
    if (result == 0) {
        fd = openat(scratches->parent_fd, scratch->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0) {
            result = -errno;
            (void)unlinkat(scratches->parent_fd, scratch->name, AT_REMOVEDIR);
        }
    }
    (void)flock(scratches->parent_fd, LOCK_UN);
    if (result == 0)
        scratch->fd = ck_fd_take(&fd);
    return result;
}

int ck_scratch_make(struct ck_scratches *scratches, const char *path, struct ck_scratch *ret, struct choke_error *error)
{
    struct ck_scratch scratch = {.scratches = scratches, .fd = -1, .owner = getpid()};
    (void)snprintf(scratch.name, sizeof scratch.name, "%s", strrchr(path, '/') + 1);
    int result = scratches->parent_fd < 0 ? open_parent(scratches, error) : 0;
    if (result < 0)
        return result;
    scratches->leftover = scratches->leftover || scratches->put_off;
    scratches->put_off = false;
    result = make_locked(scratches, &scratch);
    if (result == -ENOENT) { /* somebody tidied up, and took the directory of ours that was empty */
        ck_fd_close(&scratches->parent_fd);
        result = open_parent(scratches, error);
        if (result < 0)
            return result;
        result = make_locked(scratches, &scratch);
    }
    if (result < 0)
        return fail(error, result, path, NULL);
    *ret = scratch;
    return 0;
}

bool ck_scratch_remove_some(struct ck_scratch *scratch, struct ck_slice *slice)
{
    struct ck_scratches *scratches = scratch->scratches;
    if (scratches == NULL || scratch->owner != getpid()) {
        ck_scratch_leave(scratch);
        return true;
    }
    if (scratch->clearing == NULL) {
        scratch->clearing = malloc(sizeof *scratch->clearing);
        if (scratch->clearing == NULL) {
            ck_scratch_leave(scratch);
            return true;
        }
        ck_clear_init(scratch->clearing, scratch->fd);
    }
    if (!ck_clear_step(scratch->clearing, slice))
        return false;
    (void)unlinkat(scratches->parent_fd, scratch->name, AT_REMOVEDIR);
    ck_scratch_leave(scratch);
    return true;
}

void ck_scratch_leave(struct ck_scratch *scratch)
{
    if (scratch->scratches == NULL)
        return;
    if (scratch->clearing != NULL)
        ck_clear_done(scratch->clearing);
    free(scratch->clearing);
    ck_fd_close(&scratch->fd);
    *scratch = (struct ck_scratch){.fd = -1};
}

void ck_scratch_remove(struct ck_scratch *scratch)
{
    uint64_t deadline_ns = ck_clock_now_ns() + REMOVE_NS;
    bool gone = scratch->scratches == NULL;
    while (!gone && ck_clock_now_ns() < deadline_ns) {
        struct ck_slice slice = CK_SLICE_WHOLE;
        gone = ck_scratch_remove_some(scratch, &slice);
    }
    if (!gone)
        scratch->scratches->leftover = true;
    ck_scratch_leave(scratch);
}
