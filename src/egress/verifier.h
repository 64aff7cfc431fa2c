/*
 * verifier.h - verifies the certificates of a host: BearSSL's own rules, and what each certificate may be used for.
 *
 * An authority for mail, or for certain names, must not vouch for every host, but BearSSL reads neither extension.
 */
#ifndef CK_EGRESS_VERIFIER_H
#define CK_EGRESS_VERIFIER_H

#include "egress/certificate.h"

#include <bearssl.h>

struct ck_authorities;

struct ck_verifier {
    const br_x509_class *vtable; /* first: BearSSL passes a pointer to it */
    br_x509_minimal_context minimal;
    uint8_t *der; /* of the certificate that arrives; NULL: none, or it is not looked at */
    size_t length, size;
    enum ck_certificate_use use; /* the first one that is not for hosts */
};

void ck_verifier_init(struct ck_verifier *verifier, const struct ck_authorities *authorities);
void ck_verifier_done(struct ck_verifier *verifier); /* zero-filled is fine */

#endif
