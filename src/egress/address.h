/*
 * address.h - which addresses a name may resolve to.
 *
 * Every address that a look-up returns, and every address that a client writes itself, is checked
 * before it is dialled. Only public addresses are allowed; any other must be listed as an address
 * or network.
 */
#ifndef CK_EGRESS_ADDRESS_H
#define CK_EGRESS_ADDRESS_H

#include "base/destination.h"

/* NULL for a public address of a host, else what it is: "a loopback address". */
const char *ck_address_why_refused(const struct ck_address *address);

#endif
