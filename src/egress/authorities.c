/* authorities.c - see authorities.h. */
#include "egress/authorities.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_BYTES 4096 /* of the name in a certificate */

/* What the decoders have of the certificate that is read now. */
struct pem_reader {
    struct ck_authorities *authorities;
    br_pem_decoder_context pem;
    br_x509_decoder_context x509;
    unsigned char name[NAME_MAX_BYTES];
    size_t name_bytes;
    bool too_long; /* the name */
    bool spoiled;  /* more bytes than the certificate has */
    bool inside;   /* a certificate, and not another object */
};

static void take_name(void *data, const void *bytes, size_t length)
{
    struct pem_reader *reader = data;
    if (reader->too_long || length > sizeof(reader->name) - reader->name_bytes) {
        reader->too_long = true;
        return;
    }
    memcpy(reader->name + reader->name_bytes, bytes, length);
    reader->name_bytes += length;
}

static void take_der(void *data, const void *bytes, size_t length)
{
    struct pem_reader *reader = data;
    /* After its end, or an error, the decoder must not be given more: it would run without a program. */
    if (br_x509_decoder_last_error(&reader->x509) == BR_ERR_X509_TRUNCATED)
        br_x509_decoder_push(&reader->x509, bytes, length);
    else
        reader->spoiled = true;
}

static unsigned char *copy(const unsigned char *bytes, size_t length)
{
    unsigned char *copied = malloc(length > 0 ? length : 1);
    if (copied)
        memcpy(copied, bytes, length);
    return copied;
}

/* All of its parts are copied, or none is: -ENOMEM. */
static int copy_key(const br_x509_pkey *key, br_x509_pkey *ret_key)
{
    *ret_key = *key;
    if (key->key_type == BR_KEYTYPE_EC) {
        ret_key->key.ec.q = copy(key->key.ec.q, key->key.ec.qlen);
        return ret_key->key.ec.q ? 0 : -ENOMEM;
    }
    ret_key->key.rsa.n = copy(key->key.rsa.n, key->key.rsa.nlen);
    ret_key->key.rsa.e = copy(key->key.rsa.e, key->key.rsa.elen);
    if (ret_key->key.rsa.n && ret_key->key.rsa.e)
        return 0;
    free(ret_key->key.rsa.n);
    free(ret_key->key.rsa.e);
    return -ENOMEM;
}

static int add(struct ck_authorities *authorities, const br_x509_trust_anchor *anchor)
{
    /* A power of two is full. */
    if ((authorities->count & (authorities->count - 1)) == 0) {
        size_t room = authorities->count > 0 ? authorities->count * 2 : 1;
        br_x509_trust_anchor *items = reallocarray(authorities->items, room, sizeof(*items));
        if (!items)
            return -ENOMEM;
        authorities->items = items;
    }
    authorities->items[authorities->count++] = *anchor;
    return 0;
}

static void free_anchor(br_x509_trust_anchor *anchor)
{
    free(anchor->dn.data);
    if (anchor->pkey.key_type == BR_KEYTYPE_EC) {
        free(anchor->pkey.key.ec.q);
    } else {
        free(anchor->pkey.key.rsa.n);
        free(anchor->pkey.key.rsa.e);
    }
}

/* The certificate is complete. One that cannot be used is left out. */
static int take_certificate(struct pem_reader *reader)
{
    const br_x509_pkey *key = br_x509_decoder_get_pkey(&reader->x509);
    if (!key || reader->too_long || reader->spoiled)
        return 0;
    if (reader->authorities->count == CK_AUTHORITIES_MAX)
        return -E2BIG;
    br_x509_trust_anchor anchor = {.dn = {.data = copy(reader->name, reader->name_bytes), .len = reader->name_bytes},
                                   .flags = br_x509_decoder_isCA(&reader->x509) ? BR_X509_TA_CA : 0};
    if (!anchor.dn.data)
        return -ENOMEM;
    if (copy_key(key, &anchor.pkey) < 0) {
        free(anchor.dn.data);
        return -ENOMEM;
    }
    int r = add(reader->authorities, &anchor);
    if (r < 0)
        free_anchor(&anchor);
    return r;
}

static void begin_object(struct pem_reader *reader)
{
    reader->inside = strcmp(br_pem_decoder_name(&reader->pem), "CERTIFICATE") == 0;
    reader->name_bytes = 0;
    reader->too_long = reader->spoiled = false;
    br_x509_decoder_init(&reader->x509, take_name, reader);
    br_pem_decoder_setdest(&reader->pem, reader->inside ? take_der : NULL, reader);
}

static int read_all(struct pem_reader *reader, const char *pem, size_t length)
{
    int r = 0;
    br_pem_decoder_init(&reader->pem);
    while (r == 0 && length > 0) {
        size_t taken = br_pem_decoder_push(&reader->pem, pem, length);
        pem += taken;
        length -= taken;
        int event = br_pem_decoder_event(&reader->pem);
        if (event == BR_PEM_BEGIN_OBJ)
            begin_object(reader);
        else if (event == BR_PEM_END_OBJ && reader->inside)
            r = take_certificate(reader);
        else if (event == BR_PEM_ERROR)
            r = -EINVAL;
    }
    return r;
}

int ck_authorities_read(const char *pem, size_t length, struct ck_authorities **ret_authorities)
{
    struct pem_reader *reader = calloc(1, sizeof(*reader));
    struct ck_authorities *authorities = calloc(1, sizeof(*authorities));
    int r = reader && authorities ? 0 : -ENOMEM;
    if (r == 0) {
        reader->authorities = authorities;
        r = read_all(reader, pem, length);
    }
    if (r == 0 && authorities->count == 0)
        r = -EINVAL;
    free(reader);
    if (r < 0)
        ck_authorities_free(authorities);
    else
        *ret_authorities = authorities;
    return r;
}

void ck_authorities_free(struct ck_authorities *authorities)
{
    for (size_t i = 0; authorities && i < authorities->count; i++)
        free_anchor(&authorities->items[i]);
    if (authorities)
        free(authorities->items);
    free(authorities);
}
