/*
 * scratch.c - see scratch.h.
 *
 * A tool that turns hostile leaves what is hardest to remove: directories a hundred thousand deep, directories without
 * any permission, links to where it would hurt. So nothing is reached by a path: a directory that is not empty is moved
 * up into the top one, under a new name, until every directory there holds only files. That needs no recursion and no
 * more descriptors for a deep tree than for a flat one. What is in the tree has the caller as its owner, so its modes
 * can be changed.
 */
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
#define REMOVE_NS (500 * CK_NS_PER_MS)
#define SWEEP_NS (200 * CK_NS_PER_MS)
#define FOREVER UINT64_MAX
#define LOOK_AT_CLOCK 64 /* entries between two looks */

/* ---- removing ---------------------------------------------------------------------------- */

struct clearing {
    int top_fd;
    uint64_t deadline_ns;
    uint64_t last_name;
    unsigned entries;
    size_t removed; /* or moved, in this round */
    int error;      /* the first of what could not be removed */
};

static bool in_time(struct clearing *clearing)
{
    if (++clearing->entries % LOOK_AT_CLOCK == 0 && ck_clock_now_ns() >= clearing->deadline_ns)
        clearing->error = -ETIME;
    return clearing->error != -ETIME;
}

static void note(struct clearing *clearing, int error)
{
    if (clearing->error == 0)
        clearing->error = error;
}

/* A directory that we may read and change, whatever its mode was; never a link. A descriptor, or a negative errno. */
static int open_directory(int parent_fd, const char *name)
{
    char self[64];
    CK_FD path_fd = openat(parent_fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (path_fd < 0)
        return -errno;
    struct stat status;
    if (fstat(path_fd, &status) < 0)
        return -errno;
    (void)snprintf(self, sizeof self, "/proc/self/fd/%d", path_fd);
    if ((status.st_mode & S_IRWXU) != S_IRWXU && chmod(self, S_IRWXU) < 0)
        return -errno;
    int fd = openat(path_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

/* Into the top directory, under a name that is not there. */
static int move_up(struct clearing *clearing, int directory_fd, const char *name)
{
    char fresh[32];
    CK_FD opened = open_directory(directory_fd, name); /* a directory that moves must be writable itself */
    if (opened < 0)
        return opened;
    int result;
    do {
        (void)snprintf(fresh, sizeof fresh, "%llu", (unsigned long long)clearing->last_name++);
        result = renameat2(directory_fd, name, clearing->top_fd, fresh, RENAME_NOREPLACE) < 0 ? -errno : 0;
    } while (result == -EEXIST);
    return result;
}

/* One that is not the last name of an empty directory or of anything else needs more: -EISDIR. */
static int remove_simple(int directory_fd, const char *name)
{
    if (unlinkat(directory_fd, name, 0) == 0)
        return 0;
    if (errno != EISDIR && errno != EPERM)
        return -errno;
    if (unlinkat(directory_fd, name, AT_REMOVEDIR) == 0)
        return 0;
    return errno == ENOTEMPTY || errno == EEXIST || errno == EACCES ? -EISDIR : -errno;
}

typedef int (*remove_fn)(struct clearing *clearing, int directory_fd, const char *name);

/* Every entry of a directory, once. Takes the descriptor over. */
static void each(struct clearing *clearing, int directory_fd, remove_fn remove)
{
    DIR *stream = fdopendir(directory_fd);
    if (stream == NULL) {
        note(clearing, -errno);
        (void)close(directory_fd);
        return;
    }
    rewinddir(stream);
    for (const struct dirent *entry; in_time(clearing) && (entry = readdir(stream)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        int result = remove_simple(directory_fd, entry->d_name);
        if (result == -EISDIR)
            result = remove(clearing, directory_fd, entry->d_name);
        if (result < 0 && result != -ENOENT)
            note(clearing, result);
        else
            clearing->removed++;
    }
    (void)closedir(stream);
}

/* A directory in the top one: its files are removed and its directories moved up, and then it is empty. */
static int flatten(struct clearing *clearing, int top_fd, const char *name)
{
    int fd = open_directory(top_fd, name);
    if (fd < 0)
        return fd;
    each(clearing, fd, move_up);
    return unlinkat(top_fd, name, AT_REMOVEDIR) < 0 ? -errno : 0;
}

int ck_scratch_clear(int top_fd, uint64_t deadline_ns)
{
    struct clearing clearing = {.top_fd = top_fd, .deadline_ns = deadline_ns};
    (void)fchmod(top_fd, S_IRWXU);
    do {
        clearing.removed = 0;
        clearing.error = 0;
        int fd = openat(top_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
            return -errno;
        each(&clearing, fd, flatten);
    } while (clearing.removed > 0 && clearing.error != -ETIME);
    return clearing.error;
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
    *scratches = (struct ck_scratches){.parent_fd = -1, .leftover = true};
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

/* One that is locked belongs to a run. */
static int sweep_one(int parent_fd, const char *name, uint64_t deadline_ns)
{
    CK_FD fd = open_directory(parent_fd, name);
    if (fd < 0)
        return fd;
    if (flock(fd, LOCK_EX | LOCK_NB) < 0)
        return 0;
    int result = ck_scratch_clear(fd, deadline_ns);
    return result < 0 ? result : unlinkat(parent_fd, name, AT_REMOVEDIR) < 0 ? -errno : 0;
}

/* While nobody makes one: a directory that is new is not locked for a moment. */
static void sweep(struct ck_scratches *scratches, uint64_t deadline_ns)
{
    int fd = openat(scratches->parent_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = fd < 0 ? NULL : fdopendir(fd);
    if (stream == NULL || flock(fd, LOCK_EX | LOCK_NB) < 0) {
        if (stream != NULL)
            (void)closedir(stream);
        else
            ck_fd_close(&fd);
        return;
    }
    scratches->leftover = false;
    for (const struct dirent *entry; (entry = readdir(stream)) != NULL;)
        if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) == 0 &&
            sweep_one(scratches->parent_fd, entry->d_name, deadline_ns) == -ETIME) {
            scratches->leftover = true;
            break;
        }
    (void)closedir(stream);
}

void ck_scratches_done(struct ck_scratches *scratches)
{
    if (scratches->parent_fd >= 0 && scratches->leftover)
        sweep(scratches, FOREVER);
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
    if (scratches->leftover)
        sweep(scratches, ck_clock_now_ns() + SWEEP_NS);
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

void ck_scratch_remove(struct ck_scratch *scratch)
{
    struct ck_scratches *scratches = scratch->scratches;
    if (scratches == NULL)
        return;
    if (scratch->owner == getpid()) {
        (void)ck_scratch_clear(scratch->fd, ck_clock_now_ns() + REMOVE_NS);
        if (unlinkat(scratches->parent_fd, scratch->name, AT_REMOVEDIR) < 0)
            scratches->leftover = true;
    }
    ck_fd_close(&scratch->fd);
    *scratch = (struct ck_scratch){.fd = -1};
}
