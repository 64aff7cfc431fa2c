/*
 * socks.h - the server side of SOCKS5 (RFC 1928): CONNECT only, without authentication.
 *
 * Both functions get what has been read so far. They return the length of the message, 0 if it is
 * not complete, or -EPROTO and the fault.
 */
#ifndef CK_EGRESS_SOCKS_H
#define CK_EGRESS_SOCKS_H

#include "base/destination.h"
#include "egress/answer.h"

#include <sys/types.h>

/* The client's greeting. Every method but "none" is ignored. */
ssize_t ck_socks_greeting(const uint8_t *data, size_t length, struct ck_fault *ret_fault);

/* After a fault *ret_host is unchanged, or what could be read of the request's target. */
ssize_t ck_socks_request(const uint8_t *data, size_t length, struct ck_hostname *ret_host, uint16_t *ret_port,
                         struct ck_fault *ret_fault);

#endif
