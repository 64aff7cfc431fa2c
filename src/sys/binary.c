/*
 * binary.c - finds a tool's file and decides whether it may be executed.
 *
 * A directory of the search path is walked once, with every component checked. After that only root
 * or the caller can have changed it. So a later look-up only asks whether the path still leads to
 * the same directory with the same owner and mode: one stat instead of a walk.
 */
#include "sys/binary.h"

#include "base/error.h"
#include "base/fd.h"
#include "base/quote.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct ck_binary_directory {
    bool known;
    struct ck_trusted place;
};

int ck_binary_search_init(struct ck_binary_search *search, const char *const *paths, uint32_t count)
{
    *search = (struct ck_binary_search){.paths = paths, .count = count};
    search->directories = calloc(count == 0 ? 1 : count, sizeof(*search->directories));
    return !search->directories ? -ENOMEM : 0;
}

void ck_binary_search_done(struct ck_binary_search *search)
{
    for (uint32_t i = 0; search->directories && i < search->count; i++)
        if (search->directories[i].known)
            ck_trust_done(&search->directories[i].place);
    free(search->directories);
    ck_pin_cache_done(&search->pins);
    *search = (struct ck_binary_search){0};
}

static bool unchanged(const struct ck_binary_directory *directory, const char *path)
{
    struct stat now;
    const struct stat *then = &directory->place.status;
    return directory->known && stat(path, &now) == 0 && now.st_dev == then->st_dev && now.st_ino == then->st_ino &&
           now.st_mode == then->st_mode && now.st_uid == then->st_uid;
}

static int refuse(struct choke_error *error, const char *directory, const char *why)
{
    return ck_error_set(error, CHOKE_DISALLOWED, EPERM, "search path directory '%s' %s", CK_QUOTE(directory), why);
}

/* The directory as a trusted place; -ENOENT if it does not exist. */
static int open_directory(struct ck_binary_search *search, uint32_t i, struct ck_identity root,
                          struct choke_error *error)
{
    struct ck_binary_directory *directory = &search->directories[i];
    if (!unchanged(directory, search->paths[i])) {
        if (directory->known)
            ck_trust_done(&directory->place);
        directory->known = false;
        int r = ck_trust_walk(search->paths[i], &directory->place, error);
        if (r < 0) {
            ck_trust_done(&directory->place);
            if (r == -EPERM && error)
                error->outcome = CHOKE_DISALLOWED;
            return r;
        }
        directory->known = true;
    }
    if (!S_ISDIR(directory->place.status.st_mode))
        return -ENOTDIR;
    if (directory->place.status.st_mode & (S_IWGRP | S_IWOTH))
        return refuse(error, search->paths[i], "may be written by group or others; fix it with chmod go-w");
    if (ck_trust_passes(&directory->place, root))
        return refuse(error, search->paths[i],
                      "is inside the root, where a tool could be planted; use a narrower root");
    return 0;
}

static int check_file(const struct stat *status, const char *path, struct choke_error *error)
{
    if (!S_ISREG(status->st_mode))
        return ck_error_set(error, CHOKE_SPAWN_FAILED, EACCES, "'%s' is not a regular file", CK_QUOTE(path));
    if (status->st_uid != 0 && status->st_uid != geteuid())
        return ck_error_set(error, CHOKE_DISALLOWED, EPERM, "'%s' belongs to another user", CK_QUOTE(path));
    if (status->st_mode & (S_IWGRP | S_IWOTH))
        return ck_error_set(error, CHOKE_DISALLOWED, EPERM,
                            "'%s' may be written by group or others; fix it with chmod go-w", CK_QUOTE(path));
    return 0;
}

/*
 * Takes an open file if it may be executed from here. An x bit for anyone is enough: whether it
 * counts for this process, only exec can say for certain.
 */
static int take_file(int *fd, bool readable, struct ck_binary *binary, struct choke_error *error)
{
    struct stat status;
    if (fstat(*fd, &status) < 0)
        return -errno;
    int r = check_file(&status, binary->path, error);
    if (r < 0)
        return r;
    if ((status.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)) == 0)
        return ck_error_set(error, CHOKE_SPAWN_FAILED, EACCES, "'%s' is not executable", CK_QUOTE(binary->path));
    char magic[2] = {0};
    binary->script = readable && pread(*fd, magic, sizeof(magic), 0) == 2 && magic[0] == '#' && magic[1] == '!';
    binary->version = ck_version_of(&status);
    binary->fd = ck_fd_take(fd);
    binary->readable = readable;
    return 0;
}

/*
 * Opens for reading, to see the first bytes. A file that is executable but not readable is opened
 * with O_PATH.
 */
