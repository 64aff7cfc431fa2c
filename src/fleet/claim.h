/*
 * claim.h - who works on a repository of a fleet, so that no two do.
 *
 * claims/NAME~1 is a symlink that leads nowhere; its text is the holder. It is made in one step, and
 * only if it is not there, on every file system that several machines share. A holder that has died
 * leaves its claim. Nobody removes or replaces it: the next one makes claims/NAME~2, which again
 * only one can. So the holder is the one of the highest number, and the number says how many have
 * tried. Claims are removed only when the repository has its result.
 *
 * A claim is stale when its holder is gone, never by its age: clocks differ.
 *   local MACHINE BOOT PIDNS PID START   a process; it can be looked up on its own machine only
 *   slurm JOB TASK RESTARTS              a task of Slurm
 *   index JOB INDEX PROCESS              a pod of a Kubernetes job; the same index is its successor. PROCESS is random: nothing
 *                                        tells a pod how many there were before it
 */
#ifndef CK_FLEET_CLAIM_H
#define CK_FLEET_CLAIM_H

#include <stdbool.h>
#include <stddef.h>

#define CK_CLAIM_HOLDER_SIZE 256
#define CK_CLAIM_TRIES_MAX 1000

enum ck_claim_state {
    CK_CLAIM_TAKEN, /* by the caller */
    CK_CLAIM_HELD   /* by another that lives, or of which that is not known */
};

struct ck_claims {
    int fd; /* the directory; not owned */
    char self[CK_CLAIM_HOLDER_SIZE];
    /* Is this holder known to be gone? NULL: nothing is known but what can be looked up here. */
    bool (*is_gone)(void *data, const char *holder);
    void *data;
};

/* The holder that this process is. */
void ck_claim_self_local(char dst[CK_CLAIM_HOLDER_SIZE]);
void ck_claim_self_task(char dst[CK_CLAIM_HOLDER_SIZE], const char *kind, const char *job, const char *task,
                        const char *restarts);

/*
 * Returns a state or a negative errno. *ret_lost: how many tasks have died with this repository
 * before. A process that was killed does not count: its user knows why.
 */
int ck_claim_take(const struct ck_claims *claims, const char *name, unsigned *ret_lost);

/* After the result is written. Failures are ignored: a result counts more than a claim. */
void ck_claim_release(const struct ck_claims *claims, const char *name);

/* The text of the current holder; false: there is none. */
bool ck_claim_holder(const struct ck_claims *claims, const char *name, char dst[CK_CLAIM_HOLDER_SIZE]);

/* Does this holder still work, as far as it can be known here? */
bool ck_claim_is_live(const struct ck_claims *claims, const char *holder);

/* Is anything held by somebody who still works? */
bool ck_claim_any_live(const struct ck_claims *claims);

#endif
