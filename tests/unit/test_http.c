/* test_http.c - heads of HTTP messages: what is read, what is forwarded, and what is ambiguous and
 * refused. */
#include "egress/chunked.h"
#include "egress/http.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define HOST "Host: a.org\r\n"
#define GET "GET http://a.org/ HTTP/1.1\r\n"
#define POST "POST http://a.org/ HTTP/1.1\r\n" HOST

/* Both steps; -EPROTO with the fault if one of them fails. */
static int read_request(const char *text, size_t length, struct ck_http_request *request, struct ck_fault *fault)
{
    size_t checked = 0;
    ssize_t end = ck_http_find_end(text, length, &checked, fault);
    if (end <= 0)
        return end < 0 ? -EPROTO : 1;
    return ck_http_read_request(text, (size_t)end, request, fault);
}

static void targets_are_read(void **state)
{
    static const struct {
        const char *text, *host;
        uint16_t port;
        bool connect;
    } rows[] = {
        {"CONNECT a.org:443 HTTP/1.1\r\nHost: a.org:443\r\n\r\n", "a.org", 443, true},
        {"CONNECT A.ORG.:8443 HTTP/1.1\r\nHost: a.org\r\n\r\n", "a.org", 8443, true},
        {"CONNECT a.org:443 HTTP/1.0\r\n\r\n", "a.org", 443, true},
        {"CONNECT a.org:443 HTTP/1.1\r\n\r\n", "a.org", 443, true},
        {"CONNECT a.org:443 HTTP/1.1\r\nHost: localhost:3128\r\n\r\n", "a.org", 443, true},
        {"CONNECT [2001:db8::1]:443 HTTP/1.1\r\nHost: [2001:DB8::1]:443\r\n\r\n", "2001:db8::1", 443, true},
        {"GET http://a.org/ HTTP/1.1\r\nHost: a.org\r\n\r\n", "a.org", 80, false},
        {"GET HTTP://A.org:8080 HTTP/1.1\r\nHost: a.ORG:8080\r\n\r\n", "a.org", 8080, false},
        {"GET http://a.org?q HTTP/1.1\r\nhost:a.org:80\r\n\r\n", "a.org", 80, false},
        {"GET http://127.0.0.1/ HTTP/1.0\r\n\r\n", "127.0.0.1", 80, false},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct ck_http_request request;
        struct ck_fault fault = {0};
        if (read_request(rows[i].text, strlen(rows[i].text), &request, &fault) != 0)
            fail_msg("%s: %s", rows[i].text, fault.message);
        assert_string_equal(request.host.text, rows[i].host);
        assert_int_equal(request.port, rows[i].port);
        assert_int_equal(request.connect, rows[i].connect);
    }
}

static void bodies_are_read(void **state)
{
    static const struct {
        const char *text;
        uint64_t bytes;
        enum ck_body_kind body;
        bool keep_alive;
    } rows[] = {
        {GET HOST "\r\n", 0, CK_BODY_NONE, true},
        {POST "Content-Length: 0\r\n\r\n", 0, CK_BODY_NONE, true},
        {POST "Content-Length: 12345678901234567\r\n\r\n", 12345678901234567, CK_BODY_LENGTH, true},
        {POST "Transfer-Encoding: Chunked\r\n\r\n", 0, CK_BODY_CHUNKED, true},
        {POST "Connection: foo, Close\r\n\r\n", 0, CK_BODY_NONE, false},
        {POST "Proxy-Connection: close\r\n\r\n", 0, CK_BODY_NONE, false},
        {"GET http://a.org/ HTTP/1.0\r\n" HOST "Connection: keep-alive\r\n\r\n", 0, CK_BODY_NONE, false},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct ck_http_request request;
        struct ck_fault fault = {0};
        assert_int_equal(read_request(rows[i].text, strlen(rows[i].text), &request, &fault), 0);
        assert_int_equal(request.body, rows[i].body);
        assert_int_equal(request.body_bytes, rows[i].bytes);
        assert_int_equal(request.keep_alive, rows[i].keep_alive);
    }
}

