/* prove_no_userns.h - tries the layers of the native jail without user namespaces. */
#ifndef CK_RUN_KEEPER_PROVE_NO_USERNS_H
#define CK_RUN_KEEPER_PROVE_NO_USERNS_H

#include "run/wire.h"

struct ck_prove_no_userns_start {
    int socket_fd;
    int fds[CK_WIRE_PROOF_FDS];
};

/* argument is a struct ck_prove_no_userns_start. */
__attribute__((noreturn)) void ck_prove_no_userns_main(void *argument);

#endif
