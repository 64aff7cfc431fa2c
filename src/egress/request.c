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
    ssize_t length = ck_http_find_end(buffer->data, buffer->length, &connection->checked, &fault);
    if (length == 0)
        return false;
    if (length < 0 || ck_http_read_request(buffer->data, (size_t)length, &request, &fault) != 0) {
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
    unsigned char first = (unsigned char)connection->up.buffer.data[0];
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
    /* the answer to a SOCKS greeting */
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
