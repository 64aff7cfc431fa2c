/*
 * guard_state.c - what stays of a program in the cage between runs: its state directories (R91).
 *
 * They are not those of the caller's home. Each profile has a place of its own, which nobody but the
 * caller can enter, $XDG_STATE_HOME/chokepoint/guard/PROFILE, and in the cage its directories are in
 * HOME, which is CK_JAIL_STATE. So neither keys nor settings of the same program outside are in the
 * cage, and nothing that the cage leaves there runs outside of one. The rest of HOME can be written
 * and is removed with the guard.
 *
 * What the program left there runs again in the next cage of that profile, with another task. So the
 * changes are listed, with those in the root that would run later (overlay/snapshot.h).
 */
#include "api/guard.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/quote.h"
#include "jail/native_ops.h"
#include "overlay/runs_later.h"
#include "sys/home.h"
#include "sys/statefile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LABEL "guard-home"
#define REMOVE_NS (10 * CK_NS_PER_S) /* as for its /tmp: the program may have filled it */
#define IN_STATE "chokepoint"
#define IN_HOME ".local/state/" IN_STATE
#define STORES "guard"
#define OF_SECTION "_" /* of the section `guard` without a profile: no profile has this name */
#define SETTINGS "settings"
#define FD_TEXT 32

/* ---- the place of the caller ---- */

/* secure_getenv: a set-user-ID program must not be directed by variables of its caller. */
static int find_place(char ret_path[PATH_MAX], struct choke_error *error)
{
    char home[PATH_MAX];
    const char *state = secure_getenv("XDG_STATE_HOME");
    const char *variable = secure_getenv("HOME");
    int length, r = 0;
    if (state && state[0] == '/') {
        length = snprintf(ret_path, PATH_MAX, "%s/" IN_STATE, state);
    } else {
        if (!variable || variable[0] != '/')
            r = ck_home_find(geteuid(), home);
        if (r < 0)
            return ck_error_set(error, CHOKE_INVALID, -r, "there is no place for the state of the profile: no home");
        length = snprintf(ret_path, PATH_MAX, "%s/" IN_HOME, variable && variable[0] == '/' ? variable : home);
    }
    return length < PATH_MAX
               ? 0
               : ck_error_set(error, CHOKE_INVALID, ENAMETOOLONG, "the path of the state of the profile is too long");
}

/* Also one that the program has closed to its owner, us: else it would be the last one with this profile. */
static int open_own(int parent_fd, const char *name)
{
    char path[FD_TEXT];
    struct stat status;
    int fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 || errno != EACCES)
        return fd;
    CK_FD closed = openat(parent_fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (closed < 0 || fstat(closed, &status) < 0)
        return -1;
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", closed);
    if (status.st_uid == geteuid() && chmod(path, 0700) == 0)
        return openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    errno = EACCES;
    return -1;
}

/* Nobody but the caller may enter it; a symlink that the cage left is not followed. */
static int open_private(int parent_fd, const char *name, const char *path, int *ret_fd, struct choke_error *error)
{
    struct stat status;
    if (mkdirat(parent_fd, name, 0700) < 0 && errno != EEXIST)
        return ck_error_set(error, CHOKE_INVALID, errno, "cannot make '%s' for the state of the profile: %s",
                            CK_QUOTE(path), strerror(errno));
    CK_FD fd = open_own(parent_fd, name);
    int errnum = fd < 0 || fstat(fd, &status) < 0 ? errno : 0;
    if (errnum == 0 && status.st_uid != geteuid())
        errnum = EPERM;
    /* The cage may have changed the mode of what is beneath a state directory. */
    if (errnum == 0 && (status.st_mode & 0777) != 0700 && fchmod(fd, 0700) < 0)
        errnum = errno;
    if (errnum != 0)
        return ck_error_set(error, CHOKE_INVALID, errnum, "cannot use '%s' for the state of the profile: %s",
                            CK_QUOTE(path),
                            errnum == EPERM                        ? "it belongs to another user"
                            : errnum == ELOOP || errnum == ENOTDIR ? "it is not a directory"
                                                                   : strerror(errnum));
    *ret_fd = ck_fd_take(&fd);
    return 0;
}

/* Each component of path beneath the directory, which is at `at`. */
static int open_path(int top_fd, const char *at, const char *path, int *ret_fd, struct choke_error *error)
{
    char text[PATH_MAX];
    CK_FD fd = fcntl(top_fd, F_DUPFD_CLOEXEC, 3);
    if (fd < 0 || snprintf(text, sizeof(text), "%s", path) >= (int)sizeof(text))
        return ck_error_set(error, CHOKE_INVALID, fd < 0 ? errno : ENAMETOOLONG, "cannot open '%s'", CK_QUOTE(path));
    char *rest = text;
    for (const char *name; (name = strsep(&rest, "/"));) {
        int next_fd = -1;
        int r = open_private(fd, name, at, &next_fd, error);
        if (r < 0)
            return r;
        ck_fd_close(&fd);
        fd = next_fd;
    }
    *ret_fd = ck_fd_take(&fd);
    return 0;
}

