/*
 * trust.c - walks a path one component at a time and checks each.
 *
 * The walk holds one directory at a time as an O_PATH descriptor, and opens the next component in
 * it without following symlinks. The text of a symlink is put before what is left to walk. So what
 * was checked is what is used, whatever is renamed during the walk.
 */
#include "sys/trust.h"

#include "base/error.h"
#include "base/fd.h"
#include "base/quote.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* The kernel's own limit on symlinks in one look-up (MAXSYMLINKS). */
#define LINKS_MAX 40
#define UP_MAX 4096 /* an end for the loop; real paths are shorter */

struct trust_walk {
    struct ck_trusted *found;
    const char *path; /* as the caller named it, for messages */
    char left[PATH_MAX];
    int directory_fd;
    bool sticky; /* others may write to the directory, but it is sticky */
    unsigned links;
    bool of_root; /* the caller is trusted no more than others */
    struct choke_error *error;
};

int ck_trust_identity_of(int fd, struct ck_identity *ret_identity)
{
    struct stat status;
    if (fstat(fd, &status) < 0)
        return -errno;
    *ret_identity = (struct ck_identity){.device = status.st_dev, .inode = status.st_ino};
    return 0;
}

bool ck_trust_is_same(struct ck_identity a, struct ck_identity b)
{
    return a.device == b.device && a.inode == b.inode;
}

