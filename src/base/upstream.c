/* upstream.c - reads the URL and the credentials of a site's proxy. See upstream.h. */
#include "base/upstream.h"

#include "base/hex.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define SCHEME "http://"
#define SCHEME_LENGTH (sizeof(SCHEME) - 1)

static int refuse(const char **ret_reason, const char *reason)
{
    *ret_reason = reason;
    return -EINVAL;
}

/*
 * RFC 7617: the user name has no colon, and neither has a control character. Other bytes pass as
 * they are, because proxies do not agree on their encoding.
 */
int ck_upstream_set_credentials(struct ck_upstream *upstream, const char *text, size_t length, const char **ret_reason)
{
    if (!memchr(text, ':', length))
        return refuse(ret_reason, "has no ':' between user name and password");
    if (length > CK_UPSTREAM_CREDENTIALS_MAX)
        return refuse(ret_reason, "has credentials of more than 512 bytes");
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
            return refuse(ret_reason, "has a control character in its credentials");
    char *at = upstream->authorization;
    memcpy(at, CK_UPSTREAM_BASIC, sizeof(CK_UPSTREAM_BASIC) - 1);
    at += sizeof(CK_UPSTREAM_BASIC) - 1;
    ck_base64_encode(at, text, length);
    at[CK_BASE64_LENGTH(length)] = '\0';
    return 0;
}

/* "USER:PASSWORD" of a URL: a '%' and two digits are one byte. */
static int take_user(struct ck_upstream *upstream, const char *text, size_t length, const char **ret_reason)
{
    char plain[CK_UPSTREAM_CREDENTIALS_MAX + 1];
    size_t count = 0;
    for (size_t i = 0; i < length; i++) {
        bool escaped = text[i] == '%';
        int high = escaped && i + 2 < length ? ck_hex_value(text[i + 1]) : -1;
        int low = escaped && i + 2 < length ? ck_hex_value(text[i + 2]) : -1;
        if (escaped && (high < 0 || low < 0))
            return refuse(ret_reason, "has a '%' in its credentials that two hexadecimal digits do not follow");
        if (count == CK_UPSTREAM_CREDENTIALS_MAX)
            return refuse(ret_reason, "has credentials of more than 512 bytes");
        plain[count++] = escaped ? (char)(high << 4 | low) : text[i];
        i += escaped ? 2 : 0;
    }
    /* A user without a password is sent with an empty one. */
    if (!memchr(plain, ':', count) && count < CK_UPSTREAM_CREDENTIALS_MAX)
        plain[count++] = ':';
    int r = ck_upstream_set_credentials(upstream, plain, count, ret_reason);
    explicit_bzero(plain, sizeof(plain));
    return r;
}

/* "HOST:PORT"; an IPv6 address is in brackets. */
static int take_place(struct ck_upstream *upstream, const char *text, size_t length, const char **ret_reason)
{
    const char *colon = memrchr(text, ':', length);
    size_t host_length = colon ? (size_t)(colon - text) : length;
    if (!colon || (text[0] == '[' && text[host_length - 1] != ']'))
        return refuse(ret_reason, "has no port; write http://HOST:PORT");
    if (memchr(text, ':', host_length) && text[0] != '[')
        return refuse(ret_reason, "has an IPv6 address without brackets; write http://[ADDRESS]:PORT");
    upstream->port = ck_destination_parse_port(colon + 1, length - host_length - 1);
    if (upstream->port == 0)
        return refuse(ret_reason, "has no valid port; write http://HOST:PORT");
    return ck_destination_parse_host(text, host_length, &upstream->host, ret_reason);
}

int ck_upstream_parse(const char *text, bool may_have_user, struct ck_upstream *ret_upstream, const char **ret_reason)
{
    struct ck_upstream upstream = {0};
    const char *at = strncasecmp(text, SCHEME, SCHEME_LENGTH) == 0 ? text + SCHEME_LENGTH : text;
    if (at == text && (!may_have_user || strstr(text, "://")))
        return refuse(ret_reason, "does not begin with http://; no other kind of proxy is supported");
    size_t length = strlen(at);
    length -= length > 0 && at[length - 1] == '/' ? 1 : 0;
    const char *user_end = memrchr(at, '@', length);
    size_t user_length = user_end ? (size_t)(user_end - at) : 0;
    if (user_end && !may_have_user)
        return refuse(ret_reason, "has a user name; put USER:PASSWORD into a file and name it in 'credentials_file'");
    int r = user_end ? take_user(&upstream, at, user_length, ret_reason) : 0;
    size_t skipped = user_end ? user_length + 1 : 0;
    if (r == 0)
        r = take_place(&upstream, at + skipped, length - skipped, ret_reason);
    if (r == 0) {
        bool brackets = upstream.host.numeric && upstream.host.address.length == 16;
        (void)snprintf(upstream.text, sizeof(upstream.text), "http://%s%s%s:%u", brackets ? "[" : "",
                       upstream.host.text, brackets ? "]" : "", upstream.port);
        *ret_upstream = upstream;
    }
    explicit_bzero(&upstream, sizeof(upstream));
    return r;
}
