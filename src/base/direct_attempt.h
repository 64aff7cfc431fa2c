/*
 * direct_attempt.h - an attempt to leave a jail without its gate, as the first process of the run
 * reports it to the caller.
 *
 * The record comes from our own process, which read its content from the tool's memory. So the
 * address is correct unless the tool changed it while it waited. What is refused does not depend on
 * it.
 */
#ifndef CK_BASE_DIRECT_ATTEMPT_H
#define CK_BASE_DIRECT_ATTEMPT_H

#include <stdint.h>

/*
 * The maximum of different attempts that are reported, and one more record that says that there
 * were others. All of them fit into one page of a pipe.
 */
#define CK_DIRECT_ATTEMPTS_MAX 64

enum ck_direct_attempt_kind {
    CK_DIRECT_ATTEMPT_CONNECTION = 1, /* TCP, to an address that is not the gate's */
    CK_DIRECT_ATTEMPT_SOCKET,         /* of a kind that does not exist inside */
    CK_DIRECT_ATTEMPT_MORE,           /* from here on nothing is reported */
};

/* Zero where something does not apply. */
struct ck_direct_attempt {
    uint32_t kind;
    uint32_t family;     /* AF_*; of an address AF_INET or AF_INET6 */
    uint32_t type;       /* of a socket: SOCK_*, without flags */
    uint32_t protocol;   /* of a socket */
    uint32_t port;       /* of an address */
    uint8_t address[16]; /* in network order; of AF_INET the first 4 */
};

#endif
