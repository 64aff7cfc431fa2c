/*
 * http.h - heads of HTTP/1.1 messages as a proxy has to read them: strictly.
 *
 * What two programs could read differently is refused, for that is how a request is smuggled past the one that checks:
 * lines that end in a bare CR or LF, folded lines, a space before a colon, two lengths, any coding but chunked, NUL and
 * control bytes, a user's name in a URL, a Host that is not the target of what is sent on.
 *
 * A head is read in three steps: ck_http_find_end until it is complete, ck_http_read_*, and ck_http_forward_*, which
 * writes what goes on: hop-by-hop fields are left out, and all that concerns the proxy alone.
 */
#ifndef CK_EGRESS_HTTP_H
#define CK_EGRESS_HTTP_H

#include "base/destination.h"
#include "egress/answer.h"

#include <sys/types.h>

#define CK_HEAD_MAX 32768
#define CK_HEAD_ADDED 512 /* by how much a head can grow when it is forwarded */

enum ck_body_kind {
    CK_BODY_NONE = 0,
    CK_BODY_LENGTH,
    CK_BODY_CHUNKED,
    CK_BODY_UNTIL_CLOSE, /* of an answer only */
};

struct ck_http_request {
    bool connect;
    bool head;       /* its answer has no body */
    bool keep_alive; /* the client means to go on */
    unsigned minor;  /* HTTP/1.0 or 1.1 */
    enum ck_body_kind body;
    uint64_t body_bytes;
    struct ck_hostname host;
    uint16_t port;
};

struct ck_http_response {
    int status;
    bool interim;    /* 1xx: another head follows */
    bool keep_alive; /* the host means to go on */
    enum ck_body_kind body;
    uint64_t body_bytes;
};

/*
 * The length of the head at the beginning of data; 0 where its end is not there yet; -EPROTO where it can be none.
 * *checked is how far an earlier call has looked, at first 0.
 */
ssize_t ck_http_find_end(const char *data, size_t length, size_t *checked, struct ck_fault *ret_fault);

/* 0 or -EPROTO. Of a request with a fault ret_request has the target, if that could be read; else its host is empty. */
int ck_http_read_request(const char *head, size_t length, struct ck_http_request *ret_request,
                         struct ck_fault *ret_fault);
int ck_http_read_response(const char *head, size_t length, bool of_head, struct ck_http_response *ret_response,
                          struct ck_fault *ret_fault);

/*
 * Of a head that was read without a fault: the head to send on, in a buffer of length + CK_HEAD_ADDED bytes. Returns its
 * length.
 */
size_t ck_http_forward_request(const char *head, size_t length, const struct ck_http_request *request, char *buffer);
size_t ck_http_forward_response(const char *head, size_t length, bool keep_alive, char *buffer);

#endif
