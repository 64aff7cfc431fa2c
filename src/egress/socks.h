/*
 * socks.h - SOCKS5 (RFC 1928) from the side of the proxy: CONNECT only, without authentication.
 *
 * Both functions are shown what has been read so far. They return how many bytes the message has, 0 where it is not
 * complete yet, or -EPROTO with the fault.
 */
#ifndef CK_EGRESS_SOCKS_H
#define CK_EGRESS_SOCKS_H

#include "base/destination.h"
#include "egress/answer.h"

#include <sys/types.h>

/* What a client begins with; every method but "none" is left alone. */
ssize_t ck_socks_greeting(const uint8_t *data, size_t length, struct ck_fault *ret_fault);

/* With a fault *ret_host is as it was, or what could be read of the request's target. */
ssize_t ck_socks_request(const uint8_t *data, size_t length, struct ck_hostname *ret_host, uint16_t *ret_port,
                         struct ck_fault *ret_fault);

#endif
