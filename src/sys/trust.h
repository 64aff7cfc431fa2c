/*
 * trust.h - reaches a file by a path that no other user can redirect.
 *
 * The path is walked one component at a time, symlinks included. Every directory on the path, and
 * every symlink and file in it, must belong to root or to the caller, and must not be writable by
 * group or others. A sticky directory such as /tmp is accepted, since others cannot replace our
 * files in it. So only root or the caller could change the result later, and it stays valid.
 */
#ifndef CK_SYS_TRUST_H
#define CK_SYS_TRUST_H

#include "chokepoint.h"

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

struct ck_identity {
    dev_t device;
    ino_t inode;
};

#define CK_TRUST_CHAIN_MAX 128

/*
 * The path of a walk: the identity of every directory, with the last one if the path names a
 * directory. A directory that ".." left does not count. A directory that holds a followed symlink
 * does.
 */
struct ck_trusted {
    int fd;        /* O_PATH of the file; -1 if it was not reached */
    int parent_fd; /* O_PATH of its directory */
    char name[NAME_MAX + 1];
    struct stat status;
    struct ck_identity chain[CK_TRUST_CHAIN_MAX];
    size_t chain_length;
};

/*
 * path must be absolute. Returns 0; -ENOENT and others as openat returns them; -EPERM if the path
 * is not trusted, with a message in *error (its outcome stays CHOKE_NONE for the caller to set).
 * Call ck_trust_done on ret, also after a failure.
 */
int ck_trust_walk(const char *path, struct ck_trusted *ret, struct choke_error *error);

/* The same, but everything on the path must belong to root, whoever the caller is. */
int ck_trust_walk_of_root(const char *path, struct ck_trusted *ret, struct choke_error *error);
void ck_trust_done(struct ck_trusted *trusted);

/* Did the walk pass through the directory? */
bool ck_trust_passes(const struct ck_trusted *trusted, struct ck_identity directory);

/*
 * Could the file be changed by another name, which no walk along one path finds? Nobody but root makes
 * a second name of a file that belongs to root.
 */
static inline bool ck_trust_has_second_name(const struct stat *status)
{
    return S_ISREG(status->st_mode) && status->st_nlink > 1 && status->st_uid != 0;
}

int ck_trust_identity_of(int fd, struct ck_identity *ret_identity);

bool ck_trust_is_same(struct ck_identity a, struct ck_identity b);

/*
 * Is the directory the one that fd has open, or above it? 1 or 0, or a negative errno. Paths are not
 * compared: the same directory can have several (bind mounts, symlinks above).
 */
int ck_trust_is_above(int fd, struct ck_identity directory);

#endif
