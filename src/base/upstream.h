/*
 * upstream.h - the proxy of a site that the egress proxy reaches hosts through, if the policy has
 * `upstream`.
 *
 * Pure. A text may have a password in it, so reasons are static text and never quote it.
 */
#ifndef CK_BASE_UPSTREAM_H
#define CK_BASE_UPSTREAM_H

#include "base/base64.h"
#include "base/destination.h"

#define CK_UPSTREAM_CREDENTIALS_MAX 512 /* bytes of "USER:PASSWORD" */
#define CK_UPSTREAM_BASIC "Basic "
#define CK_UPSTREAM_AUTHORIZATION_SIZE \
    (sizeof(CK_UPSTREAM_BASIC) + CK_BASE64_LENGTH((size_t)CK_UPSTREAM_CREDENTIALS_MAX))
#define CK_UPSTREAM_TEXT_SIZE (CK_HOSTNAME_MAX + 32) /* "http://[]:65535", and a margin */

/* Zero-filled: there is no upstream, and hosts are dialled directly. */
struct ck_upstream {
    uint16_t port; /* 0: none */
    struct ck_hostname host;
    char text[CK_UPSTREAM_TEXT_SIZE]; /* "http://HOST:PORT", for messages and records */
    /* the value of Proxy-Authorization; "" for none: a secret */
    char authorization[CK_UPSTREAM_AUTHORIZATION_SIZE];
};

/*
 * "http://HOST:PORT", with a '/' at its end or without. A user name and a password before the host
 * are taken over only if may_have_user, and then "http://" may be missing. Returns 0, or -EINVAL and
 * in *ret_reason why it is not valid: text that can follow the name of a key or a variable.
 */
int ck_upstream_parse(const char *text, bool may_have_user, struct ck_upstream *ret_upstream, const char **ret_reason);

/* The same for "USER:PASSWORD". */
int ck_upstream_set_credentials(struct ck_upstream *upstream, const char *text, size_t length, const char **ret_reason);

#endif