static const struct refusal {
    const char *text, *expected_text;
} refusals[] = {
    {"GET http://a.org/ HTTP/1.1\n" HOST "\n", "CR LF"},
    {GET "Host: a.org\n\r\n", "CR LF"},
    {GET "Host: a.org\rX: y\r\n\r\n", "CR LF"},
    {"\r\n" GET HOST "\r\n", "empty line"},
    {GET HOST "X: a\r\n b\r\n\r\n", "folded"},
    {GET HOST "X: a\r\n\tb\r\n\r\n", "folded"},
    {GET "Host : a.org\r\n\r\n", "invalid name"},
    {GET HOST "X\r\n\r\n", "without a colon"},
    {GET HOST ": x\r\n\r\n", "invalid name"},
    {GET HOST "X\x01: y\r\n\r\n", "control"},
    {GET HOST "X: a\x7f\r\n\r\n", "control"},
    {POST "Content-Length: 5\r\nContent-Length: 5\r\n\r\n", "two lengths"},
    {POST "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", "two lengths"},
    {POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", "two lengths"},
    {POST "Content-Length: 5, 5\r\n\r\n", "not a number"},
    {POST "Content-Length: +5\r\n\r\n", "not a number"},
    {POST "Content-Length: 0x5\r\n\r\n", "not a number"},
    {POST "Content-Length:\r\n\r\n", "not a number"},
    {POST "Content-Length: 1234567890123456789\r\n\r\n", "not a number"},
    {POST "Transfer-Encoding: gzip, chunked\r\n\r\n", "other than chunked"},
    {POST "Transfer-Encoding: xchunked\r\n\r\n", "other than chunked"},
    {POST "Transfer-Encoding: chunked, identity\r\n\r\n", "other than chunked"},
    {"POST http://a.org/ HTTP/1.0\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n", "HTTP/1.0 and chunked"},
    {POST "Connection: content-length\r\nContent-Length: 3\r\n\r\n", "framing"},
    {POST "Connection: Transfer-Encoding\r\n\r\n", "framing"},
    {GET HOST "Connection: host\r\n\r\n", "framing"},
    {GET HOST "Connection: a b\r\n\r\n", "invalid Connection"},
    {GET "\r\n", "no Host"},
    {GET HOST HOST "\r\n", "two Host fields"},
    {GET "Host: b.org\r\n\r\n", "differs from its target"},
    {GET "Host: a.org:8080\r\n\r\n", "differs from its target"},
    {"CONNECT a.org:443 HTTP/1.1\r\nHost: a.org\r\nHost: a.org\r\n\r\n", "two Host fields"},
    {GET "Host: a.org b.org\r\n\r\n", "space"},
    {GET "Host:\r\n\r\n", "is empty"},
    {"CONNECT a.org HTTP/1.1\r\n\r\n", "no port"},
    {"CONNECT a.org: HTTP/1.1\r\n\r\n", "no port"},
    {"CONNECT a.org:0 HTTP/1.1\r\n\r\n", "no port"},
    {"CONNECT a.org:443/x HTTP/1.1\r\n\r\n", "no port"},
    {"CONNECT http://a.org:443 HTTP/1.1\r\n\r\n", "no port"},
    {"CONNECT a.org:443 HTTP/1.1\r\nContent-Length: 5\r\n\r\n", "with a body"},
    {"connect a.org:443 HTTP/1.1\r\n\r\n", "method"},
    {"CONNECT user@a.org:443 HTTP/1.1\r\n\r\n", "user"},
    {"CONNECT fe80::1%25eth0:443 HTTP/1.1\r\n\r\n", "no port"},
    {"CONNECT [fe80::1%25eth0]:443 HTTP/1.1\r\n\r\n", "zone"},
    {"CONNECT 0x7f.1:443 HTTP/1.1\r\n\r\n", "looks like an address"},
    {"GET http://u:p@a.org/ HTTP/1.1\r\nHost: a.org\r\n\r\n", "user"},
    {"GET http://u@a.org/ HTTP/1.1\r\nHost: a.org\r\n\r\n", "user"},
    {"GET http://a.org\\@b.org/ HTTP/1.1\r\nHost: b.org\r\n\r\n", "user"},
    {"GET http:///x HTTP/1.1\r\nHost: a.org\r\n\r\n", "is empty"},
    {"GET http://a.org/#x HTTP/1.1\r\nHost: a.org\r\n\r\n", "'#'"},
    {"GET http://a.org/a b HTTP/1.1\r\nHost: a.org\r\n\r\n", "space"},
    {"GET  http://a.org/ HTTP/1.1\r\nHost: a.org\r\n\r\n", "space"},
    {"GET http://a.org/\xff HTTP/1.1\r\nHost: a.org\r\n\r\n", "not ASCII"},
    {"GET http://b\xc3\xbc.org/ HTTP/1.1\r\nHost: a.org\r\n\r\n", "not ASCII"},
    {"GET https://a.org/ HTTP/1.1\r\nHost: a.org\r\n\r\n", "use CONNECT"},
    {"GET ftp://a.org/ HTTP/1.1\r\nHost: a.org\r\n\r\n", "not an http:// URL"},
    {"GET / HTTP/1.1\r\nHost: a.org\r\n\r\n", "not an http:// URL"},
    {"GET http://a.org/ HTTP/2.0\r\nHost: a.org\r\n\r\n", "neither"},
    {"GET http://a.org/ http/1.1\r\nHost: a.org\r\n\r\n", "neither"},
    {"GET http://a.org/\r\nHost: a.org\r\n\r\n", "method, a target and a version"},
    {"G(T http://a.org/ HTTP/1.1\r\nHost: a.org\r\n\r\n", "method"},
    {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "neither"},
};

static void what_can_be_read_in_two_ways_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(refusals); i++) {
        struct ck_http_request request;
        struct ck_fault fault = {.message = ""};
        int r = read_request(refusals[i].text, strlen(refusals[i].text), &request, &fault);
        if (r != -EPROTO || !strstr(fault.message, refusals[i].expected_text))
            fail_msg("%s -> %d '%s'", refusals[i].text, r, fault.message);
    }
}

