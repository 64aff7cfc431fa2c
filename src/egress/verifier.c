/* verifier.c - see verifier.h. */
#include "egress/verifier.h"

#include "base/clock.h"
#include "egress/authorities.h"

#include <stdlib.h>
#include <string.h>

#define DAYS_BEFORE_1970 719528 /* from the year 0, as BearSSL counts */
#define SECONDS_PER_DAY 86400
#define RSA_BYTES_MIN 256
#define CERTIFICATE_MAX ((size_t)64 * 1024)

/* BearSSL passes the address of the first member. */
static struct ck_verifier *of(const br_x509_class **context)
{
    return (struct ck_verifier *)(void *)context;
}

static void start_chain(const br_x509_class **context, const char *host)
{
    struct ck_verifier *verifier = of(context);
    verifier->use = CK_CERTIFICATE_HOSTS;
    br_x509_minimal_vtable.start_chain(&verifier->minimal.vtable, host);
}

/* After the authority is found, or a fault, what follows is not used. */
static void start_cert(const br_x509_class **context, uint32_t length)
{
    struct ck_verifier *verifier = of(context);
    ck_verifier_done(verifier);
    if (verifier->minimal.err == 0) {
        verifier->der = length <= CERTIFICATE_MAX ? malloc(length > 0 ? length : 1) : NULL;
        verifier->size = length;
        if (!verifier->der)
            verifier->use = CK_CERTIFICATE_UNREADABLE;
    }
    br_x509_minimal_vtable.start_cert(&verifier->minimal.vtable, length);
}

static void append(const br_x509_class **context, const unsigned char *bytes, size_t length)
{
    struct ck_verifier *verifier = of(context);
    if (verifier->der && length <= verifier->size - verifier->length) {
        memcpy(verifier->der + verifier->length, bytes, length);
        verifier->length += length;
    }
    br_x509_minimal_vtable.append(&verifier->minimal.vtable, bytes, length);
}

static void end_cert(const br_x509_class **context)
{
    struct ck_verifier *verifier = of(context);
    br_x509_minimal_vtable.end_cert(&verifier->minimal.vtable);
    if (verifier->der && verifier->use == CK_CERTIFICATE_HOSTS)
        verifier->use = ck_certificate_read_use(verifier->der, verifier->length);
    ck_verifier_done(verifier);
}

static unsigned end_chain(const br_x509_class **context)
{
    struct ck_verifier *verifier = of(context);
    unsigned error = br_x509_minimal_vtable.end_chain(&verifier->minimal.vtable);
    if (error != 0)
        verifier->use = CK_CERTIFICATE_HOSTS; /* the other fault is the one to name */
    return error == 0 && verifier->use != CK_CERTIFICATE_HOSTS ? BR_ERR_X509_FORBIDDEN_KEY_USAGE : error;
}

static const br_x509_pkey *get_pkey(const br_x509_class *const *context, unsigned *usages)
{
    const struct ck_verifier *verifier = (const struct ck_verifier *)(const void *)context;
    return br_x509_minimal_vtable.get_pkey(&verifier->minimal.vtable, usages);
}

void ck_verifier_init(struct ck_verifier *verifier, const struct ck_authorities *authorities)
{
    static const br_x509_class class = {.context_size = sizeof(struct ck_verifier),
                                        .start_chain = start_chain,
                                        .start_cert = start_cert,
                                        .append = append,
                                        .end_cert = end_cert,
                                        .end_chain = end_chain,
                                        .get_pkey = get_pkey};
    br_x509_minimal_context *minimal = &verifier->minimal;
    struct timespec now = ck_clock_real_time();
    verifier->vtable = &class;
    br_x509_minimal_init(minimal, &br_sha256_vtable, authorities->items, authorities->count);
    br_x509_minimal_set_hash(minimal, br_sha256_ID, &br_sha256_vtable);
    br_x509_minimal_set_hash(minimal, br_sha384_ID, &br_sha384_vtable);
    br_x509_minimal_set_hash(minimal, br_sha512_ID, &br_sha512_vtable);
    br_x509_minimal_set_rsa(minimal, br_rsa_pkcs1_vrfy_get_default());
    br_x509_minimal_set_ecdsa(minimal, br_ec_get_default(), br_ecdsa_vrfy_asn1_get_default());
    br_x509_minimal_set_minrsa(minimal, RSA_BYTES_MIN);
    br_x509_minimal_set_time(minimal, (uint32_t)(now.tv_sec / SECONDS_PER_DAY + DAYS_BEFORE_1970),
                             (uint32_t)(now.tv_sec % SECONDS_PER_DAY));
}

void ck_verifier_done(struct ck_verifier *verifier)
{
    free(verifier->der);
    verifier->der = NULL;
    verifier->length = verifier->size = 0;
}
