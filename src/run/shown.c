/* shown.c - see shown.h. docs/adr/0055 and 0056 have the reasons. */
#include "run/shown.h"

#include "base/errkind.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/quote.h"
#include "jail/native.h"
#include "jail/native_shown.h"
#include "sys/beneath.h"
#include "sys/gitlink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DIRECTORY (O_PATH | O_DIRECTORY | O_CLOEXEC)

/* ---- what a directory may not be ---- */

static struct ck_identity identity(const struct stat *status)
{
    return (struct ck_identity){.device = status->st_dev, .inode = status->st_ino};
}

/*
 * Is the directory that fd has open the other one, or beneath it? 1, 0, or the negative errno of a
 * shortage. If a directory above cannot be opened the answer is 1: nothing is shown then.
 */
static int is_held(int fd, const struct stat *directory)
{
    int r = ck_trust_is_above(fd, identity(directory));
    return r < 0 && !ck_errkind_is_shortage(-r) ? 1 : r;
}

/* If the path does not exist yet, its nearest existing parent decides. */
static int is_path_held(const char *path, const struct stat *directory)
{
    char above[PATH_MAX];
    size_t length = strlen(path);
    if (path[0] != '/' || length >= sizeof(above))
        return 1;
    memcpy(above, path, length + 1);
    for (;;) {
        CK_FD fd = open(above[0] != '\0' ? above : "/", DIRECTORY);
        if (fd >= 0)
            return is_held(fd, directory);
        char *slash = strrchr(above, '/');
        if (!slash || (errno != ENOENT && errno != ENOTDIR))
            return ck_errkind_is_shortage(errno) ? -errno : 1;
        *slash = '\0';
    }
}

/*
 * Did the walk pass one of the trees that are no content of files? As is_held: a tree that cannot be
 * examined may be the one.
 */
static int passes_machine(const struct ck_trusted *place)
{
    static const char *const trees[] = {"/proc", "/sys", "/dev", "/run"};
    struct stat status;
    for (size_t i = 0; i < sizeof(trees) / sizeof(trees[0]); i++) {
        int errnum = stat(trees[i], &status) < 0 ? errno : 0;
        if (errnum == 0 ? ck_trust_passes(place, identity(&status)) : ck_errkind_of(errnum) != CK_ERRKIND_ABSENT)
            return ck_errkind_is_shortage(errnum) ? -errnum : 1;
    }
    return 0;
}

/* The faults that the walk and the status show; NULL: none of these. 0, or the negative errno of a shortage. */
static int fault_of(const struct ck_plan *plan, const struct ck_trusted *place, const char **ret_fault)
{
    struct stat top;
    if (stat("/", &top) < 0)
        return -errno;
    int r = passes_machine(place);
    *ret_fault = !S_ISDIR(place->status.st_mode)                              ? "is not a directory"
                 : ck_trust_is_same(identity(&top), identity(&place->status)) ? "is the root of the file system"
                 : r > 0                                                      ? "is in /proc, /sys, /dev or /run"
                 : place->status.st_mode & (S_IWGRP | S_IWOTH)
                     ? "may be written by group or others; fix it with chmod go-w"
                 : ck_trust_passes(place, plan->root) ? "is inside the root"
                                                      : NULL;
    return r < 0 ? r : 0;
}

/* *ret_fault is why it may not be shown, or NULL. 0, or the negative errno of a shortage. */
static int find_fault(const struct ck_plan_sources *sources, const struct ck_plan *plan, const struct ck_trusted *place,
                      const char **ret_fault)
{
    char state[PATH_MAX];
    int r = fault_of(plan, place, ret_fault);
    if (r < 0 || *ret_fault)
        return r;
    *ret_fault = "holds the root";
    r = is_held(plan->root_fd, &place->status);
    if (r == 0 && sources->audit_path) {
        *ret_fault = "holds the audit log";
        r = is_path_held(sources->audit_path, &place->status);
    }
    if (r == 0 && sources->policy->upstream.credentials_file) {
        *ret_fault = "holds the 'credentials_file' of 'upstream'";
        r = is_path_held(sources->policy->upstream.credentials_file, &place->status);
    }
    for (const char *const *path = sources->secret_files; r == 0 && path && *path; path++) {
        *ret_fault = "holds a file of --secret";
        r = is_path_held(*path, &place->status);
    }
    if (r == 0 && sources->find_state && sources->find_state(sources->state_home, state)) {
        *ret_fault = "holds chokepoint's own state";
        r = is_path_held(state, &place->status);
    }
    if (r != 1)
        *ret_fault = NULL;
    return r < 0 ? r : 0;
}

/* ---- the list ---- */

