/*
 * scratch.h - one directory of the host's for each run in a jail that cannot make one of its own (R31).
 *
 * They lie in a directory that only the caller can enter: $XDG_RUNTIME_DIR/chokepoint, or /tmp/chokepoint-UID. Each is
 * locked (flock) for as long as its run lasts, so one that nobody has locked is left over from a caller that was killed,
 * and is removed by the next that makes one.
 *
 *   1. ck_scratch_name     chooses a path; nothing is written
 *   2. ck_scratch_make     makes it
 *   3. ck_scratch_remove   removes it with all that is in it
 */
#ifndef CK_SYS_SCRATCH_H
#define CK_SYS_SCRATCH_H

#include "base/arena.h"
#include "chokepoint.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Where the directories are; lives as long as a context. */
struct ck_scratches {
    int parent_fd; /* -1: not made yet */
    bool leftover; /* something may be there to be swept */
    char parent[PATH_MAX];
};

struct ck_scratch {
    struct ck_scratches *scratches; /* NULL: none */
    int fd;
    pid_t owner; /* a fork of the caller leaves it alone */
    char name[NAME_MAX + 1];
};

void ck_scratches_init(struct ck_scratches *scratches);

/* Sweeps once more, for as long as it takes, if a removal was cut short. */
void ck_scratches_done(struct ck_scratches *scratches);

/* "PARENT/chokepoint-LABEL-" and sixteen digits that nobody can guess; NULL: no memory. label has no '/'. */
const char *ck_scratch_name(struct ck_scratches *scratches, const char *label, struct ck_arena *arena);

/* 0, or a negative errno and *error (CHOKE_SPAWN_FAILED). The path is from ck_scratch_name. */
int ck_scratch_make(struct ck_scratches *scratches, const char *path, struct ck_scratch *ret,
                    struct choke_error *error);

/*
 * No link is followed, and no directory is too deep or too closed. What could not be removed in the time that a caller
 * can be kept waiting (half a second) is removed by the next sweep. Zero-filled, or removed already: nothing to do.
 */
void ck_scratch_remove(struct ck_scratch *scratch);

/*
 * Empties an open directory. 0; -ETIME at the deadline; another negative errno where something cannot be removed.
 * Needs three descriptors, whatever is in it.
 */
int ck_scratch_clear(int top_fd, uint64_t deadline_ns);

#endif
