/*
 * via.c - reaches hosts through the upstream, a proxy of the site.
 *
 * The upstream gets the name, looks it up and dials. So the address is not known here and cannot be
 * checked, and events have no address. What can be checked is checked before anything leaves: the
 * name is listed (target.c), and a name that means something else in every network is listed by
 * itself. The inside of a tunnel is checked as always (tunnel.c).
 *
 * Must not show the credentials, or pass on what the upstream says: its text may quote the request.
 */
#include "base/clock.h"
#include "egress/gate.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

/* "CONNECT" and "Host" with the target, and the credentials. */
#define REQUEST_SIZE (2 * CK_UPSTREAM_TEXT_SIZE + CK_UPSTREAM_AUTHORIZATION_SIZE + 128)

/* ---- which names ------------------------------------------------------------------------- */

/* RFC 6761, 6762, 8375, and the name that ICANN has reserved for private use. */
static bool is_local(const char *name)
{
    static const char *const suffixes[] = {".local", ".internal", ".localhost", ".home.arpa"};
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        size_t suffix = strlen(suffixes[i]);
        if (length > suffix && strcmp(name + length - suffix, suffixes[i]) == 0)
            return true;
    }
    return !strchr(name, '.');
}

/* By its own name, and not by "*.suffix". */
static bool is_listed_itself(const struct ck_connection *connection)
{
    const struct ck_rule_list *rules = &connection->gate->rules;
    for (size_t i = 0; i < rules->count; i++) {
        const struct ck_destination *rule = &rules->items[i];
        if (rule->kind == CK_DESTINATION_HOST && strcmp(rule->name, connection->host.text) == 0 &&
            (rule->port == 0 || rule->port == connection->port))
            return true;
    }
    return false;
}

bool ck_via_may_ask(struct ck_connection *connection)
{
    /* An address that a client writes is listed as an address or network, or not at all. */
    if (connection->host.numeric || !is_local(connection->host.text) || is_listed_itself(connection))
        return true;
    CK_REFUSE(connection, CK_GATE_REFUSED, CK_REASON_ADDRESS,
              "'%s' is a name of a local network, and the proxy '%s' would look it up there; list the name itself to "
              "allow it",
              connection->host.text, connection->gate->upstream.text);
    return false;
}

/* ---- failures ---------------------------------------------------------------------------- */

void ck_via_unreachable(struct ck_connection *connection, int error)
{
    bool ours = error == EMFILE || error == ENFILE || error == ENOMEM;
    bool late = error == ETIMEDOUT;
    CK_REFUSE(connection, CK_GATE_FAILED,
              late   ? CK_REASON_TIMEOUT
              : ours ? CK_REASON_RESOURCES
                     : CK_REASON_UPSTREAM,
              "'%s' port %u cannot be reached: the proxy '%s' of the policy's 'upstream' cannot be reached: %s",
              connection->host.text, connection->port, connection->gate->upstream.text,
              error == EIO ? "the name server failed" : strerror(error));
}

void ck_via_timed_out(struct ck_connection *connection)
{
    bool plain = connection->state == CK_EGRESS_STATE_EXCHANGE;
    const struct ck_gate_budget *budget = &connection->gate->budget;
    CK_REFUSE(connection, CK_GATE_FAILED, CK_REASON_TIMEOUT,
              "'%s' port %u: the proxy '%s' of the policy's 'upstream' did not answer within %u ms",
              connection->host.text, connection->port, connection->gate->upstream.text,
              plain ? budget->idle_ms : budget->dial_ms);
}

void ck_via_refuse_credentials(struct ck_connection *connection)
{
    const struct ck_upstream *upstream = &connection->gate->upstream;
    CK_REFUSE(connection, CK_GATE_FAILED, CK_REASON_UPSTREAM_AUTH,
              upstream->authorization[0] != '\0'
                  ? "'%s' port %u: the proxy '%s' of the policy's 'upstream' does not accept the credentials (407)"
                  : "'%s' port %u: the proxy '%s' of the policy's 'upstream' wants credentials (407); name a file with "
                    "USER:PASSWORD in 'credentials_file'",
              connection->host.text, connection->port, upstream->text);
}

