/*
 * direct_attempt.h - an attempt to leave a jail by another way than its gate, as the first process of the run tells the caller.
 *
 * Such a record is the word of our own process, which read what stands in it from the tool's memory: which address was
 * asked for is true unless the tool changed it while it waited. What is refused does not depend on it.
 */
#ifndef CK_BASE_DIRECT_ATTEMPT_H
#define CK_BASE_DIRECT_ATTEMPT_H

#include <stdint.h>

/* So many different ones are told, and one more that says that there were others: all of it fits into one page of a pipe. */
#define CK_DIRECT_ATTEMPTS_MAX 64

enum ck_direct_attempt_kind {
    CK_DIRECT_ATTEMPT_CONNECTION = 1, /* of TCP, to an address that is not the gate's */
    CK_DIRECT_ATTEMPT_SOCKET,         /* of a kind that there is none of inside */
    CK_DIRECT_ATTEMPT_MORE,           /* from here on nothing is told */
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
