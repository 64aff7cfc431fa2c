/* request.c - reads a client's request, HTTP or SOCKS5, and finds its target host. */
#include "egress/gate.h"
#include "egress/socks.h"

#include <string.h>
#include <sys/epoll.h>

/*
 * May the kept connection to a host serve this request? The rules were checked for it already. None is
 * kept over TLS (secured.c).
 */
static bool is_same_target(const struct ck_connection *connection, const struct ck_http_request *request)
{
    return connection->server.fd >= 0 && !connection->tls && !request->secrets &&
           connection->protocol == CK_PROTOCOL_HTTP && !request->connect && connection->port == request->port &&
           strcmp(connection->host.text, request->host.text) == 0;
}

/* A refusal names the host of the request, whatever is wrong with it. */
static void refuse_request(struct ck_connection *connection, const struct ck_http_request *request,
                           const struct ck_fault *fault)
{
    bool known = request->host.text[0] != '\0';
    if (known) {
        ck_connection_drop_server(connection, CK_REASON_DONE); /* of the previous request */
        connection->protocol = request->connect ? CK_PROTOCOL_CONNECT : CK_PROTOCOL_HTTP;
        connection->host = request->host;
        connection->port = request->port;
        connection->rule = NULL;
        connection->via = false;
        connection->request.secrets = NULL;
    }
    ck_connection_refuse_fault(connection, fault, known);
}

/* ---- requests inside a tunnel ------------------------------------------------------------ */

/*
 * Some clients (undici, of node) make a tunnel for http:// too. To a host with a secret, what comes
 * through it in the clear is read as every other request. So both ways to ask for http:// are the
 * same, and nothing reaches the host in the clear.
 */
static void enter(struct ck_connection *connection, const struct ck_hostname *host, uint16_t port)
{
    connection->inside = (struct ck_http_tunnel){.host = *host, .port = port};
    connection->checked = 0;
    ck_connection_set_state(connection, CK_EGRESS_STATE_HEAD, connection->gate->budget.head_ms);
}

/* Port 80 of a host whose secret is for port 443: there is nothing to dial before the first request. */
static void begin_clear_tunnel(struct ck_connection *connection, const struct ck_http_request *request,
                               size_t head_bytes)
{
    ck_relay_buffer_drop(&connection->up.buffer, head_bytes);
    ck_connection_drop_server(connection, CK_REASON_DONE);
    connection->protocol = CK_PROTOCOL_CONNECT;
    if (ck_tunnel_answer(connection) != 0)
        ck_connection_end(connection, CK_REASON_RESOURCES);
    else
        enter(connection, &request->host, request->port);
}

bool ck_request_enter_tunnel(struct ck_connection *connection)
{
    const struct ck_hostname host = connection->host;
    /* The answer to CONNECT has left: the client has read it before it sent this, or will first. */
    if (connection->protocol != CK_PROTOCOL_CONNECT || connection->down.ready > 0 ||
        ck_host_secrets_port(connection->gate->secrets, &host, connection->port) != connection->port)
        return false;
    ck_connection_drop_server(connection, CK_REASON_DONE);
    enter(connection, &host, connection->port);
    return true;
}

/* ---- HTTP -------------------------------------------------------------------------------- */

/*
 * The request is valid. The head of a CONNECT ends here; the head of any other request stays in the
 * buffer until it is replaced by the forwarded one.
 */
static void begin_request(struct ck_connection *connection, const struct ck_http_request *request, size_t head_bytes)
{
    static const struct ck_fault trace = {
        .reason = CK_REASON_UNSUPPORTED,
        .message = "asks the host to send the request back, and a header is added to it that must not come back"};
    if (request->trace && request->secrets) {
        refuse_request(connection, request, &trace);
        return;
    }
    connection->checked = 0;
    connection->head_bytes = head_bytes;
    ck_connection_spend_turn(connection, true, head_bytes);
    uint16_t port = ck_host_secrets_port(connection->gate->secrets, &request->host, request->port);
    if (request->connect && port != 0 && port != request->port) {
        begin_clear_tunnel(connection, request, head_bytes);
        return;
    }
    connection->reused = is_same_target(connection, request);
    /* Before the request is replaced: the report of the end is about the previous one. */
    if (!connection->reused)
        ck_connection_drop_server(connection, CK_REASON_DONE);
    connection->request = *request;
    connection->protocol = request->connect ? CK_PROTOCOL_CONNECT : CK_PROTOCOL_HTTP;
    connection->host = request->host;
    connection->port = request->port;
    if (request->connect)
        ck_relay_buffer_drop(&connection->up.buffer, head_bytes);
    if (connection->reused)
        ck_exchange_begin(connection);
    else
        ck_target_begin(connection);
}

