/*
 * tunnel.c - CONNECT and SOCKS5 once the host is connected: a look at the first bytes, then a relay.
 *
 * A tunnel to a listed host could carry a request for another one that lives at the same address. So the first message has
 * to be TLS, and the name in it the host that was asked for. What cannot be seen (no name, an encrypted one, not TLS) passes
 * only where the rule says "opaque"; and even there a name that can be seen and is another one does not. An opaque tunnel
 * may begin with words of the host, so there the way back is open at once.
 */
#include "base/quote.h"
#include "egress/gate.h"
#include "egress/tls.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

static const char established[] = "HTTP/1.1 200 Connection established\r\n\r\n";

void ck_tunnel_begin(struct ck_connection *connection)
{
    uint8_t reply[CK_SOCKS_REPLY_SIZE];
    ck_answer_socks(0, reply);
    bool socks = connection->protocol == CK_PROTOCOL_SOCKS5;
    size_t length = socks ? sizeof reply : sizeof established - 1;
    const void *words = socks ? (const void *)reply : (const void *)established;
    if (ck_buffer_append(&connection->down.buffer, words, length) != 0) {
        ck_connection_end(connection, CK_REASON_RESOURCES);
        return;
    }
    connection->down.ready += length;
    connection->down.own += length;
    bool opaque = connection->rule->opaque;
    const struct ck_gate_budget *budget = &connection->gate->budget;
    connection->needed = 0;
    ck_connection_state(connection, CK_STATE_HELLO, opaque ? budget->idle_ms : budget->head_ms);
    connection->down.left = opaque ? UINT64_MAX : 0;
}

/* Must be a TLS alert in the clear: fatal, access denied. So a client can say more than that the line is dead. */
static void alert(struct ck_connection *connection)
{
    static const uint8_t denied[] = {21, 3, 3, 0, 2, 2, 49};
    (void)send(connection->client.fd, denied, sizeof denied, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void refuse_hello(struct ck_connection *connection, enum ck_reason reason, const char *what)
{
    if (reason != CK_REASON_NOT_TLS)
        alert(connection);
    CK_REFUSE(connection, CK_GATE_REFUSED, reason, "the tunnel to '%s' port %u %s", connection->host.text,
              connection->port, what);
}

static void refuse_name(struct ck_connection *connection, const char *name)
{
    char words[CK_QUOTE_MAX + 64];
    (void)snprintf(words, sizeof words, "is for another host by its TLS name, '%s'", CK_QUOTE(name));
    refuse_hello(connection, CK_REASON_SNI, words);
}

/* A name in the clear must be the host; towards an address there is none that it could be. */
static bool name_fits(const struct ck_connection *connection, const char *name)
{
    struct ck_hostname host;
    const char *why;
    if (connection->host.numeric)
        return connection->rule->opaque;
    return ck_hostname_parse(name, strlen(name), &host, &why) == 0 && strcmp(host.text, connection->host.text) == 0;
}

/* Is the beginning of the tunnel as it must be? False: it has been refused. */
static bool judge(struct ck_connection *connection, enum ck_hello hello, const char *name)
{
    bool opaque = connection->rule->opaque;
    if (hello == CK_HELLO_NAMED && !name_fits(connection, name))
        refuse_name(connection, name);
    else if (hello == CK_HELLO_MALFORMED && !opaque)
        refuse_hello(connection, CK_REASON_MALFORMED, "begins with a TLS message that cannot be read");
    else if (hello == CK_HELLO_ENCRYPTED && !opaque)
        refuse_hello(connection, CK_REASON_ENCRYPTED_SNI, "encrypts its TLS name; its rule does not say 'opaque'");
    else if (hello == CK_HELLO_UNNAMED && !opaque)
        refuse_hello(connection, CK_REASON_NO_SNI, "has no TLS name; its rule does not say 'opaque'");
    else if (hello == CK_HELLO_OTHER && !opaque)
        refuse_hello(connection, CK_REASON_NOT_TLS, "does not begin with TLS; its rule does not say 'opaque'");
    else
        return true;
    return false;
}

static void open_both(struct ck_connection *connection)
{
    connection->up.ready = connection->up.buffer.length;
    connection->up.left = UINT64_MAX;
    connection->down.left = UINT64_MAX;
    ck_connection_state(connection, CK_STATE_TUNNEL, connection->gate->budget.idle_ms);
}

/* When a source has ended and everything has gone, the sink is told so, once. */
static void pass_on_end(const struct ck_stream *stream, int to_fd, bool *shut)
{
    if (stream->wait != CK_WAIT_END || *shut)
        return;
    (void)shutdown(to_fd, SHUT_WR);
    *shut = true;
}

/* The way back, while the first bytes of the client have not come: the answer, and where it is opaque the host's words. */
static bool pump_back(struct ck_connection *connection)
{
    if (!ck_pump(connection, false))
        return false;
    pass_on_end(&connection->down, connection->client.fd, &connection->shut_client);
    uint32_t client = EPOLLIN, server = 0;
    ck_stream_wants(&connection->down, &server, &client);
    ck_watch_for(connection->gate, &connection->client, client);
    ck_watch_for(connection->gate, &connection->server, server);
    return true;
}

bool ck_tunnel_hello(struct ck_connection *connection)
{
    if (!pump_back(connection))
        return true;
    struct ck_stream *up = &connection->up;
    int r = 1;
    for (;;) {
        char name[CK_SNI_SIZE] = "";
        enum ck_hello hello = CK_HELLO_MORE;
        if (up->buffer.length > 0 && up->buffer.length >= connection->needed) {
            hello = ck_hello_read((const uint8_t *)up->buffer.data, up->buffer.length, name);
            connection->needed = ck_hello_needed((const uint8_t *)up->buffer.data, up->buffer.length);
        }
        if (hello == CK_HELLO_MORE && up->buffer.length >= CK_HEAD_MAX)
            hello = CK_HELLO_MALFORMED;
        if (hello == CK_HELLO_MORE && up->ended && up->buffer.length == 0 && !connection->rule->opaque) {
            ck_connection_end(connection, CK_REASON_DONE);
            return true;
        }
        if (hello == CK_HELLO_MORE && up->ended)
            hello = CK_HELLO_MALFORMED;
        if (hello != CK_HELLO_MORE && judge(connection, hello, name))
            open_both(connection);
        if (hello != CK_HELLO_MORE)
            return true;
        r = ck_stream_fill(up, connection->client.fd, CK_HEAD_MAX);
        if (r < 0)
            ck_connection_end(connection, CK_REASON_RESET);
        if (r <= 0)
            return r < 0;
    }
}

bool ck_tunnel_relay(struct ck_connection *connection)
{
    if (!ck_pump(connection, true) || !ck_pump(connection, false))
        return true;
    pass_on_end(&connection->up, connection->server.fd, &connection->shut_server);
    pass_on_end(&connection->down, connection->client.fd, &connection->shut_client);
    if (connection->shut_server && connection->shut_client) {
        ck_connection_end(connection, CK_REASON_DONE);
        return true;
    }
    ck_watch_streams(connection);
    return false;
}
