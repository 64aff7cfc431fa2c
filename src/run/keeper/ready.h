/*
 * ready.h - the process of the next tool of a warden without a jail, created before its plan comes
 * (docs/adr/0155).
 *
 * It shares the warden's memory and descriptors. It takes the steps that need no plan and receives the
 * plan itself (receiver.h). Then it takes its own copy of the descriptors, says so, and executes the
 * tool: one process less has to be woken, and none has to be created.
 *
 *  Must not change the memory of the warden after it said that it has taken the plan, except its
 *           failed_ fields; nor use its descriptors.
 */
#ifndef CK_RUN_KEEPER_READY_H
#define CK_RUN_KEEPER_READY_H

#include "run/keeper/child.h"
#include "run/keeper/keeper.h"
#include "run/keeper/receiver.h"

#include <stdbool.h>
#include <stdint.h>

struct ck_ready {
    int32_t pid;  /* 0: none */
    int woken_fd; /* an eventfd; -1: there is none, and no process is made */
    bool useless; /* it could not get its own copy of the descriptors: no other is made */
    uint64_t until_ns;
    uint64_t seal_key;
    struct ck_receiver receiver;
    struct ck_child child;
};

void ck_ready_init(struct ck_ready *ready, int socket_fd, unsigned char *inbox);

/*
 * Creates the process. like: a plan that has just been run; seal_key: of the warden's seal, if that is
 * sealed. Without a process everything works as before.
 */
void ck_ready_make(struct ck_ready *ready, const struct ck_wire_plan *like, uint64_t seal_key);

/*
 * Waits until it receives something, ends, or was not needed for a while. After CK_RECEIVER_RUNS the
 * process is the caller's, who sets pid to 0. ret_fds: of the message.
 */
enum ck_receiver_outcome ck_ready_wait(struct ck_ready *ready, const struct ck_keeper_env *env,
                                       int ret_fds[CK_WIRE_FDS_MAX], unsigned *ret_count);

#endif
