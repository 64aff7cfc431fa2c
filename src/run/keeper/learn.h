/* learn.h - what a tool executes in a run of `policy learn`. */
#ifndef CK_RUN_KEEPER_LEARN_H
#define CK_RUN_KEEPER_LEARN_H

#include "run/keeper/exec_names.h"

/* The kernel will execute what the call names: notes it. */
void ck_learn_execution(struct ck_exec_names *names, int listener_fd, const struct seccomp_notif *asked,
                        const struct ck_exec_names_target *target);

/* The kernel will map the file as code: notes it if it is beneath the root. */
void ck_learn_mapping(struct ck_exec_names *names, int listener_fd, const struct seccomp_notif *asked, int fd);

#endif