static void refuse_answer(struct ck_connection *connection, const char *what)
{
    CK_REFUSE(connection, CK_GATE_FAILED, CK_REASON_UPSTREAM,
              "'%s' port %u: the answer of the proxy '%s' of the policy's 'upstream' %s", connection->host.text,
              connection->port, connection->gate->upstream.text, what);
}

/* ---- a tunnel ---------------------------------------------------------------------------- */

/* A new socket has room for it: what does not fit is a broken connection. */
static bool send_request(const struct ck_connection *connection)
{
    const struct ck_upstream *upstream = &connection->gate->upstream;
    bool brackets = connection->host.numeric && connection->host.address.length == 16;
    bool credentials = upstream->authorization[0] != '\0';
    char target[CK_UPSTREAM_TEXT_SIZE], request[REQUEST_SIZE];
    (void)snprintf(target, sizeof(target), "%s%s%s:%u", brackets ? "[" : "", connection->host.text, brackets ? "]" : "",
                   connection->port);
    int length =
        snprintf(request, sizeof(request), "CONNECT %s HTTP/1.1\r\nHost: %s\r\n%s%s%s\r\n", target, target,
                 credentials ? "Proxy-Authorization: " : "", upstream->authorization, credentials ? "\r\n" : "");
    ssize_t sent = length < (int)sizeof(request)
                       ? send(connection->server.fd, request, (size_t)length, MSG_NOSIGNAL | MSG_DONTWAIT)
                       : -1;
    explicit_bzero(request, sizeof(request));
    return sent == length;
}

void ck_via_begin(struct ck_connection *connection)
{
    uint64_t deadline_ns = connection->dial_end_ns;
    if (!send_request(connection)) {
        ck_via_unreachable(connection, EPIPE);
        return;
    }
    connection->checked = 0;
    ck_connection_set_state(connection, CK_EGRESS_STATE_UPSTREAM, 0);
    /* What is left of the time for the dialling. */
    connection->deadline_ns = deadline_ns;
    ck_proxy_set_timer(connection->gate, deadline_ns);
}

/* The answer is complete. */
static void take_answer(struct ck_connection *connection, size_t head_bytes)
{
    struct ck_relay_buffer *buffer = &connection->down.buffer;
    struct ck_http_response response = {0};
    struct ck_fault fault;
    char what[64];
    if (ck_http_read_response(buffer->data, head_bytes, false, &response, &fault) != 0) {
        refuse_answer(connection, fault.message);
        return;
    }
    connection->checked = 0;
    ck_relay_buffer_drop(buffer, head_bytes);
    if (response.interim)
        return;
    if (response.status == 407) {
        ck_via_refuse_credentials(connection);
    } else if (response.status >= 300) {
        (void)snprintf(what, sizeof(what), "to CONNECT has the status %d", response.status);
        refuse_answer(connection, what);
    } else if (buffer->length > 0 && (!connection->rule->opaque || connection->request.secrets)) {
        /* A host that speaks TLS does not speak first. */
        refuse_answer(connection, "to CONNECT is followed by bytes that nobody asked for");
    } else if (connection->request.secrets) {
        ck_secured_begin(connection);
    } else {
        ck_connection_report(connection,
                             &(struct ck_egress_decision){.verdict = CK_GATE_OPENED, .message = "connected"});
        ck_tunnel_begin(connection);
    }
}

bool ck_via_step(struct ck_connection *connection)
{
    struct ck_relay_stream *down = &connection->down;
    struct ck_fault fault;
    ssize_t length = 0;
    ck_proxy_watch(connection->gate, &connection->client, 0);
    if (down->buffer.length > 0)
        length = ck_http_find_end(down->buffer.data, down->buffer.length, &connection->checked, &fault);
    if (length < 0) {
        refuse_answer(connection, fault.message);
        return true;
    }
    if (length > 0) {
        take_answer(connection, (size_t)length);
        return true;
    }
    int r = ck_relay_stream_fill(down, connection->server.fd, CK_HEAD_MAX);
    if (r < 0 || down->ended) {
        refuse_answer(connection, "to CONNECT ended before it was complete");
        return true;
    }
    ck_proxy_watch(connection->gate, &connection->server, EPOLLIN);
    return r > 0;
}