/* The directory of the profile. */
static int open_store(struct choke_guard *guard, const char *profile, int *ret_fd, struct choke_error *error)
{
    char place[PATH_MAX];
    CK_FD place_fd = -1;
    int r = find_place(place, error);
    if (r == 0) {
        r = ck_statefile_directory(place, &place_fd, error);
        if (r < 0 && error)
            error->outcome = CHOKE_INVALID;
    }
    if (r == 0 && ck_trust_is_above(place_fd, guard->root_identity) != 0)
        return ck_error_set(error, CHOKE_DISALLOWED, EPERM,
                            "the root '%s' holds '%s', the state of all profiles; choose a root that does not",
                            CK_QUOTE(guard->root), CK_QUOTE(place));
    if (r < 0)
        return r;
    const char *in = ck_arena_printf(&guard->arena, STORES "/%s", profile ? profile : OF_SECTION);
    guard->store = ck_arena_printf(&guard->arena, "%s/%s", place, in ? in : "");
    if (!in || !guard->store)
        return ck_error_oom(error);
    return open_path(place_fd, guard->store, in, ret_fd, error);
}

/* ---- what the cage gets ---- */

static int add_writable(struct choke_guard *guard, const char *inside, const char *real, int fd,
                        struct choke_error *error)
{
    struct stat status;
    if (!inside || !real)
        return ck_error_oom(error);
    if (fstat(fd, &status) < 0)
        return ck_error_set(error, CHOKE_SPAWN_FAILED, errno, "cannot examine '%s': %s", CK_QUOTE(real),
                            strerror(errno));
    if (guard->writable_count == CK_GUARD_WRITABLE_MAX)
        return ck_error_set(error, CHOKE_POLICY, E2BIG, "there are more than %d directories in 'state'",
                            CK_GUARD_WRITABLE_MAX - 2);
    guard->directories[guard->writable_count] =
        (struct ck_native_directory){.path = inside, .real = real, .device = status.st_dev, .inode = status.st_ino};
    guard->writable[guard->writable_count++] = (struct ck_guarded_directory){.path = inside, .fd = fd};
    return 0;
}

static int make_home(struct choke_guard *guard, struct choke_error *error)
{
    const char *path = ck_scratch_name(&guard->scratch_pool, LABEL, &guard->arena);
    if (!path)
        return ck_error_oom(error);
    int r = ck_scratch_make(&guard->scratch_pool, path, &guard->home, error);
    return r < 0 ? r : add_writable(guard, CK_JAIL_STATE, path, guard->home.fd, error);
}

static int add_state(struct choke_guard *guard, int store_fd, const char *name, struct choke_error *error)
{
    struct ck_kept_state *state = &guard->states[guard->states_count];
    CK_FD mount_fd = -1;
    *state = (struct ck_kept_state){.name = name, .fd = -1};
    state->real = ck_arena_printf(&guard->arena, "%s/%s", guard->store, name);
    if (!state->real)
        return ck_error_oom(error);
    int r = open_path(store_fd, state->real, name, &state->fd, error);
    if (r < 0)
        return r;
    guard->states_count++;
    /* Where it is mounted. */
    r = open_path(guard->home.fd, state->real, name, &mount_fd, error);
    return r < 0 ? r
                 : add_writable(guard, ck_arena_printf(&guard->arena, CK_JAIL_STATE "/%s", name), state->real,
                                state->fd, error);
}

/* ---- names in the root that stay as they are ---- */