/* Inside a tunnel to a.org:8080 a request is for that host alone, and its target is a path. */
static void a_request_inside_a_tunnel_is_for_its_host(void **state)
{
    static const struct {
        const char *text, *expected; /* the forwarded first line, or a part of the fault */
    } rows[] = {
        {"GET /a?b HTTP/1.1\r\nHost: A.org.:8080\r\n\r\n", "GET /a?b HTTP/1.1\r\n"},
        {"POST // HTTP/1.0\r\n\r\n", "POST // HTTP/1.0\r\n"},
        {"GET / HTTP/1.1\r\nHost: a.org\r\n\r\n", "differs from its target"},
        {"GET / HTTP/1.1\r\nHost: b.org:8080\r\n\r\n", "differs from its target"},
        {"GET / HTTP/1.1\r\n\r\n", "no Host"},
        {"GET http://a.org:8080/ HTTP/1.1\r\nHost: a.org:8080\r\n\r\n", "not a path"},
        {"OPTIONS * HTTP/1.1\r\nHost: a.org:8080\r\n\r\n", "not a path"},
        {"CONNECT a.org:8080 HTTP/1.1\r\nHost: a.org:8080\r\n\r\n", "tunnel inside a tunnel"},
        {"CONNECT / HTTP/1.1\r\nHost: a.org:8080\r\n\r\n", "tunnel inside a tunnel"},
    };
    struct ck_http_tunnel tunnel = {.port = 8080};
    const char *why;
    (void)state;
    assert_int_equal(ck_destination_parse_host("a.org", 5, &tunnel.host, &why), 0);
    for (size_t i = 0; i < COUNT(rows); i++) {
        char forward[CK_HEAD_ADDED + 256] = "";
        struct ck_http_request request;
        struct ck_fault fault = {.message = ""};
        size_t length = strlen(rows[i].text);
        int r = ck_http_read_inner_request(rows[i].text, length, &tunnel, &request, &fault);
        assert_string_equal(request.host.text, "a.org");
        assert_int_equal(request.port, 8080);
        if (r == 0)
            assert_true(ck_http_forward_request(rows[i].text, length, &request, NULL, forward) > 0);
        if (!strstr(r == 0 ? forward : fault.message, rows[i].expected))
            fail_msg("%s -> %d '%s'", rows[i].text, r, r == 0 ? forward : fault.message);
    }
}

