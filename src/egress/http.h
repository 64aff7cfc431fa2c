/*
 * http.h - heads of HTTP/1.1 messages, read strictly as a proxy must.
 *
 * Anything that two programs could read differently is refused, because that is how a request is
 * smuggled past a check: lines that end in a bare CR or LF, folded lines, a space before a colon,
 * two lengths, any coding but chunked, NUL and control bytes, a user name in a URL, a Host that
 * differs from the target of the forwarded request.
 *
 * A head is read in three steps: ck_http_find_end until it is complete, ck_http_read_*, and
 * ck_http_forward_*. The last one writes the forwarded head, without hop-by-hop fields and fields
 * for the proxy alone.
 */
#ifndef CK_EGRESS_HTTP_H
#define CK_EGRESS_HTTP_H

#include "base/destination.h"
#include "base/upstream.h"
#include "egress/answer.h"

#include <sys/types.h>

#define CK_HEAD_MAX 32768  /* of a head as it is read */
#define CK_HEAD_ADDED 2048 /* how much a head can grow when it is forwarded */

struct ck_host_secrets;

enum ck_body_kind {
    CK_BODY_NONE = 0,
    CK_BODY_LENGTH, /* body_bytes of it */
    CK_BODY_CHUNKED,
    CK_BODY_UNTIL_CLOSE, /* responses only */
};

struct ck_http_request {
    bool connect;    /* a tunnel, and not a message to forward */
    bool inner;      /* sent inside a tunnel: its target is a path */
    bool head;       /* its response has no body */
    bool trace;      /* its response is the request itself */
    bool keep_alive; /* the client wants to keep the connection */
    unsigned minor;  /* HTTP/1.0 or 1.1 */
    enum ck_body_kind body;
    uint64_t body_bytes;
    struct ck_hostname host;
    uint16_t port;
    /* it goes over TLS, and gets the headers of this list for its host; NULL: neither */
    const struct ck_host_secrets *secrets;
};

struct ck_http_response {
    int status;
    bool interim;    /* 1xx: another head follows */
    bool keep_alive; /* the host wants to keep the connection */
    enum ck_body_kind body;
    uint64_t body_bytes;
};

/*
 * The length of the head at the beginning of data; 0 if its end has not arrived; -EPROTO if it
 * cannot be a head. *checked is how far an earlier call has looked, 0 at first.
 */
ssize_t ck_http_find_end(const char *data, size_t length, size_t *checked, struct ck_fault *ret_fault);

/*
 * Returns 0 or -EPROTO. For an invalid request ret_request has the target if that could be read;
 * otherwise its host is empty.
 */
int ck_http_read_request(const char *head, size_t length, struct ck_http_request *ret_request,
                         struct ck_fault *ret_fault);
/*
 * The same for a request in the clear inside a tunnel: its target is a path, and its Host must be that
 * of the tunnel. port is never 0.
 */
struct ck_http_tunnel {
    struct ck_hostname host;
    uint16_t port;
};
int ck_http_read_inner_request(const char *head, size_t length, const struct ck_http_tunnel *tunnel,
                               struct ck_http_request *ret_request, struct ck_fault *ret_fault);
int ck_http_read_response(const char *head, size_t length, bool of_head, struct ck_http_response *ret_response,
                          struct ck_fault *ret_fault);

/*
 * For a valid head: writes the forwarded head into a buffer of length + CK_HEAD_ADDED bytes.
 * Returns its length. For an upstream (or NULL) the target is a whole URL, and the credentials are
 * added. With secrets, fields of their names are left out; the secrets themselves are added later. The
 * host is told to close the connection after them (secured.c).
 */
size_t ck_http_forward_request(const char *head, size_t length, const struct ck_http_request *request,
                               const struct ck_upstream *upstream, char *buffer);
size_t ck_http_forward_response(const char *head, size_t length, bool keep_alive, char *buffer);

#endif