static int add(struct ck_plan *plan, const char *path, const struct ck_trusted *place)
{
    char real[PATH_MAX];
    int r = ck_beneath_path(place->fd, real, sizeof(real));
    if (r < 0)
        return r;
    struct ck_native_directory *shown = &plan->shown[plan->shown_count];
    *shown = (struct ck_native_directory){.path = ck_arena_strdup(&plan->arena, path),
                                          .real = ck_arena_strdup(&plan->arena, real),
                                          .device = place->status.st_dev,
                                          .inode = place->status.st_ino};
    if (!shown->path || !shown->real)
        return -ENOMEM;
    plan->shown_count++;
    return 0;
}

/* A directory that is missing is not an error, as with a helper: it is missing in the jail, too. */
static int add_read(const struct ck_plan_sources *sources, struct ck_plan *plan, const struct ck_tool *tool,
                    const char *path)
{
    struct ck_trusted place;
    struct choke_error error = {0};
    const char *fault = NULL;
    int r = ck_trust_walk(path, &place, &error);
    if (r == 0)
        r = find_fault(sources, plan, &place, &fault);
    if (r == 0 && !fault)
        r = add(plan, path, &place);
    ck_trust_done(&place);
    if (ck_errkind_is_shortage(-r))
        return r;
    if (r == -ENOENT || (r == 0 && !fault))
        return 0;
    /* The walk has no last component for "/". */
    if (r == -EISDIR)
        fault = "is the root of the file system";
    const char *cause = r == -EPERM ? error.message : strerror(-r);
    (void)ck_error_set(&plan->verdict.error, CHOKE_DISALLOWED, EPERM, "directory '%s' in 'reads' cannot be shown: %s%s",
                       CK_QUOTE(path), fault ? "it " : "", fault ? fault : cause);
    return ck_plan_refuse(plan, tool, "reads");
}

/* Both are shown at their own paths, which the jail may have something else at. */
static const char *place_fault(const struct ck_plan *plan, const char *path)
{
    char root[PATH_MAX];
    if (plan->jail.jail == &ck_jail_native_no_userns)
        return NULL;
    bool covered = ck_beneath_path(plan->root_fd, root, sizeof(root)) < 0 || ck_native_shown_cover(root) ||
                   ck_native_shown_cover(path);
    return covered ? "cannot be at its own path in a jail, with the root at its own" : NULL;
}

/*
 * The text of the repository never refuses a run: without a proof nothing is shown, and the event
 * says why.
 */
static int add_git(const struct ck_plan_sources *sources, struct ck_plan *plan)
{
    struct ck_gitlink *link = malloc(sizeof(*link));
    if (!link)
        return -ENOMEM;
    const char *fault = NULL;
    int r = ck_gitlink_find(plan->root_fd, link);
    int failure = r == 1 ? find_fault(sources, plan, &link->place, &fault) : 0;
    if (failure < 0)
        r = failure;
    if (r == 1 && !fault)
        fault = place_fault(plan, link->path);
    if (fault)
        plan->git_message =
            ck_arena_printf(&plan->arena, "the git directory '%s' of the root is not shown: it %s; use another --root",
                            CK_QUOTE(link->path), fault);
    else if (r == -EPERM)
        plan->git_message = ck_arena_strdup(&plan->arena, link->message);
    else if (r == 1)
        r = add(plan, link->path, &link->place);
    bool failed = (fault || r == -EPERM) && !plan->git_message;
    ck_gitlink_done(link);
    free(link);
    plan->git_shown = r == 0 && !fault && plan->shown_count > 0;
    return failed ? -ENOMEM : r < 0 && r != -EPERM ? r : 0;
}

int ck_shown_collect(const struct ck_plan_sources *sources, struct ck_plan *plan, const struct ck_grant *grant)
{
    size_t count = 1; /* the git directory */
    for (size_t i = 0; i < grant->count; i++)
        count += grant->tools[i].tool->reads.count;
    plan->shown = ck_arena_array(&plan->arena, count, sizeof(*plan->shown));
    if (!plan->shown)
        return -ENOMEM;
    int r = add_git(sources, plan);
    for (size_t i = 0; r == 0 && i < grant->count; i++)
        for (uint32_t k = 0; r == 0 && k < grant->tools[i].tool->reads.count; k++)
            r = add_read(sources, plan, grant->tools[i].tool, grant->tools[i].tool->reads.items[k]);
    return r;
}

/*
 * The links between a work tree and its git directory are paths, and many are relative. They hold
 * only if both are where they are on the host. Scripts beneath the root that may be executed name
 * their interpreter by a path of the host.
 */
bool ck_shown_root_is_own(const struct ck_plan *plan, const struct ck_grant *grant)
{
    return grant->root_own || grant->workspace_code || plan->git_shown;
}
