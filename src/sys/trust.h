/*
 * trust.h - reach a file by a way that nobody else can redirect.
 *
 * The path is walked one component at a time, links included. Every directory on the way, and every link and file in
 * it, must belong to root or to the caller, and must not be writable by group or others; a sticky directory such as
 * /tmp passes, since others cannot replace what is ours in it. Whoever could change the answer afterwards is
 * therefore root or the caller, so the answer stays good.
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
 * Where a walk came through: the identity of every directory, the last one included if the path names a directory.
 * What ".." left again does not count; where a link was followed, the directory it lies in does.
 */
struct ck_trusted {
    int fd;        /* O_PATH of what was named; -1 when not reached */
    int parent_fd; /* O_PATH of the directory it lies in */
    char name[NAME_MAX + 1];
    struct stat status;
    struct ck_identity chain[CK_TRUST_CHAIN_MAX];
    size_t chain_length;
};

/*
 * path must be absolute. Returns 0; -ENOENT and the like as openat gives them; -EPERM where the way is not to be
 * trusted, with the words in *error (outcome left CHOKE_NONE for the caller to set). ret is done with ck_trust_done,
 * also after a failure.
 */
int ck_trust_walk(const char *path, struct ck_trusted *ret, struct choke_error *error);
void ck_trust_done(struct ck_trusted *trusted);

/* Is the directory one of those that the walk came through? */
bool ck_trust_passes(const struct ck_trusted *trusted, struct ck_identity directory);

int ck_trust_identity_of(int fd, struct ck_identity *ret_identity);

#endif