static void a_nul_is_refused_at_any_position(void **state)
{
    static const char text[] = GET HOST "X: y\r\n\r\n";
    (void)state;
    for (size_t at = 0; at < sizeof(text) - 3; at++) {
        char copy[sizeof(text)];
        struct ck_http_request request;
        struct ck_fault fault = {0};
        memcpy(copy, text, sizeof(text));
        copy[at] = '\0';
        assert_int_equal(read_request(copy, sizeof(text) - 1, &request, &fault), -EPROTO);
    }
}

static void a_head_has_a_bound(void **state)
{
    (void)state;
    static char text[CK_HEAD_MAX + 1];
    struct ck_fault fault = {0};
    struct ck_http_request request;
    size_t checked = 0;
    memset(text, 'a', sizeof(text));
    assert_int_equal(ck_http_find_end(text, CK_HEAD_MAX - 1, &checked, &fault), 0);
    assert_int_equal(checked, CK_HEAD_MAX - 1);
    assert_int_equal(ck_http_find_end(text, CK_HEAD_MAX, &checked, &fault), -EPROTO);
    assert_int_equal(fault.reason, CK_REASON_TOO_LONG);
    size_t at = (size_t)snprintf(text, sizeof(text), GET HOST);
    for (int i = 0; i < 128; i++)
        at += (size_t)snprintf(text + at, sizeof(text) - at, "X: %d\r\n", i);
    at += (size_t)snprintf(text + at, sizeof(text) - at, "\r\n");
    assert_int_equal(read_request(text, at, &request, &fault), -EPROTO);
    assert_int_equal(fault.reason, CK_REASON_TOO_LONG);
}

