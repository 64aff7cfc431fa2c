/* warden.h - one run at a time, from the plan to the report. */
#ifndef CK_RUN_KEEPER_WARDEN_H
#define CK_RUN_KEEPER_WARDEN_H

#include "run/keeper/keeper.h"
#include "run/keeper/limiter.h"

#include <stdbool.h>

struct ck_warden_start {
    int socket_fd;
    int cgroup_fd; /* the directory that the warden was created in, or -1 */
    bool jailed;   /* its runs are in a native jail */
    int jail_fd;   /* the program of that jail; -1: it comes with CK_WIRE_JAIL */
    struct ck_warden_cgroups groups;
};

/* Serves plans from socket_fd until its other end is closed or the caller is dead, then exits. */
__attribute__((noreturn)) void ck_warden_main(const struct ck_keeper_env *env, const struct ck_warden_start *start);

#endif
