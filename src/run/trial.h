/*
 * trial.h - does a layer hold on this machine? A child of the keeper tries it.
 *
 * The host process itself is never restricted, not even for a moment or in one thread.
 */
#ifndef CK_RUN_TRIAL_H
#define CK_RUN_TRIAL_H

#include "run/launcher.h"

/*
 * Runs all trials in parallel, with a time limit. The error of each: 0 if the layer holds;
 * ETIMEDOUT or ECONNRESET if the trial did not answer; else the reason. Returns 0, or a negative
 * errno if there is no keeper to ask.
 */
int ck_trial_all(struct ck_launcher *launcher, struct ck_wire_tried ret_tried[CK_TRIALS]);

/*
 * Builds the jail of the program and tries to get out of it. ret_proved->held has a bit for each
 * layer that held; error says why the jail could not be built. Returns 0, or a negative errno if
 * there is no keeper to ask.
 */
int ck_trial_jail(struct ck_launcher *launcher, int program_fd, struct ck_wire_proved *ret_proved);

/* The same for the native jail without user namespaces, with CK_WIRE_PROOF_FDS descriptors. */
int ck_trial_no_userns(struct ck_launcher *launcher, const int *fds, struct ck_wire_proved *ret_proved);

#endif
