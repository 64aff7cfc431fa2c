/*
 * address.h - which addresses a name may lead to.
 *
 * Every address that a lookup gives, and every address that a client writes itself, is looked at before it is dialled.
 * Only what is public passes; the rest has to be listed as an address or network.
 */
#ifndef CK_EGRESS_ADDRESS_H
#define CK_EGRESS_ADDRESS_H

#include "base/destination.h"

/* NULL for a public address of a host, else what it is: "a loopback address". */
const char *ck_address_why_refused(const struct ck_address *address);

#endif
