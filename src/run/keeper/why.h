/* why.h - everything else that a jail refuses, for a caller who wants to know why a tool failed. */
#ifndef CK_RUN_KEEPER_WHY_H
#define CK_RUN_KEEPER_WHY_H

#include "base/direct_attempt.h"
#include "run/keeper/exec_names.h"

#include <stdbool.h>

/* Whether the notification is about a file that is opened, changed or mapped as code. */
bool ck_why_concerns(const struct seccomp_notif *asked);

/* Names what will be refused. The call continues in any case. */
void ck_why_look(struct ck_exec_names *names, int listener_fd, const struct seccomp_notif *asked);

/* Names a direct attempt, which direct_attempts.c found. */
void ck_why_connection(struct ck_exec_names *names, const struct seccomp_notif *asked,
                       const struct ck_direct_attempt *attempt);

#endif
