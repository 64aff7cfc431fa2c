/* trial.h - tries one layer on this machine, in a child of the keeper. */
#ifndef CK_RUN_KEEPER_TRIAL_H
#define CK_RUN_KEEPER_TRIAL_H

#include <stdint.h>

struct ck_trial_start {
    int socket_fd; /* for the answer */
    int cgroup_fd; /* directory of the context, or -1 */
    long number;
    uint32_t trial; /* enum ck_trial */
};

/* argument is a struct ck_trial_start. */
__attribute__((noreturn)) void ck_trial_main(void *argument);

#endif