static void what_was_for_the_proxy_does_not_go_on(void **state)
{
    static const struct {
        const char *text, *forward;
    } rows[] = {
        {GET HOST "Accept: */*\r\n\r\n", "GET / HTTP/1.1\r\nHost: a.org\r\nAccept: */*\r\n\r\n"},
        {"GET http://a.org?q HTTP/1.1\r\n" HOST "\r\n", "GET /?q HTTP/1.1\r\nHost: a.org\r\n\r\n"},
        {"OPTIONS http://a.org HTTP/1.1\r\n" HOST "\r\n", "OPTIONS * HTTP/1.1\r\nHost: a.org\r\n\r\n"},
        {"GET http://A.org:81/x HTTP/1.0\r\n\r\n", "GET /x HTTP/1.0\r\nHost: A.org:81\r\nConnection: close\r\n\r\n"},
        {GET HOST "Proxy-Authorization: Basic eDp5\r\nProxy-Connection: keep-alive\r\nKeep-Alive: 5\r\nUpgrade: h2c\r\n"
                  "Connection: X-Mine, keep-alive, Upgrade\r\nX-Mine: 1\r\nX-Yours: 2\r\n\r\n",
         "GET / HTTP/1.1\r\nHost: a.org\r\nX-Yours: 2\r\n\r\n"},
        {GET HOST "Connection: close\r\n\r\n", "GET / HTTP/1.1\r\nHost: a.org\r\nConnection: close\r\n\r\n"},
        {GET HOST "TE: trailers\r\nConnection: TE\r\n\r\n",
         "GET / HTTP/1.1\r\nHost: a.org\r\nTE: trailers\r\nConnection: TE\r\n\r\n"},
        {POST "Transfer-Encoding: chunked\r\nTrailer: X\r\n\r\n",
         "POST / HTTP/1.1\r\nHost: a.org\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\n\r\n"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char forward[1024] = "";
        struct ck_http_request request;
        struct ck_fault fault = {0};
        size_t length = strlen(rows[i].text);
        assert_int_equal(read_request(rows[i].text, length, &request, &fault), 0);
        size_t forwarded = ck_http_forward_request(rows[i].text, length, &request, NULL, forward);
        assert_string_equal(forward, rows[i].forward);
        assert_int_equal(forwarded, strlen(forward));
    }
}

static void answers_are_read(void **state)
{
    static const struct {
        const char *text;
        bool of_head;
        int status;
        enum ck_body_kind body;
        bool keep_alive;
    } rows[] = {
        {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", false, 200, CK_BODY_LENGTH, true},
        {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", false, 200, CK_BODY_NONE, true},
        {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", true, 200, CK_BODY_NONE, true},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", false, 200, CK_BODY_CHUNKED, true},
        {"HTTP/1.1 200 \r\n\r\n", false, 200, CK_BODY_UNTIL_CLOSE, true},
        {"HTTP/1.0 200\r\nContent-Length: 5\r\n\r\n", false, 200, CK_BODY_LENGTH, false},
        {"HTTP/1.1 204 No\r\n\r\n", false, 204, CK_BODY_NONE, true},
        {"HTTP/1.1 304 No\r\nContent-Length: 5\r\n\r\n", false, 304, CK_BODY_NONE, true},
        {"HTTP/1.1 100 Continue\r\n\r\n", false, 100, CK_BODY_NONE, true},
        {"HTTP/1.1 404 Gr\xc3\xbc\xc3\x9f"
         "e\r\nConnection: close\r\nContent-Length: 1\r\n\r\n",
         false, 404, CK_BODY_LENGTH, false},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct ck_http_response response;
        struct ck_fault fault = {0};
        if (ck_http_read_response(rows[i].text, strlen(rows[i].text), rows[i].of_head, &response, &fault) != 0)
            fail_msg("%s: %s", rows[i].text, fault.message);
        assert_int_equal(response.status, rows[i].status);
        assert_int_equal(response.body, rows[i].body);
        assert_int_equal(response.keep_alive, rows[i].keep_alive);
        assert_int_equal(response.interim, rows[i].status < 200);
    }
}

static void odd_answers_are_refused(void **state)
{
    static const char *const rows[] = {
        "SSH-2.0-x\r\n\r\n",
        "HTTP/2 200\r\n\r\n",
        "HTTP/1.1 99 x\r\n\r\n",
        "HTTP/1.1 600 x\r\n\r\n",
        "HTTP/1.1 2x0 x\r\n\r\n",
        "HTTP/1.1 2000 x\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX: y\r\n z\r\n\r\n",
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct ck_http_response response;
        struct ck_fault fault = {0};
        if (ck_http_read_response(rows[i], strlen(rows[i]), false, &response, &fault) != -EPROTO)
            fail_msg("%s", rows[i]);
        assert_int_equal(fault.reason, CK_REASON_BAD_ANSWER);
    }
}

static void an_answer_says_whether_the_client_may_go_on(void **state)
{
    static const char text[] =
        "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nKeep-Alive: 5\r\nContent-Length: 1\r\n\r\n";
    (void)state;
    char forward[1024] = "";
    (void)ck_http_forward_response(text, sizeof(text) - 1, true, forward);
    assert_string_equal(forward, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n");
    memset(forward, 0, sizeof(forward));
    (void)ck_http_forward_response(text, sizeof(text) - 1, false, forward);
    assert_string_equal(forward, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: close\r\n\r\n");
}

static void the_end_of_a_chunked_body_is_found(void **state)
{
    static const char text[] = "5;a=b \"c\"\r\nhello\r\nA\r\n0123456789\r\n000\r\nX: y\r\nZ:\r\n\r\nGET ";
    (void)state;
    for (size_t step = 1; step < sizeof(text); step++) {
        struct ck_chunked chunked = {0};
        size_t taken = 0;
        for (size_t at = 0; at < sizeof(text) - 1 && !chunked.done; at += step) {
            size_t some = sizeof(text) - 1 - at < step ? sizeof(text) - 1 - at : step;
            ssize_t n = ck_chunked_scan(&chunked, text + at, some);
            assert_true(n >= 0);
            taken += (size_t)n;
        }
        assert_true(chunked.done);
        assert_int_equal(taken, sizeof(text) - 1 - 4);
    }
}

static void malformed_chunks_are_refused(void **state)
{
    static const char *const rows[] = {
        "\r\n",
        ";\r\n",
        "g\r\n",
        "-1\r\n",
        "0x5\r\nhello\r\n",
        "5\nhello",
        "5\rhello",
        "5\r\nhelloX",
        "5\r\nhello\rX",
        "5\r\nhello\n",
        "1234567890123456\r\n",
        "5 \x01\r\n",
        "0\r\n X: y\r\n\r\n",
        "0\r\nX: y\n\r\n",
        "0\r\n\rX",
        "0\r\nX\r\n\r\n",
        "0\r\n: y\r\n\r\n",
        "0\r\nX : y\r\n\r\n",
        "0\r\nA: b\r\nhOST: y\r\n\r\n",
        "0\r\nContent-Length: 1\r\n\r\n",
        "0\r\nTransfer-Encoding: chunked\r\n\r\n",
        "0\r\nX: y\r\n\tz\r\n\r\n",
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct ck_chunked chunked = {0};
        if (ck_chunked_scan(&chunked, rows[i], strlen(rows[i])) != -EPROTO)
            fail_msg("row %zu", i);
    }
}

static void extensions_and_trailers_have_a_bound(void **state)
{
    (void)state;
    static char text[32768];
    struct ck_chunked size = {0}, tail = {0};
    memset(text, 'a', sizeof(text));
    assert_int_equal(ck_chunked_scan(&size, "5;", 2), 2);
    assert_int_equal(ck_chunked_scan(&size, text, sizeof(text)), -EPROTO);
    assert_int_equal(ck_chunked_scan(&tail, "0\r\nX:", 5), 5);
    assert_int_equal(ck_chunked_scan(&tail, text, sizeof(text)), -EPROTO);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(targets_are_read),
        cmocka_unit_test(bodies_are_read),
        cmocka_unit_test(what_can_be_read_in_two_ways_is_refused),
        cmocka_unit_test(a_request_inside_a_tunnel_is_for_its_host),
        cmocka_unit_test(a_nul_is_refused_at_any_position),
        cmocka_unit_test(a_head_has_a_bound),
        cmocka_unit_test(what_was_for_the_proxy_does_not_go_on),
        cmocka_unit_test(answers_are_read),
        cmocka_unit_test(odd_answers_are_refused),
        cmocka_unit_test(an_answer_says_whether_the_client_may_go_on),
        cmocka_unit_test(the_end_of_a_chunked_body_is_found),
        cmocka_unit_test(malformed_chunks_are_refused),
        cmocka_unit_test(extensions_and_trailers_have_a_bound),
    };
    return cmocka_run_group_tests_name("http", tests, NULL, NULL);
}
