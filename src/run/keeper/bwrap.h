/* bwrap.h - the process that becomes bwrap, from its creation to exec. */
#ifndef CK_RUN_KEEPER_BWRAP_H
#define CK_RUN_KEEPER_BWRAP_H

#include "run/keeper/child.h"
#include "run/keeper/init.h"

struct ck_bwrap_child {
    struct ck_child *child; /* argv, environment and executable are those of bwrap */
    const int *bwrap_fds;   /* CK_WIRE_BWRAP_FDS of them */
    int status_fd;          /* a struct ck_init_status, and after it room for the messages of bwrap */
    int gate_fd;            /* with egress: a socket to the caller; or -1 */
};

/* argument is a struct ck_bwrap_child; otherwise as ck_child_main. */
__attribute__((noreturn)) void ck_bwrap_main(void *argument);

/*
 * Makes a file for the status of init, which is another program. A descriptor or a negative errno.
 */
long ck_bwrap_make_status(struct ck_init_status **ret_status);

#endif