int ck_trust_is_above(int fd, struct ck_identity directory)
{
    CK_FD at = openat(fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct ck_identity here = {0}, above = {0};
    int r = at < 0 ? -errno : ck_trust_identity_of(at, &here);
    for (int i = 0; r == 0 && i < UP_MAX; i++) {
        if (ck_trust_is_same(here, directory))
            return 1;
        int up = openat(at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (up < 0)
            return -errno;
        ck_fd_close(&at);
        at = up;
        r = ck_trust_identity_of(at, &above);
        /* Only "/" is its own parent. */
        if (r == 0 && ck_trust_is_same(here, above))
            return 0;
        here = above;
    }
    return r < 0 ? r : -ELOOP;
}

bool ck_trust_passes(const struct ck_trusted *trusted, struct ck_identity directory)
{
    for (size_t i = 0; i < trusted->chain_length; i++)
        if (ck_trust_is_same(trusted->chain[i], directory))
            return true;
    return false;
}

static bool owner_trusted(const struct trust_walk *walk, const struct stat *status)
{
    return status->st_uid == 0 || (!walk->of_root && status->st_uid == geteuid());
}

static int distrust(const struct trust_walk *walk, const char *name, const char *why)
{
    char shown[CK_QUOTE_MAX];
    return ck_error_set(walk->error, CHOKE_NONE, EPERM, "'%s' cannot be trusted: '%s' %s", CK_QUOTE(walk->path),
                        ck_quote(shown, sizeof(shown), name, strlen(name)), why);
}

/* Makes a directory the current one, if it is trusted. */
static int enter(struct trust_walk *walk, int *fd, const struct stat *status, const char *name)
{
    bool writable = (status->st_mode & (S_IWGRP | S_IWOTH)) != 0;
    bool sticky = (status->st_mode & S_ISVTX) != 0;
    if (!owner_trusted(walk, status))
        return distrust(walk, name, walk->of_root ? "does not belong to root" : "belongs to another user");
    if (writable && !sticky)
        return distrust(walk, name, "may be written by group or others; fix it with chmod go-w");
    struct ck_trusted *found = walk->found;
    /*
     * ".." removes the last directory from the chain. A symlink does not: its text was read there.
     */
    if (strcmp(name, "..") == 0 && found->chain_length > 1)
        found->chain_length -= 2;
    if (found->chain_length == CK_TRUST_CHAIN_MAX)
        return -ELOOP;
    found->chain[found->chain_length++] = (struct ck_identity){.device = status->st_dev, .inode = status->st_ino};
    ck_fd_close(&walk->directory_fd);
    walk->directory_fd = ck_fd_take(fd);
    walk->sticky = writable;
    return 0;
}

static int enter_slash(struct trust_walk *walk)
{
    CK_FD fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct stat status;
    if (fd < 0 || fstat(fd, &status) < 0)
        return -errno;
    return enter(walk, &fd, &status, "/");
}

/* Puts the symlink's text before what is left. */
static int follow(struct trust_walk *walk, int link_fd)
{
    char target[PATH_MAX];
    ssize_t length = readlinkat(link_fd, "", target, sizeof(target) - 1);
    if (length < 0)
        return -errno;
    target[length] = '\0';
    size_t rest = strlen(walk->left);
    if (++walk->links > LINKS_MAX)
        return -ELOOP;
    if ((size_t)length + 1 + rest + 1 > sizeof(walk->left))
        return -ENAMETOOLONG;
    memmove(walk->left + length + 1, walk->left, rest + 1);
    memcpy(walk->left, target, (size_t)length);
    walk->left[length] = '/';
    return target[0] == '/' ? enter_slash(walk) : 0;
}

/* Moves the first component of walk->left into name. Returns 1; 0 at the end. */
static int next_component(struct trust_walk *walk, char name[NAME_MAX + 1])
{
    size_t start = strspn(walk->left, "/");
    size_t length = strcspn(walk->left + start, "/");
    if (length == 0)
        return 0;
    if (length > NAME_MAX)
        return -ENAMETOOLONG;
    memcpy(name, walk->left + start, length);
    name[length] = '\0';
    memmove(walk->left, walk->left + start + length, strlen(walk->left + start + length) + 1);
    return 1;
}

static bool at_end(const struct trust_walk *walk)
{
    return walk->left[strspn(walk->left, "/")] == '\0';
}

/* Steps into one component. 1: continue; 0: the end of the path is reached. */
static int step(struct trust_walk *walk, const char *name)
{
    CK_FD fd = openat(walk->directory_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    struct stat status;
    if (fd < 0 || fstat(fd, &status) < 0)
        return -errno;
    if (walk->sticky && !owner_trusted(walk, &status))
        return distrust(walk, name, "belongs to another user, in a directory that others may write");
    if (S_ISLNK(status.st_mode)) {
        int r = follow(walk, fd);
        return r < 0 ? r : 1;
    }
    bool last = at_end(walk);
    if (!S_ISDIR(status.st_mode) && !last)
        return -ENOTDIR;
    if (last) {
        struct ck_trusted *found = walk->found;
        memcpy(found->name, name, strlen(name) + 1);
        found->status = status;
        /*
         * From 3 on: if the host program closed its standard descriptors, these must not take their
         * place.
         */
        found->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
        found->parent_fd = fcntl(walk->directory_fd, F_DUPFD_CLOEXEC, 3);
        if (found->fd < 0 || found->parent_fd < 0)
            return -errno;
    }
    int r = S_ISDIR(status.st_mode) ? enter(walk, &fd, &status, name) : 0;
    return r < 0 ? r : last ? 0 : 1;
}

static int walk_path(const char *path, bool of_root, struct ck_trusted *ret, struct choke_error *error)
{
    struct trust_walk walk = {.found = ret, .path = path, .directory_fd = -1, .of_root = of_root, .error = error};
    *ret = (struct ck_trusted){.fd = -1, .parent_fd = -1};
    size_t length = strlen(path);
    if (path[0] != '/')
        return -EINVAL;
    if (length >= sizeof(walk.left))
        return -ENAMETOOLONG;
    memcpy(walk.left, path, length + 1);
    int r = enter_slash(&walk);
    char name[NAME_MAX + 1];
    while (r >= 0 && (r = next_component(&walk, name)) > 0)
        if ((r = step(&walk, name)) <= 0)
            break;
    ck_fd_close(&walk.directory_fd);
    return r < 0 ? r : ret->fd < 0 ? -EISDIR : 0;
}

int ck_trust_walk(const char *path, struct ck_trusted *ret, struct choke_error *error)
{
    return walk_path(path, false, ret, error);
}

int ck_trust_walk_of_root(const char *path, struct ck_trusted *ret, struct choke_error *error)
{
    return walk_path(path, true, ret, error);
}

void ck_trust_done(struct ck_trusted *trusted)
{
    ck_fd_close(&trusted->fd);
    ck_fd_close(&trusted->parent_fd);
}