static int open_file(int parent_fd, const char *name, struct ck_binary *binary, struct choke_error *error)
{
    CK_FD fd = openat(parent_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    bool readable = fd >= 0;
    if (!readable && errno == EACCES)
        fd = openat(parent_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    return fd < 0 ? -errno : take_file(&fd, readable, binary, error);
}

/*
 * A symlink, or a path that the entry gives, may lead elsewhere. Each component of it is checked on
 * every call.
 */
static int find_by_walk(struct ck_identity root, struct ck_binary *binary, struct choke_error *error)
{
    struct ck_trusted place;
    int r = ck_trust_walk(binary->path, &place, error);
    if (r == -EPERM && error && error->outcome == CHOKE_NONE)
        error->outcome = CHOKE_DISALLOWED;
    if (r == 0 && ck_trust_passes(&place, root))
        r = ck_error_set(error, CHOKE_DISALLOWED, EPERM, "'%s' leads into the root, where a tool could be planted",
                         CK_QUOTE(binary->path));
    if (r == 0)
        r = open_file(place.parent_fd, place.name, binary, error);
    ck_trust_done(&place);
    return r;
}

static int find_in(const struct ck_binary_directory *directory, const char *name, struct ck_identity root,
                   struct ck_binary *binary, struct choke_error *error)
{
    int r = open_file(directory->place.fd, name, binary, error);
    return r == -ELOOP ? find_by_walk(root, binary, error) : r; /* O_NOFOLLOW met a link */
}

static bool absent(int r)
{
    return r == -ENOENT || r == -ENOTDIR;
}

static int find_in_search_path(struct ck_binary_search *search, const char *name, struct ck_identity root,
                               struct ck_binary *binary, struct choke_error *error)
{
    for (uint32_t i = 0; i < search->count; i++) {
        struct choke_error found = {0};
        int length = snprintf(binary->path, sizeof(binary->path), "%s/%s", search->paths[i], name);
        int r = length >= (int)sizeof(binary->path) ? -ENAMETOOLONG : open_directory(search, i, root, &found);
        if (r == 0)
            r = find_in(&search->directories[i], name, root, binary, &found);
        if (r == 0)
            return 0;
        if (absent(r) && found.outcome == CHOKE_NONE)
            continue;
        if (found.outcome == CHOKE_NONE)
            (void)ck_error_set(&found, CHOKE_SPAWN_FAILED, -r, "cannot look for '%s' in '%s': %s", CK_QUOTE(name),
                               CK_QUOTE(search->paths[i]), strerror(-r));
        if (error)
            *error = found;
        return r;
    }
    return ck_error_set(error, CHOKE_TOOL_MISSING, ENOENT, "'%s' is allowed but not installed", CK_QUOTE(name));
}

static int find_at_path(const struct ck_binary_wanted *wanted, struct ck_identity root, struct ck_binary *binary,
                        struct choke_error *error)
{
    struct choke_error found = {0};
    int length = snprintf(binary->path, sizeof(binary->path), "%s", wanted->path);
    int r = length >= (int)sizeof(binary->path) ? -ENAMETOOLONG : find_by_walk(root, binary, &found);
    if (absent(r) && found.outcome == CHOKE_NONE)
        (void)ck_error_set(&found, CHOKE_TOOL_MISSING, -r, "'%s' is allowed but not installed at '%s'",
                           CK_QUOTE(wanted->name), CK_QUOTE(wanted->path));
    else if (r < 0 && found.outcome == CHOKE_NONE)
        (void)ck_error_set(&found, CHOKE_SPAWN_FAILED, -r, "cannot open '%s': %s", CK_QUOTE(wanted->path),
                           strerror(-r));
    if (r < 0 && error)
        *error = found;
    return r;
}

static int check_digest(struct ck_binary_search *search, const char *sha256, struct ck_binary *binary,
                        struct choke_error *error)
{
    if (!binary->readable)
        return ck_error_set(error, CHOKE_DISALLOWED, EACCES,
                            "'%s' may be executed but not read, so its sha256 cannot be checked; make it readable",
                            CK_QUOTE(binary->path));
    int r = ck_pin_check(&search->pins, binary->path, sha256, binary->script, &binary->fd, error);
    binary->copied = r == 0 && binary->script;
    return r;
}

int ck_binary_find(struct ck_binary_search *search, const struct ck_binary_wanted *wanted, struct ck_identity root,
                   struct ck_binary *ret_binary, enum ck_binary_rule *ret_rule, struct choke_error *error)
{
    enum ck_binary_rule rule = wanted->path ? CK_BINARY_RULE_PATH : CK_BINARY_RULE_SEARCH_PATH;
    ret_binary->fd = -1;
    ret_binary->script = ret_binary->copied = ret_binary->readable = false;
    int r = wanted->path ? find_at_path(wanted, root, ret_binary, error)
                         : find_in_search_path(search, wanted->name, root, ret_binary, error);
    if (r == 0 && wanted->sha256) {
        rule = CK_BINARY_RULE_SHA256;
        r = check_digest(search, wanted->sha256, ret_binary, error);
    }
    if (r < 0)
        ck_fd_close(&ret_binary->fd);
    if (r < 0 && ret_rule)
        *ret_rule = rule;
    return r;
}

int ck_binary_directory(const char *path, struct ck_identity root, int *ret_fd, struct choke_error *error)
{
    struct stat status;
    struct ck_trusted place;
    if (path[0] != '/' || stat(path, &status) < 0 || !S_ISDIR(status.st_mode))
        return -ENOTDIR;
    int r = ck_trust_walk(path, &place, error);
    if (r == 0 && (ck_trust_passes(&place, root) || (place.status.st_mode & (S_IWGRP | S_IWOTH)) != 0))
        r = ck_error_set(error, CHOKE_DISALLOWED, EPERM,
                         "'%s' is inside the root or writable by others, so its code cannot be trusted",
                         CK_QUOTE(path));
    if (r == 0)
        *ret_fd = ck_fd_take(&place.fd);
    ck_trust_done(&place);
    if (r == -EPERM && error->outcome == CHOKE_NONE)
        error->outcome = CHOKE_DISALLOWED;
    return r;
}