/* The read functions return false if more bytes are needed, true if the state has changed. */
static bool read_http(struct ck_connection *connection)
{
    struct ck_fault fault;
    struct ck_http_request request = {0};
    const struct ck_relay_buffer *buffer = &connection->up.buffer;
    const struct ck_http_tunnel *inside = connection->inside.port != 0 ? &connection->inside : NULL;
    ssize_t length = ck_http_find_end(buffer->data, buffer->length, &connection->checked, &fault);
    if (length == 0)
        return false;
    ssize_t r = length;
    if (length > 0)
        r = inside ? ck_http_read_inner_request(buffer->data, (size_t)length, inside, &request, &fault)
                   : ck_http_read_request(buffer->data, (size_t)length, &request, &fault);
    if (r < 0) {
        refuse_request(connection, &request, &fault);
    } else {
        ck_host_secrets_apply(connection->gate->secrets, &request);
        begin_request(connection, &request, (size_t)length);
    }
    return true;
}

static bool read_greeting(struct ck_connection *connection)
{
    /* version 5, no authentication */
    static const uint8_t accepted[] = {5, 0};
    struct ck_fault fault;
    struct ck_relay_buffer *buffer = &connection->up.buffer;
    ssize_t length = ck_socks_greeting((const uint8_t *)buffer->data, buffer->length, &fault);
    if (length == 0)
        return false;
    connection->protocol = CK_PROTOCOL_SOCKS5;
    if (length < 0) {
        ck_connection_refuse_fault(connection, &fault, false);
        return true;
    }
    ck_relay_buffer_drop(buffer, (size_t)length);
    if (ck_relay_buffer_append(&connection->down.buffer, accepted, sizeof(accepted)) != 0) {
        ck_connection_end(connection, CK_REASON_RESOURCES);
        return true;
    }
    connection->down.ready = connection->down.own = sizeof(accepted);
    connection->state = CK_EGRESS_STATE_SOCKS; /* the deadline stays the same */
    connection->ready = CK_ALL_READY;
    return true;
}

static bool read_socks(struct ck_connection *connection)
{
    struct ck_fault fault;
    struct ck_relay_buffer *buffer = &connection->up.buffer;
    ssize_t length =
        ck_socks_request((const uint8_t *)buffer->data, buffer->length, &connection->host, &connection->port, &fault);
    if (length > 0) {
        ck_relay_buffer_drop(buffer, (size_t)length);
        ck_target_begin(connection);
    } else if (length < 0) {
        ck_connection_refuse_fault(connection, &fault, connection->host.text[0] != '\0');
    }
    return length != 0;
}

/*
 * The first byte says which protocol it is: 4 or 5 for SOCKS, 22 for a TLS record, else HTTP. A
 * client that has made an HTTP request stays with HTTP.
 */
static bool read_first(struct ck_connection *connection)
{
    static const struct ck_fault tls = {
        .reason = CK_REASON_UNSUPPORTED,
        .message = "is TLS to the proxy itself, which speaks plain HTTP: its own URL begins with http://"};
    if (connection->state == CK_EGRESS_STATE_SOCKS)
        return read_socks(connection);
    static const struct ck_fault late_tls = {
        .reason = CK_REASON_UNSUPPORTED,
        .message = "is TLS in a tunnel to port 80 of a host with a secret, or after a request in the clear; TLS has a "
                   "tunnel of its own, to port 443"};
    unsigned char first = (unsigned char)connection->up.buffer.data[0];
    if (connection->inside.port != 0 && first == 22) {
        ck_connection_refuse_fault(connection, &late_tls, false);
        return true;
    }
    bool fresh = connection->protocol == CK_PROTOCOL_NONE;
    if (fresh && (first == 4 || first == 5))
        return read_greeting(connection);
    if (fresh && first == 22) {
        ck_connection_refuse_fault(connection, &tls, false);
        return true;
    }
    return read_http(connection);
}

bool ck_request_step(struct ck_connection *connection)
{
    /* A kept host that sends now has closed, or sends what no one asked for. */
    if (connection->server.fd >= 0 && (connection->ready & CK_SERVER_IN) != 0)
        ck_connection_drop_server(connection, CK_REASON_DONE);
    /* the answer to a SOCKS greeting, or to the CONNECT of a tunnel in the clear */
    if (connection->down.ready > 0 && !ck_connection_pump(connection, false))
        return true;
    for (;;) {
        if (connection->up.buffer.length > 0 && read_first(connection))
            return true;
        int r = ck_relay_stream_fill(&connection->up, connection->client.fd, CK_HEAD_MAX);
        if (r < 0 || connection->up.ended) {
            ck_connection_end(connection, r < 0 ? CK_REASON_RESET : CK_REASON_DONE);
            return true;
        }
        if (r == 0)
            break;
    }
    ck_proxy_watch(connection->gate, &connection->client, EPOLLIN);
    ck_proxy_watch(connection->gate, &connection->server, EPOLLIN);
    return false;
}
