/*
 * authorities.h - the certificates that certificates of hosts are verified with, from PEM.
 *
 * Of an authority its name and key count. A certificate that is not of an authority is trusted as
 * that of its own host. What BearSSL does not understand is left out: a host that needs it is
 * refused.
 */
#ifndef CK_EGRESS_AUTHORITIES_H
#define CK_EGRESS_AUTHORITIES_H

#include <bearssl.h>
#include <stddef.h>

#define CK_AUTHORITIES_MAX 4096

struct ck_authorities {
    br_x509_trust_anchor *items;
    size_t count;
};

/*
 * Reads the certificates of a text in PEM; what is around them is skipped. Returns 0; -EINVAL: there
 * is none; -E2BIG; -ENOMEM.
 */
int ck_authorities_read(const char *pem, size_t length, struct ck_authorities **ret_authorities);
void ck_authorities_free(struct ck_authorities *authorities); /* NULL is fine */

#endif
