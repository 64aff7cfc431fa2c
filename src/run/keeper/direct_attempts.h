/* direct_attempts.h - which targets a tool with egress tried to reach without the gate. */
#ifndef CK_RUN_KEEPER_DIRECT_ATTEMPTS_H
#define CK_RUN_KEEPER_DIRECT_ATTEMPTS_H

#include "base/direct_attempt.h"
#include "run/keeper/init.h"

#include <stdbool.h>
#include <stdint.h>

struct ck_direct_attempts {
    struct ck_init_status *init_status;
    uint32_t gate_port;
    bool loopback;     /* connections within the run's own loopback are no direct attempts */
    uint64_t exec_key; /* with which our own calls are not notified; 0: they are not anyway */
    bool found_one;    /* the last notification was a direct attempt: `last` */
    struct ck_direct_attempt last;
    int report_fd;  /* pipe to the caller; -1: nothing is reported, as in a proof */
    uint32_t count; /* reports so far; above CK_DIRECT_ATTEMPTS_MAX the "more" report was sent as well */
    struct ck_direct_attempt seen[CK_DIRECT_ATTEMPTS_MAX];
};

struct seccomp_notif;

/*
 * The answer to a notification about a socket, which is reported if it is a direct attempt: 0, the
 * call continues; or a negative errno.
 */
int32_t ck_direct_attempts_judge(struct ck_direct_attempts *attempts, int listener_fd,
                                 const struct seccomp_notif *asked);

#endif
