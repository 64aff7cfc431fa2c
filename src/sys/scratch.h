/*
 * scratch.h - one directory of the host's for each run in a jail that cannot make one of its own (R31).
 *
 * They lie in a directory that only the caller can enter: $XDG_RUNTIME_DIR/chokepoint, or /tmp/chokepoint-UID. Each is
 * locked (flock) for as long as its run lasts, so one that nobody has locked is left over from a caller that was killed,
 * and is removed by the next that sweeps.
 *
 *   1. ck_scratch_name          chooses a path; nothing is written
 *   2. ck_scratch_make          makes it
 *   3. ck_scratch_remove_step   removes it with all that is in it, slice by slice; or
 *      ck_scratch_release         leaves what is left of it to a sweep
 *   4. ck_scratch_pool_sweep       removes what nobody has locked, slice by slice
 */
#ifndef CK_SYS_SCRATCH_H
#define CK_SYS_SCRATCH_H

#include "base/arena.h"
#include "chokepoint.h"
#include "sys/clear.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct ck_scratch_pool;

struct ck_scratch {
    struct ck_scratch_pool *scratch_pool; /* NULL: none */
    int fd;
    pid_t owner;                  /* a fork of the caller leaves it alone */
    struct ck_clearing *clearing; /* NULL: nothing has been removed of it */
    char name[NAME_MAX + 1];
};

/* Where the directories are; lives as long as a context. */
struct ck_scratch_pool {
    int parent_fd; /* -1: not made yet */
    pid_t owner;
    bool leftover;           /* something may be there to be swept */
    bool postponed;          /* the same, but somebody else is at work there: after the next directory is made */
    DIR *sweeping;           /* the sweep that is under way; NULL: none */
    struct ck_scratch found; /* what it removes now */
    char parent[PATH_MAX];
};

void ck_scratch_pool_init(struct ck_scratch_pool *scratch_pool);

/* Sweeps once more, for a fifth of a second at most, if there may be something; the rest is for the next context. */
void ck_scratch_pool_done(struct ck_scratch_pool *scratch_pool);

/* "PARENT/chokepoint-LABEL-" and sixteen digits that nobody can guess; NULL: no memory. label has no '/'. */
const char *ck_scratch_name(struct ck_scratch_pool *scratch_pool, const char *label, struct ck_arena *arena);

/* 0, or a negative errno and *error (CHOKE_SPAWN_FAILED). The path is from ck_scratch_name. */
int ck_scratch_make(struct ck_scratch_pool *scratch_pool, const char *path, struct ck_scratch *ret,
                    struct choke_error *error);

/*
 * True when it is gone, or what is left cannot be removed. Zero-filled, or removed already: nothing to do.
 */
bool ck_scratch_remove_step(struct ck_scratch *scratch, struct ck_slice *slice);

/* Unlocks it, with all that is in it. The caller sets leftover where the sweep is to be this context's. */
void ck_scratch_release(struct ck_scratch *scratch);

/* All of it at once, for a tenth of a second at most: for one that no tool has written into. */
void ck_scratch_remove(struct ck_scratch *scratch);

/* True when there is nothing to be swept any more, or it has to be put off. */
bool ck_scratch_pool_sweep(struct ck_scratch_pool *scratch_pool, struct ck_slice *slice);

/* Empties an open directory. 0; -ETIME at the deadline; another negative errno where something cannot be removed. */
int ck_scratch_clear(int top_fd, uint64_t deadline_ns);

#endif
