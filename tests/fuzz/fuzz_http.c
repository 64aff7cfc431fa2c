/*
 * fuzz_http.c - any bytes as the head of a request or an answer, and the rest as a chunked body.
 *
 * The first byte says which, and the size of the pieces in which the rest comes. A head means the
 * same in pieces as in one. A head that is read can be forwarded; the forwarded text is a head too,
 * has the same target and body, and nothing in it was for the proxy. The end of a body does not
 * depend on how it was cut.
 */
#include "promise.h"

#include "egress/chunked.h"
#include "egress/http.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static ssize_t find_end(const char *data, size_t size, size_t step, struct ck_fault *ret_fault)
{
    size_t checked = 0;
    for (size_t length = step;; length += step) {
        size_t shown = length < size ? length : size;
        ssize_t end = ck_http_find_end(data, shown, &checked, ret_fault);
        require(end <= (ssize_t)shown && (end >= 0 || end == -EPROTO));
        if (end != 0 || shown == size)
            return end;
    }
}

/* Is there a field of this name? */
static bool has_field(const char *head, size_t length, const char *name)
{
    size_t size = strlen(name);
    for (const char *at = memchr(head, '\n', length); at; at = memchr(at, '\n', length - (size_t)(at - head))) {
        at++;
        if (length - (size_t)(at - head) > size && strncasecmp(at, name, size) == 0 && at[size] == ':')
            return true;
    }
    return false;
}

static void check_forward(const char *forward, size_t length)
{
    static const char *const ours[] = {"proxy-authorization", "proxy-connection", "keep-alive", "upgrade"};
    struct ck_fault fault;
    size_t checked = 0;
    require(ck_http_find_end(forward, length, &checked, &fault) == (ssize_t)length);
    for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++)
        require(!has_field(forward, length, ours[i]));
}

/* The forwarded head with its target made absolute again is the same request. */
static void check_same(const char *forward, size_t length, const struct ck_http_request *request)
{
    const char *space = memchr(forward, ' ', length);
    size_t method = (size_t)(space - forward) + 1;
    bool star = forward[method] == '*';
    size_t room = length + CK_HOSTNAME_MAX + 64;
    char *absolute = malloc(room);
    require(absolute);
    bool six = request->host.numeric && request->host.address.length == 16;
    int front = snprintf(absolute, room, "%.*shttp://%s%s%s:%u", (int)method, forward, six ? "[" : "",
                         request->host.text, six ? "]" : "", request->port);
    size_t tail = length - method - star;
    memcpy(absolute + front, forward + method + star, tail);
    struct ck_http_request again;
    struct ck_fault fault;
    require(ck_http_read_request(absolute, (size_t)front + tail, &again, &fault) == 0);
    require(again.body == request->body && again.body_bytes == request->body_bytes && again.head == request->head);
    require(again.port == request->port && strcmp(again.host.text, request->host.text) == 0);
    require(again.keep_alive == request->keep_alive && again.minor == request->minor);
    free(absolute);
}

/* What an upstream gets is a request for the same host, with our credentials and no others. */
static void check_upstream(const char *head, size_t length, const struct ck_http_request *request, char *forward)
{
    struct ck_upstream upstream;
    struct ck_http_request again;
    struct ck_fault fault;
    const char *reason;
    require(ck_upstream_parse("http://user:password@proxy.example.org:3128", true, &upstream, &reason) == 0);
    size_t forwarded = ck_http_forward_request(head, length, request, &upstream, forward);
    require(forwarded > 0 && forwarded <= length + CK_HEAD_ADDED);
    require(ck_http_read_request(forward, forwarded, &again, &fault) == 0 && !again.connect);
    require(again.port == request->port && strcmp(again.host.text, request->host.text) == 0);
    require(again.body == request->body && again.body_bytes == request->body_bytes);
    const char *credentials = memmem(forward, forwarded, "\nProxy-Authorization: ", 22);
    require(credentials && strncmp(credentials + 22, upstream.authorization, strlen(upstream.authorization)) == 0);
    size_t rest = forwarded - (size_t)(credentials + 1 - forward);
    require(!memmem(credentials + 1, rest, "\nProxy-Authorization:", 21));
}

static bool check_request(const char *head, size_t length, enum ck_body_kind *ret_body)
{
    struct ck_http_request request;
    struct ck_fault fault = {0};
    int r = ck_http_read_request(head, length, &request, &fault);
    require(r == 0 || (r == -EPROTO && fault.message && fault.reason != CK_REASON_NONE));
    if (r != 0)
        return false;
    *ret_body = request.body;
    require(request.port != 0 && request.host.text[0] != '\0');
    if (request.connect)
        return true;
    char *forward = malloc(length + CK_HEAD_ADDED);
    require(forward);
    size_t forwarded = ck_http_forward_request(head, length, &request, NULL, forward);
    require(forwarded > 0 && forwarded <= length + CK_HEAD_ADDED);
    check_forward(forward, forwarded);
    check_same(forward, forwarded, &request);
    check_upstream(head, length, &request, forward);
    free(forward);
    return true;
}

static bool check_response(const char *head, size_t length, bool of_head, enum ck_body_kind *ret_body)
{
    struct ck_http_response response, again;
    struct ck_fault fault = {0};
    int r = ck_http_read_response(head, length, of_head, &response, &fault);
    require(r == 0 || (r == -EPROTO && fault.message && fault.reason == CK_REASON_BAD_ANSWER));
    if (r != 0)
        return false;
    *ret_body = response.body;
    char *forward = malloc(length + CK_HEAD_ADDED);
    require(forward);
    size_t forwarded = ck_http_forward_response(head, length, response.keep_alive, forward);
    require(forwarded > 0 && forwarded <= length + CK_HEAD_ADDED);
    check_forward(forward, forwarded);
    require(ck_http_read_response(forward, forwarded, of_head, &again, &fault) == 0);
    require(again.status == response.status && again.body == response.body && again.interim == response.interim);
    require(again.body_bytes == response.body_bytes && again.keep_alive == response.keep_alive);
    free(forward);
    return true;
}

static void check_chunks(const char *data, size_t size, size_t step)
{
    struct ck_chunked whole = {0}, pieces = {0};
    ssize_t taken = ck_chunked_scan(&whole, data, size);
    ssize_t sum = 0;
    require(taken == -EPROTO || (taken >= 0 && (whole.done || taken == (ssize_t)size)));
    for (size_t at = 0; at < size && !pieces.done && sum >= 0; at += step) {
        size_t some = size - at < step ? size - at : step;
        ssize_t n = ck_chunked_scan(&pieces, data + at, some);
        sum = n < 0 ? n : sum + n;
    }
    require(taken == sum && whole.done == pieces.done);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    bool response = (data[0] & 1) != 0;
    bool of_head = (data[0] & 2) != 0;
    size_t step = (data[0] >> 2) + 1U;
    const char *text = (const char *)data + 1;
    size_t length = size - 1;
    struct ck_fault fault, other;
    enum ck_body_kind body = CK_BODY_NONE;
    ssize_t end = find_end(text, length, step, &fault);
    require(end == find_end(text, length, length + 1, &other));
    if (end <= 0)
        return 0;
    bool good = response ? check_response(text, (size_t)end, of_head, &body) : check_request(text, (size_t)end, &body);
    if (good && body == CK_BODY_CHUNKED)
        check_chunks(text + end, length - (size_t)end, step);
    return 0;
}
