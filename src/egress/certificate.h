/*
 * certificate.h - what a certificate says that it may be used for. BearSSL verifies the rest, and does not read these.
 */
#ifndef CK_EGRESS_CERTIFICATE_H
#define CK_EGRESS_CERTIFICATE_H

#include <stddef.h>
#include <stdint.h>

enum ck_certificate_use {
    CK_CERTIFICATE_HOSTS = 0,
    CK_CERTIFICATE_OTHER_USES,    /* clients, mail or programs (RFC 5280, 4.2.1.12) */
    CK_CERTIFICATE_CERTAIN_NAMES, /* what it signs is limited to names, which are not compared (4.2.1.10) */
    CK_CERTIFICATE_UNREADABLE,
};

/* The certificate is in DER, of a host or of an authority. */
enum ck_certificate_use ck_certificate_read_use(const uint8_t *der, size_t length);

#endif
