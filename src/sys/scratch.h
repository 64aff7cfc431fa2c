/*
 * scratch.h - one host directory per run, for a jail that cannot make its own (R31).
 *
 * They are in a directory that only the caller can enter: $XDG_RUNTIME_DIR/chokepoint, or
 * /tmp/chokepoint-UID. Each is locked (flock) while its run lasts. So an unlocked one is left over
 * from a caller that was killed, and the next sweep removes it.
 *
 *   1. ck_scratch_name          chooses a path; nothing is written
 *   2. ck_scratch_make          makes the directory
 *   3. ck_scratch_remove_step   removes it and its content, slice by slice; or
 *      ck_scratch_release       leaves the rest of it to a sweep
 *   4. ck_scratch_pool_sweep    removes unlocked directories, slice by slice
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
    struct ck_clearing *clearing; /* NULL: nothing of it is removed yet */
    char name[NAME_MAX + 1];
};

/* The place of the directories. Lives as long as a context. */
struct ck_scratch_pool {
    int parent_fd; /* -1: not made yet */
    pid_t owner;
    bool leftover;           /* there may be something to sweep */
    bool postponed;          /* the same, but another process is making a directory: sweep after the next one is made */
    DIR *sweeping;           /* the current sweep; NULL: none */
    struct ck_scratch found; /* what it removes now */
    char parent[PATH_MAX];
};

void ck_scratch_pool_init(struct ck_scratch_pool *scratch_pool);

/*
 * Sweeps once more if needed, for at most a fifth of a second. The rest is left to the next
 * context.
 */
void ck_scratch_pool_done(struct ck_scratch_pool *scratch_pool);

/*
 * "PARENT/chokepoint-LABEL-" and sixteen random digits; NULL: no memory. label must not contain
 * '/'.
 */
const char *ck_scratch_name(struct ck_scratch_pool *scratch_pool, const char *label, struct ck_arena *arena);

/*
 * Returns 0, or a negative errno and *error (CHOKE_SPAWN_FAILED). The path is from ck_scratch_name.
 */
int ck_scratch_make(struct ck_scratch_pool *scratch_pool, const char *path, struct ck_scratch *ret,
                    struct choke_error *error);

/*
 * True if it is removed, or the rest cannot be removed. Does nothing if it is zero-filled or
 * already removed.
 */
bool ck_scratch_remove_step(struct ck_scratch *scratch, struct ck_slice *slice);

/*
 * Unlocks the directory and leaves its content. The caller sets leftover if this context should
 * sweep it.
 */
void ck_scratch_release(struct ck_scratch *scratch);

/*
 * Removes everything at once, for at most a tenth of a second: for a directory that no tool has
 * written to.
 */
void ck_scratch_remove(struct ck_scratch *scratch);

/* The same with a time of the caller's: for a directory that a tool may have filled. */
void ck_scratch_remove_within(struct ck_scratch *scratch, uint64_t span_ns);

/* True if nothing is left to sweep, or the sweep is postponed. */
bool ck_scratch_pool_sweep(struct ck_scratch_pool *scratch_pool, struct ck_slice *slice);

/*
 * Empties an open directory. Returns 0; -ETIME at the deadline; another negative errno if something
 * cannot be removed.
 */
int ck_scratch_clear(int top_fd, uint64_t deadline_ns);

#endif
