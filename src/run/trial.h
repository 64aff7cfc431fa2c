/*
 * trial.h - does a layer hold on this machine? The keeper makes a child that finds out by doing.
 *
 * The host itself is never restricted: not for a moment, not in a thread.
 */
#ifndef CK_RUN_TRIAL_H
#define CK_RUN_TRIAL_H

#include "run/launcher.h"

/*
 * All trials side by side, bounded in time. error of each: 0 where it holds; ETIMEDOUT or ECONNRESET where the trial
 * did not answer; else why not. Returns 0, or a negative errno where there is no keeper to ask.
 */
int ck_trial_all(struct ck_launcher *launcher, struct ck_wire_tried ret_tried[CK_TRIALS]);

/*
 * Builds the jail of the program and tries to get out of it. ret_proved->held has a bit for each layer that held, error
 * is why the jail could not be built. Returns 0, or a negative errno where there is no keeper to ask.
 */
int ck_trial_jail(struct ck_launcher *launcher, int program_fd, struct ck_wire_proved *ret_proved);

/* The same for the native jail without namespaces; CK_WIRE_PROOF_FDS descriptors. */
int ck_trial_no_userns(struct ck_launcher *launcher, const int *fds, struct ck_wire_proved *ret_proved);

#endif
