/*
 * tunnel.c - CONNECT and SOCKS5 once the host is connected: checks what is in the clear, then
 * relays.
 *
 * A tunnel to a listed host could carry a request for another host at the same address. So the
 * first message must be TLS, and name the host that was requested. What cannot be checked (no name,
 * an encrypted one, not TLS) passes only if the rule says "opaque"; even then a visible name of
 * another host is refused. In an opaque tunnel the host may send first, so its direction is open at
 * once.
 *
 * A host can ask for a second hello and uses the name in that one. So what follows is checked too,
 * both ways, until the client encrypts (handshake.h). Unreadable bytes are refused or, if the rule
 * is opaque, no longer checked.
 */
#include "base/quote.h"
#include "egress/gate.h"
#include "egress/tls.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#define PIECES 8 /* of a handshake, each way per turn */

static const char established[] = "HTTP/1.1 200 Connection established\r\n\r\n";

int ck_tunnel_answer(struct ck_connection *connection)
{
    uint8_t reply[CK_SOCKS_REPLY_SIZE];
    ck_answer_socks(0, reply);
    bool socks = connection->protocol == CK_PROTOCOL_SOCKS5;
    size_t length = socks ? sizeof(reply) : sizeof(established) - 1;
    const void *answer_text = socks ? (const void *)reply : (const void *)established;
    /* An upstream may have passed on the first bytes of the host already; only opaque rules let it. */
    size_t early = connection->down.buffer.length;
    if (ck_relay_buffer_replace(&connection->down.buffer, 0, answer_text, length) != 0)
        return -ENOMEM;
    connection->down.ready = length + early;
    connection->down.own = length;
    return 0;
}

void ck_tunnel_begin(struct ck_connection *connection)
{
    if (ck_tunnel_answer(connection) != 0) {
        ck_connection_end(connection, CK_REASON_RESOURCES);
        return;
    }
    bool opaque = connection->rule->opaque;
    const struct ck_gate_budget *budget = &connection->gate->budget;
    connection->needed = 0;
    ck_connection_set_state(connection, CK_EGRESS_STATE_HELLO, opaque ? budget->idle_ms : budget->head_ms);
    /*
     * Until the name is checked nothing of the host reaches the client, unless the rule is opaque.
     */
    connection->down.left = opaque ? UINT64_MAX : 0;
}

/*
 * Must be a TLS alert in the clear: fatal, access denied. With it a client can report more than a
 * lost connection.
 */
