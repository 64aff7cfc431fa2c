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
    bool loopback; /* connections within the run's own loopback are no direct attempts */
    int report_fd; /* pipe to the caller; -1: nothing is reported, as in a proof */
    int listener_fd, ended_fd;
    uint32_t count; /* reports so far; above CK_DIRECT_ATTEMPTS_MAX the "more" report was sent as well */
    struct ck_direct_attempt seen[CK_DIRECT_ATTEMPTS_MAX];
};

/*
 * Applies the filter of `count` struct sock_filter to the calling process, with a listener for its
 * notifications. Only ck_direct_attempts_wait answers them. 0 or a negative errno: the kernel
 * cannot do it, or a filter of this process already has a listener.
 */
long ck_direct_attempts_begin(struct ck_direct_attempts *attempts, const void *code, uint32_t count);

/* Answers notifications until a child has ended. */
void ck_direct_attempts_wait(struct ck_direct_attempts *attempts);

#endif