/* The mount would hold the target, and the program could put another file in place of the symlink. */
int ck_guard_state_check_read_only(const struct choke_guard *guard, const struct ck_list *names,
                                   struct choke_error *error)
{
    struct stat status;
    for (uint32_t i = 0; i < names->count; i++)
        if (fstatat(guard->root_fd, names->items[i], &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(status.st_mode))
            return ck_error_set(error, CHOKE_DISALLOWED, ELOOP,
                                "'%s' in the root is a symlink, so the program could replace what 'read_only' of the "
                                "profile names; put the file or directory that it leads to in its place",
                                names->items[i]);
    return 0;
}

/* ---- opening ---- */

int ck_guard_state_open(struct choke_guard *guard, const struct ck_profile *profile, const char *name,
                        struct choke_error *error)
{
    CK_FD store_fd = -1;
    if (profile->state.count == 0)
        return 0;
    guard->data = &profile->state_data;
    guard->states = ck_arena_array(&guard->arena, profile->state.count, sizeof(*guard->states));
    if (!guard->states)
        return ck_error_oom(error);
    int r = open_store(guard, name, &store_fd, error);
    if (r == 0)
        r = make_home(guard, error);
    for (uint32_t i = 0; r == 0 && i < profile->state.count; i++)
        r = add_state(guard, store_fd, profile->state.items[i], error);
    return r;
}

void ck_guard_state_done(struct choke_guard *guard)
{
    for (size_t i = 0; i < guard->states_count; i++) {
        ck_fd_close(&guard->states[i].fd);
        ck_snapshot_free(guard->states[i].before);
    }
    guard->states_count = 0;
    ck_snapshot_free(guard->root_before);
    ck_changes_done(&guard->changes);
    ck_scratch_remove_within(&guard->home, REMOVE_NS);
}

/* ---- what changed ---- */

int ck_guard_state_note(struct choke_guard *guard, struct choke_error *error)
{
    if (guard->states_count == 0)
        return 0;
    bool good = (guard->root_before = ck_snapshot_take(guard->root_fd));
    for (size_t i = 0; i < guard->states_count; i++)
        good = (guard->states[i].before = ck_snapshot_take(guard->states[i].fd)) && good;
    return good ? 0 : ck_error_oom(error);
}

/* A star stands for any bytes of the name. It has one at most. */
static bool matches_name(const char *pattern, size_t wanted, const char *name, size_t length)
{
    const char *star = memchr(pattern, '*', wanted);
    size_t before = star ? (size_t)(star - pattern) : wanted;
    size_t after = star ? wanted - before - 1 : 0;
    return (star ? length >= before + after : length == wanted) && memcmp(name, pattern, before) == 0 &&
           memcmp(name + length - after, pattern + wanted - after, after) == 0;
}

/* Name by name; two stars as the last one: all that is beneath. */
static bool matches(const char *pattern, const char *path)
{
    for (;;) {
        size_t wanted = strcspn(pattern, "/"), length = strcspn(path, "/");
        if (strcmp(pattern, "**") == 0)
            return true;
        if (!matches_name(pattern, wanted, path, length))
            return false;
        if (pattern[wanted] == '\0' || path[length] == '\0')
            return pattern[wanted] == path[length];
        pattern += wanted + 1;
        path += length + 1;
    }
}

struct of_state {
    const struct ck_list *data;
    const char *name;
};

/*
 * What the profile calls data counts only if it is a program by its content. Everything else in a
 * state directory is read at the next start by a program that runs what it says.
 */
static const char *judge_state(void *context, const char *path, const char *found)
{
    const struct of_state *of = context;
    char whole[2 * PATH_MAX];
    bool is_data = false;
    (void)snprintf(whole, sizeof(whole), "%s/%s", of->name, path);
    for (uint32_t i = 0; i < of->data->count; i++)
        is_data = is_data || matches(of->data->items[i], whole);
    if (!is_data)
        return found ? found : SETTINGS;
    return ck_runs_later_by_path(path) ? NULL : found;
}

static bool list_changes(struct choke_guard *guard)
{
    struct ck_snapshot_list list = {.changes = &guard->changes,
                                    .prefix = ck_arena_printf(&guard->arena, "%s/", guard->root),
                                    .only_runs_later = true};
    if (!list.prefix)
        return false;
    ck_snapshot_compare(guard->root_before, guard->root_fd, &list);
    list.only_runs_later = false;
    list.judge = judge_state;
    for (size_t i = 0; i < guard->states_count; i++) {
        struct of_state of = {.data = guard->data, .name = guard->states[i].name};
        /* The program may have closed it to us, with what it left there. */
        (void)fchmod(guard->states[i].fd, 0700);
        list.data = &of;
        list.prefix = ck_arena_printf(&guard->arena, "%s/", guard->states[i].real);
        if (!list.prefix)
            return false;
        ck_snapshot_compare(guard->states[i].before, guard->states[i].fd, &list);
    }
    return true;
}

int choke_guard_changes(struct choke_guard *guard, const struct choke_file_change **ret_changes, size_t *ret_count,
                        bool *ret_incomplete, struct choke_error *error)
{
    static const struct choke_file_change none[1];
    if (!guard || !ret_changes || !ret_count || !ret_incomplete)
        return ck_error_set(error, CHOKE_INVALID, EINVAL, "a guard and pointers for its changes are required");
    int r = ck_context_check(guard->context, error);
    if (r < 0)
        return r;
    if (guard->job && !guard->job->finished)
        return ck_error_set(error, CHOKE_INVALID, EBUSY, "the program of the guard has not ended");
    if (!guard->changes_listed && guard->root_before && !list_changes(guard))
        return ck_error_oom(error);
    guard->changes_listed = true;
    *ret_changes = guard->changes.items ? guard->changes.items : none;
    *ret_count = guard->changes.count;
    *ret_incomplete = guard->changes.incomplete;
    return 0;
}
