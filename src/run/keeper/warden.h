/* warden.h - one run at a time, from the plan to the report. */
#ifndef CK_RUN_KEEPER_WARDEN_H
#define CK_RUN_KEEPER_WARDEN_H

#include "run/keeper/keeper.h"
#include "run/keeper/limiter.h"

struct ck_warden_start {
    int socket_fd;
    int cgroup_fd; /* the directory that the warden was created in, or -1 */
    int jail_fd;   /* the program of the native jail that its runs are in, or -1 */
    struct ck_warden_cgroups groups;
};

/* Serves plans from socket_fd until its other end is closed or the caller is dead, then exits. */
__attribute__((noreturn)) void ck_warden_main(const struct ck_keeper_env *env, const struct ck_warden_start *start);

#endif