static void alert(struct ck_connection *connection)
{
    /* An alert record of version 3.3 with 2 bytes: fatal (2), access_denied (49). */
    static const uint8_t denied[] = {21, 3, 3, 0, 2, 2, 49};
    (void)send(connection->client.fd, denied, sizeof(denied), MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void refuse_hello(struct ck_connection *connection, enum ck_reason reason, const char *what)
{
    /* A client that does not speak TLS could not read an alert. */
    if (reason != CK_REASON_NOT_TLS)
        alert(connection);
    CK_REFUSE(connection, CK_GATE_REFUSED, reason, "the tunnel to '%s' port %u %s", connection->host.text,
              connection->port, what);
}

/* The name is the client's: it is quoted for the message. */
static void refuse_name(struct ck_connection *connection, const char *name)
{
    char answer_text[CK_QUOTE_MAX + 64];
    (void)snprintf(answer_text, sizeof(answer_text), "has the TLS name of another host, '%s'", CK_QUOTE(name));
    refuse_hello(connection, CK_REASON_SNI, answer_text);
}

/*
 * A name in the clear must be the host. No name can match an address, so one is accepted there only
 * if the rule is opaque.
 */
static bool name_fits(const struct ck_connection *connection, const char *name)
{
    struct ck_hostname host;
    const char *why;
    if (connection->host.numeric)
        return connection->rule->opaque;
    return ck_destination_parse_host(name, strlen(name), &host, &why) == 0 &&
           strcmp(host.text, connection->host.text) == 0;
}

/* Is the beginning of the tunnel valid? False: it was refused. */
static bool check_hello(struct ck_connection *connection, enum ck_hello hello, const char *name)
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

/* Nothing more is checked: both directions pass unread. */
static void open_both(struct ck_connection *connection)
{
    connection->up.ready = connection->up.buffer.length;
    connection->up.left = UINT64_MAX;
    connection->down.left = UINT64_MAX;
    ck_connection_set_state(connection, CK_EGRESS_STATE_TUNNEL, connection->gate->budget.idle_ms);
}

/* When a source has ended and everything is sent, shuts down the sink, once. */
static void forward_eof(const struct ck_relay_stream *stream, int to_fd, bool *eof_sent)
{
    if (stream->wait != CK_WAIT_END || *eof_sent)
        return;
    (void)shutdown(to_fd, SHUT_WR);
    *eof_sent = true;
}

/* When both directions have ended, the connection is done. */
static void forward_eofs(struct ck_connection *connection)
{
    forward_eof(&connection->up, connection->server.fd, &connection->server_eof_sent);
    forward_eof(&connection->down, connection->client.fd, &connection->client_eof_sent);
    if (connection->server_eof_sent && connection->client_eof_sent)
        ck_connection_end(connection, CK_REASON_DONE);
}

/*
 * The direction to the client, while its first bytes have not arrived: the answer and, if the rule
 * is opaque, what the host sends.
 */
static bool pump_back(struct ck_connection *connection)
{
    if (!ck_connection_pump(connection, false))
        return false;
    forward_eof(&connection->down, connection->client.fd, &connection->client_eof_sent);
    uint32_t client = EPOLLIN, server = 0;
    ck_connection_add_events(&connection->down, &server, &client);
    ck_proxy_watch(connection->gate, &connection->client, client);
    ck_proxy_watch(connection->gate, &connection->server, server);
    return true;
}

/* Checks a hello after the first. False: it was refused. */
static bool check_second_hello(struct ck_connection *connection, const struct ck_handshake_hello *found)
{
    bool named = found->hello == CK_HELLO_NAMED && !name_fits(connection, found->name);
    if (connection->handshake.unrequested && !named && !connection->rule->opaque) {
        refuse_hello(connection, CK_REASON_MALFORMED, "has a second TLS hello that the host did not ask for");
        return false;
    }
    return check_hello(connection, found->hello, found->name);
}

/*
 * Checks what the client has sent after its first hello. False: it was refused, or nothing more
 * must be checked.
 */
static bool look_at_client(struct ck_connection *connection)
{
    struct ck_relay_stream *up = &connection->up;
    enum ck_handshake_progress verdict = CK_HANDSHAKE_HELLO;
    while (verdict == CK_HANDSHAKE_HELLO) {
        struct ck_handshake_hello found = {0};
        size_t pass = 0;
        verdict = ck_handshake_client(&connection->handshake, (const uint8_t *)up->buffer.data + up->ready,
                                      up->buffer.length - up->ready, &pass, &found);
        if (verdict == CK_HANDSHAKE_HELLO && !check_second_hello(connection, &found))
            return false;
        up->ready += pass;
        bool unreadable = verdict == CK_HANDSHAKE_MALFORMED || (verdict == CK_HANDSHAKE_HELLO && pass == 0) ||
                          (verdict == CK_HANDSHAKE_MORE && up->ready == 0 && up->buffer.length >= CK_HEAD_MAX);
        if (unreadable && !connection->rule->opaque) {
            refuse_hello(connection, CK_REASON_MALFORMED, "has a TLS message in the clear that cannot come there");
            return false;
        }
        if (unreadable || verdict == CK_HANDSHAKE_OVER) {
            open_both(connection);
            return false;
        }
    }
    return true;
}

/* Reads what the host has sent; all of it may pass. */
static bool look_at_server(struct ck_connection *connection)
{
    struct ck_relay_stream *down = &connection->down;
    struct ck_handshake *handshake = &connection->handshake;
    ck_handshake_server(handshake, (const uint8_t *)down->buffer.data + down->ready, down->buffer.length - down->ready);
    down->ready = down->buffer.length;
    if (handshake->decided || handshake->server_unreadable)
        down->left = UINT64_MAX;
    return true;
}

/*
 * The first message is valid. For TLS, what follows is checked too; other opaque bytes pass unread.
 */
static void pass_hello(struct ck_connection *connection, enum ck_hello hello, size_t bytes)
{
    if (hello == CK_HELLO_OTHER || hello == CK_HELLO_MALFORMED) {
        open_both(connection);
        return;
    }
    connection->handshake = (struct ck_handshake){0};
    connection->up.ready = bytes;
    connection->down.left = 0;
    ck_connection_set_state(connection, CK_EGRESS_STATE_HANDSHAKE, connection->gate->budget.idle_ms);
    (void)look_at_client(connection);
}

bool ck_tunnel_hello(struct ck_connection *connection)
{
    if (!pump_back(connection))
        return true;
    struct ck_relay_stream *up = &connection->up;
    int r = 1;
    for (;;) {
        char name[CK_SNI_SIZE] = "";
        size_t bytes = 0;
        enum ck_hello hello = CK_HELLO_MORE;
        if (up->buffer.length > 0 && up->buffer.length >= connection->needed) {
            hello = ck_tls_hello_read((const uint8_t *)up->buffer.data, up->buffer.length, name, &bytes);
            connection->needed = ck_tls_hello_needed((const uint8_t *)up->buffer.data, up->buffer.length);
        }
        if (hello == CK_HELLO_MORE && up->ended && up->buffer.length == 0 && !connection->rule->opaque) {
            ck_connection_end(connection, CK_REASON_DONE);
            return true;
        }
        /* The hello can no longer become complete. */
        if (hello == CK_HELLO_MORE && (up->ended || up->buffer.length >= CK_HEAD_MAX))
            hello = CK_HELLO_MALFORMED;
        if (hello == CK_HELLO_OTHER && !connection->rule->opaque && ck_request_enter_tunnel(connection))
            return true;
        if (hello != CK_HELLO_MORE && check_hello(connection, hello, name))
            pass_hello(connection, hello, bytes);
        if (hello != CK_HELLO_MORE)
            return true;
        r = ck_relay_stream_fill(up, connection->client.fd, CK_HEAD_MAX);
        if (r < 0)
            ck_connection_end(connection, CK_REASON_RESET);
        if (r <= 0)
            return r < 0;
    }
}

/* One direction of a handshake. False: the connection was ended, or is in another state. */
static bool pass_handshake(struct ck_connection *connection, bool up)
{
    struct ck_relay_stream *stream = up ? &connection->up : &connection->down;
    int from_fd = up ? connection->client.fd : connection->server.fd;
    for (unsigned piece = 0; piece < PIECES; piece++) {
        if (!ck_connection_pump(connection, up))
            return false;
        if (stream->wait != CK_WAIT_NOTHING)
            return true;
        int r = ck_relay_stream_fill(stream, from_fd, CK_HEAD_MAX);
        if (r < 0) {
            ck_connection_end(connection, CK_REASON_RESET);
            return false;
        }
        stream->wait = r == 0 ? CK_WAIT_SOURCE : CK_WAIT_NOTHING;
        if (r == 0)
            return true;
        if (up ? !look_at_client(connection) : !look_at_server(connection))
            return false;
    }
    stream->wait = CK_WAIT_TURN;
    return true;
}

bool ck_tunnel_handshake(struct ck_connection *connection)
{
    /* The server first: what it has sent decides what the client may send now. */
    if (!pass_handshake(connection, false) || !pass_handshake(connection, true))
        return true;
    forward_eofs(connection);
    if (!connection->ended)
        ck_connection_watch_streams(connection);
    return connection->ended;
}

bool ck_tunnel_relay(struct ck_connection *connection)
{
    if (!ck_connection_pump(connection, true) || !ck_connection_pump(connection, false))
        return true;
    forward_eofs(connection);
    if (!connection->ended)
        ck_connection_watch_streams(connection);
    return connection->ended;
}
