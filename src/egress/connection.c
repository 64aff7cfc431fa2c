/*
 * connection.c - the life of a client's connection: its events, how it moves bytes, how it ends.
 *
 * A connection runs when one of its descriptors is ready, its look-up is answered, or its deadline
 * has passed. Each state has a step, which does what it can and says whether another state has more
 * to do.
 */
#include "base/clock.h"
#include "base/quote.h"
#include "egress/gate.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

/* How long, and for how many bytes, a refused client is still read (step_linger). */
#define LINGER_MS 2000
#define LINGER_BYTES (1024 * 1024)
/* A subject in a message is cut to this. */
#define SUBJECT_SIZE 128
#define STEPS 16 /* per turn */
/* TCP_NOTSENT_LOWAT of a client's socket (ck_connection_start). */
#define UNSENT_BYTES (128 * 1024)

/* ---- reporting --------------------------------------------------------------------------- */

/* CK_GATE_CLOSED is not counted: it belongs to one that was opened. */
static void count(struct ck_proxy_gate_totals *totals, enum ck_gate_verdict verdict)
{
    if (verdict == CK_GATE_OPENED)
        totals->opened++;
    else if (verdict == CK_GATE_REFUSED)
        totals->refused++;
    else if (verdict == CK_GATE_FAILED)
        totals->failed++;
}

void ck_connection_report(struct ck_connection *connection, const struct ck_egress_decision *decision)
{
    static const char *const protocols[] = {"", "connect", "http", "socks5"};
    struct ck_gate *gate = connection->gate;
    char rule[CK_DESTINATION_TEXT_SIZE] = "";
    char address[CK_ADDRESS_TEXT_SIZE] = "";
    char secret[CK_HOST_SECRET_NAMES_SIZE] = "";
    /* With a subject the target could not be read, so rule and port do not apply. */
    if (connection->rule && !decision->subject)
        (void)ck_destination_text(connection->rule, rule);
    /* What was dialled is not the host: its address is not known. */
    if (decision->address && !connection->via)
        (void)ck_destination_address_text(decision->address, address);
    if (!decision->subject)
        ck_host_secrets_names(connection->request.secrets, &connection->host, connection->port, secret);
    bool closed = decision->verdict == CK_GATE_CLOSED;
    struct ck_gate_event event = {
        .verdict = decision->verdict,
        .connection = connection->number,
        .protocol = protocols[connection->protocol],
        .host = decision->subject ? decision->subject : connection->host.text,
        .port = decision->subject ? 0 : connection->port,
        .rule = rule,
        .address = address,
        .via = connection->via && !decision->subject ? gate->upstream.text : "",
        .reason = ck_answer_reason_word(decision->reason),
        .message = decision->message,
        .secret = secret,
        .requests = closed ? ck_secured_count(connection) : 0,
        .up_bytes = closed ? connection->up.moved : 0,
        .down_bytes = closed ? connection->down.moved : 0,
    };
    connection->opened = decision->verdict == CK_GATE_OPENED || (connection->opened && !closed);
    count(&gate->totals, decision->verdict);
    if (gate->on_event)
        gate->on_event(gate->data, &event);
}

/* ---- ending ------------------------------------------------------------------------------ */

/*
 * Only after CK_GATE_OPENED, and once: the report resets opened. address_at is after the dialled
 * address.
 */
static void report_closed(struct ck_connection *connection, enum ck_reason reason)
{
    if (connection->opened)
        ck_connection_report(
            connection, &(struct ck_egress_decision){.verdict = CK_GATE_CLOSED,
                                                     .reason = reason,
                                                     .message = "closed",
                                                     .address = &connection->addresses[connection->address_at - 1]});
}

void ck_connection_reset_stream(struct ck_connection *connection, struct ck_relay_stream *stream)
{
    /* the stream gives its pipe back */
    connection->gate->pipes -= !!stream->pipe;
    ck_relay_stream_done(stream, &connection->gate->proxy->pipes);
}

void ck_connection_abandon(struct ck_connection *connection)
{
    report_closed(connection, CK_REASON_CLOSED);
    ck_dns_query_cancel(connection->query);
    connection->query = NULL;
}

void ck_connection_drop_server(struct ck_connection *connection, enum ck_reason reason)
{
    report_closed(connection, reason);
    ck_secured_end(connection);
    ck_proxy_close_watched(connection->gate, &connection->server);
    ck_connection_reset_stream(connection, &connection->down);
    /*
     * moved counts per host connection; the buffer of up stays, it may have the client's next
     * request
     */
    connection->up.moved = 0;
    connection->server_eof_sent = false;
}

void ck_connection_end(struct ck_connection *connection, enum ck_reason reason)
{
    struct ck_gate *gate = connection->gate;
    if (connection->ended)
        return;
    ck_connection_drop_server(connection, reason);
    ck_proxy_remove_due(connection);
    ck_dns_query_cancel(connection->query);
    ck_proxy_close_watched(gate, &connection->client);
    ck_connection_reset_stream(connection, &connection->up);
    if (connection->previous)
        connection->previous->next = connection->next;
    else
        gate->connections = connection->next;
    if (connection->next)
        connection->next->previous = connection->previous;
    gate->count--;
    gate->proxy->count--;
    connection->ended = true;
    /* freed after the round (proxy.c) */
    connection->next = gate->proxy->ended;
    gate->proxy->ended = connection;
    /* descriptors are free again */
    ck_accept_resume(gate);
}

void ck_connection_set_state(struct ck_connection *connection, enum ck_egress_state state, uint64_t timeout_ms)
{
    connection->state = state;
    /* Not known yet, so it is tried: a wrong guess costs one EAGAIN. */
    connection->ready = CK_ALL_READY;
    connection->deadline_ns = connection->gate->proxy->now_ns + timeout_ms * CK_NS_PER_MS;
    ck_proxy_set_timer(connection->gate, connection->deadline_ns);
}

/* The answer in the client's protocol. SOCKS has a short form for a wrong greeting. */
static size_t write_answer(const struct ck_connection *connection, const struct ck_egress_decision *decision,
                           char *buffer)
{
    /* also a client that sent nothing valid gets HTTP */
    if (connection->protocol != CK_PROTOCOL_SOCKS5)
        return ck_answer_http(decision->reason, decision->message, buffer);
    uint8_t reply[CK_SOCKS_REPLY_SIZE];
    ck_answer_socks(decision->code != 0 ? decision->code : ck_answer_socks_code(decision->reason), reply);
    memcpy(buffer, reply, sizeof(reply));
    /* version and method; the code is 0xff there (no acceptable method) */
    return connection->state == CK_EGRESS_STATE_HEAD ? 2 : sizeof(reply);
}

void ck_connection_refuse(struct ck_connection *connection, const struct ck_egress_decision *decision)
{
    enum ck_egress_state state = connection->state;
    char answer[CK_ANSWER_SIZE];
    ck_connection_report(connection, decision);
    /* After this the client reads what arrives as bytes of the tunnel or of the host's response. */
    bool too_late = state == CK_EGRESS_STATE_HELLO || state == CK_EGRESS_STATE_HANDSHAKE ||
                    state == CK_EGRESS_STATE_TUNNEL || state == CK_EGRESS_STATE_LINGER ||
                    (state == CK_EGRESS_STATE_EXCHANGE && connection->in_body);
    size_t length = too_late ? 0 : write_answer(connection, decision, answer);
    /* What the host or the client has sent is dropped before the answer is queued. */
    ck_connection_drop_server(connection, CK_REASON_REFUSED);
    ck_connection_reset_stream(connection, &connection->up);
    if (too_late || ck_relay_buffer_append(&connection->down.buffer, answer, length) != 0) {
        ck_connection_end(connection, CK_REASON_REFUSED);
        return;
    }
    connection->down.ready = length;
    connection->down.own = length;
    ck_connection_set_state(connection, CK_EGRESS_STATE_LINGER, LINGER_MS);
}

void ck_connection_refuse_fault(struct ck_connection *connection, const struct ck_fault *fault, bool known)
{
    char subject[SUBJECT_SIZE] = "";
    char message[512];
    /* The part before an '@' is a user name, and often a password: it must not be reported. */
    const char *user = fault->subject ? memrchr(fault->subject, '@', fault->subject_length) : NULL;
    size_t hidden = user ? (size_t)(user + 1 - fault->subject) : 0;
    if (fault->subject)
        (void)ck_quote(subject, sizeof(subject), fault->subject + hidden, fault->subject_length - hidden);
    if (fault->subject && fault->subject_last)
        (void)snprintf(message, sizeof(message), "the request %s ('%s')", fault->message, subject);
    else if (fault->subject)
        (void)snprintf(message, sizeof(message), "'%s' %s", subject, fault->message);
    else
        (void)snprintf(message, sizeof(message), "the request %s", fault->message);
    ck_connection_refuse(connection, &(struct ck_egress_decision){.verdict = CK_GATE_REFUSED,
                                                                  .reason = fault->reason,
                                                                  .message = message,
                                                                  .subject = known ? NULL : subject,
                                                                  .code = fault->code});
}

/* ---- moving ------------------------------------------------------------------------------ */

/* Can the stream move? A stream that waits for a side that is not ready would only get EAGAIN. */
static bool is_due(const struct ck_connection *connection, const struct ck_relay_stream *stream, bool up)
{
    if (stream->wait == CK_WAIT_SOURCE)
        return (connection->ready & (up ? CK_CLIENT_IN : CK_SERVER_IN)) != 0;
    if (stream->wait == CK_WAIT_SINK)
        return (connection->ready & (up ? CK_SERVER_OUT : CK_CLIENT_OUT)) != 0;
    return true;
}

void ck_connection_spend_turn(struct ck_connection *connection, bool up, uint64_t bytes)
{
    struct ck_proxy *proxy = connection->gate->proxy;
    uint64_t *left = &proxy->turn_bytes[up];
    /* a head may be larger than the rest of the turn */
    *left -= bytes < *left ? bytes : *left;
    proxy->work.bytes += bytes;
}

bool ck_connection_turn_is_over(const struct ck_connection *connection)
{
    const struct ck_proxy *proxy = connection->gate->proxy;
    return proxy->turn_bytes[false] == 0 || proxy->turn_bytes[true] == 0;
}

int ck_connection_pump_one(struct ck_connection *connection, bool up)
{
    struct ck_gate *gate = connection->gate;
    struct ck_relay_stream *stream = up ? &connection->up : &connection->down;
    if (!is_due(connection, stream, up))
        return 0;
    /* source and sink */
    const int fds[2] = {up ? connection->client.fd : connection->server.fd,
                        up ? connection->server.fd : connection->client.fd};
    uint64_t before = stream->moved;
    /*
     * A client that does not read keeps its pipe. As with connections, a client that takes all it
     * can leaves half of the rest.
     */
    bool had = !!stream->pipe;
    gate->proxy->pipes.withheld = gate->pipes >= ck_relay_pipes_left(&gate->proxy->pipes);
    int r = ck_relay_stream_pump(stream, &gate->proxy->pipes, fds, gate->proxy->turn_bytes[up],
                                 up ? &gate->budget.up_bytes : &gate->budget.down_bytes);
    gate->pipes = gate->pipes - had + (!!stream->pipe);
    ck_connection_spend_turn(connection, up, stream->moved - before);
    *(up ? &gate->totals.up_bytes : &gate->totals.down_bytes) += stream->moved - before;
    gate->proxy->broken_pipe = gate->proxy->broken_pipe || stream->broken_pipe;
    /* any byte, in either direction, restarts the idle time */
    if (stream->moved != before)
        connection->deadline_ns = gate->proxy->now_ns + gate->budget.idle_ms * CK_NS_PER_MS;
    return r;
}

void ck_connection_refuse_spent(struct ck_connection *connection)
{
    CK_REFUSE(connection, CK_GATE_REFUSED, CK_REASON_BYTES, "this run has reached its limit of transferred bytes");
}

bool ck_connection_pump(struct ck_connection *connection, bool up)
{
    if (ck_connection_pump_one(connection, up) < 0) {
        ck_connection_end(connection, CK_REASON_RESET);
        return false;
    }
    if ((up ? &connection->up : &connection->down)->wait != CK_WAIT_SPENT)
        return true;
    ck_connection_refuse_spent(connection);
    return false;
}

void ck_connection_add_events(const struct ck_relay_stream *stream, uint32_t *source, uint32_t *sink)
{
    /* After a full turn neither side has blocked, so the side that is next is watched. */
    bool turn = stream->wait == CK_WAIT_TURN;
    bool holds = stream->piped > 0 || stream->ready > 0;
    if (stream->wait == CK_WAIT_SOURCE || (turn && !holds))
        *source |= EPOLLIN;
    else if (stream->wait == CK_WAIT_SINK || turn)
        *sink |= EPOLLOUT;
}

void ck_connection_watch_streams(struct ck_connection *connection)
{
    uint32_t client = 0, server = 0;
    ck_connection_add_events(&connection->up, &client, &server);
    ck_connection_add_events(&connection->down, &server, &client);
    ck_proxy_watch(connection->gate, &connection->client, client);
    ck_proxy_watch(connection->gate, &connection->server, server);
}

/* ---- the last bytes ---------------------------------------------------------------------- */

/*
 * A socket that is closed while client bytes are unread sends a reset, which can overtake the
 * answer. So our side is shut down, and the client's bytes are read for a while.
 */
static bool step_linger(struct ck_connection *connection)
{
    char scratch[8192];
    ssize_t n = 1;
    if (!ck_connection_pump(connection, false))
        return true;
    if (connection->down.ready == 0 && !connection->client_eof_sent) {
        (void)shutdown(connection->client.fd, SHUT_WR);
        connection->client_eof_sent = true;
    }
    while (n > 0 && connection->lingered_bytes < LINGER_BYTES && !ck_connection_turn_is_over(connection)) {
        n = recv(connection->client.fd, scratch, sizeof(scratch), MSG_DONTWAIT);
        connection->lingered_bytes += n > 0 ? (size_t)n : 0;
        ck_connection_spend_turn(connection, true, n > 0 ? (size_t)n : 0);
    }
    bool enough = connection->lingered_bytes >= LINGER_BYTES;
    if (n == 0 || enough || (n < 0 && errno != EAGAIN && errno != EINTR)) {
        ck_connection_end(connection, CK_REASON_DONE);
        return true;
    }
    ck_proxy_watch(connection->gate, &connection->client,
                   EPOLLIN | (connection->down.ready > 0 ? (uint32_t)EPOLLOUT : 0));
    return false;
}

/* ---- running ----------------------------------------------------------------------------- */

/* Waits for the resolver. The client is not read: it could fill a buffer meanwhile. */
static bool step_lookup(struct ck_connection *connection)
{
    ck_proxy_watch(connection->gate, &connection->client, 0);
    return false;
}

static bool step_dial(struct ck_connection *connection)
{
    ck_proxy_watch(connection->gate, &connection->client, 0);
    return ck_target_dial(connection);
}

void ck_connection_run(struct ck_connection *connection)
{
    static bool (*const steps[])(struct ck_connection *) = {
        [CK_EGRESS_STATE_HEAD] = ck_request_step,
        [CK_EGRESS_STATE_SOCKS] = ck_request_step,
        [CK_EGRESS_STATE_LOOKUP] = step_lookup,
        [CK_EGRESS_STATE_DIAL] = step_dial,
        [CK_EGRESS_STATE_UPSTREAM] = ck_via_step,
        [CK_EGRESS_STATE_HELLO] = ck_tunnel_hello,
        [CK_EGRESS_STATE_HANDSHAKE] = ck_tunnel_handshake,
        [CK_EGRESS_STATE_TUNNEL] = ck_tunnel_relay,
        [CK_EGRESS_STATE_SECURING] = ck_secured_step,
        [CK_EGRESS_STATE_EXCHANGE] = ck_exchange_step,
        [CK_EGRESS_STATE_LINGER] = step_linger,
    };
    for (int step = 0; !connection->ended; step++) {
        (void)ck_secured_move(connection);
        bool more = steps[connection->state](connection);
        /* What the step has written goes to TLS; with that a handshake can be complete. */
        if (!more && (connection->ended || !ck_secured_move(connection)))
            break;
        if (connection->ended || (step < STEPS && !ck_connection_turn_is_over(connection)))
            continue;
        /*
         * The turn is over with work left: a client has already sent its next requests, or a host
         * answers before it has them. Watched for events that are true now, it runs again in the
         * next round.
         */
        ck_proxy_watch(connection->gate, &connection->client, EPOLLIN | EPOLLOUT);
        return;
    }
    connection->ready = 0;
}

void ck_connection_timed_out(struct ck_connection *connection)
{
    /* between two requests */
    bool between = connection->protocol != CK_PROTOCOL_NONE && connection->up.buffer.length == 0;
    switch (connection->state) {
    case CK_EGRESS_STATE_HEAD:
    case CK_EGRESS_STATE_SOCKS:
        /* A kept connection without a further request just ends. */
        if (between && connection->state == CK_EGRESS_STATE_HEAD)
            ck_connection_end(connection, CK_REASON_DONE);
        else
            CK_REFUSE(connection, CK_GATE_REFUSED, CK_REASON_SLOW, "no complete request arrived within %u ms",
                      connection->gate->budget.head_ms);
        break;
    case CK_EGRESS_STATE_HELLO:
        if (connection->rule->opaque)
            ck_connection_end(connection, CK_REASON_IDLE);
        else
            CK_REFUSE(connection, CK_GATE_REFUSED, CK_REASON_SLOW,
                      "nothing was sent into the tunnel to '%s' within %u ms", connection->host.text,
                      connection->gate->budget.head_ms);
        break;
    case CK_EGRESS_STATE_LOOKUP:
    case CK_EGRESS_STATE_DIAL:
        ck_target_timed_out(connection);
        break;
    case CK_EGRESS_STATE_UPSTREAM:
        ck_via_timed_out(connection);
        break;
    case CK_EGRESS_STATE_SECURING:
        ck_secured_timed_out(connection);
        break;
    case CK_EGRESS_STATE_EXCHANGE:
        if (!connection->in_body && connection->via && !connection->tls) {
            ck_via_timed_out(connection);
            break;
        }
        if (!connection->in_body) {
            CK_REFUSE(connection, CK_GATE_FAILED, CK_REASON_TIMEOUT, "'%s' did not answer within %u ms",
                      connection->host.text, connection->gate->budget.idle_ms);
            break;
        }
        ck_connection_end(connection, CK_REASON_IDLE);
        break;
    default:
        ck_connection_end(connection, connection->state == CK_EGRESS_STATE_LINGER ? CK_REASON_DONE : CK_REASON_IDLE);
    }
    ck_connection_run(connection);
}

void ck_connection_start(struct ck_gate *gate, int client_fd)
{
    struct ck_connection *connection = calloc(1, sizeof(*connection));
    if (!connection) {
        (void)close(client_fd);
        return;
    }
    (void)setsockopt(client_fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    /*
     * The client is on the same machine: measuring and pacing, as some kernels do by default (BBR),
     * gain nothing.
     */
    (void)setsockopt(client_fd, IPPROTO_TCP, TCP_CONGESTION, "reno", sizeof("reno") - 1);
    /* Unsent bytes would be read by the client after they have left the processor's cache. */
    (void)setsockopt(client_fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &(int){UNSENT_BYTES}, sizeof(int));
    connection->gate = gate;
    connection->number = gate->totals.connections;
    connection->client = (struct ck_watched){.kind = CK_WATCHED_CLIENT, .fd = client_fd, .owner = connection};
    connection->server = (struct ck_watched){.kind = CK_WATCHED_SERVER, .fd = -1, .owner = connection};
    connection->wire = connection->plain = (struct ck_watched){.kind = CK_WATCHED_TLS, .fd = -1, .owner = connection};
    connection->next = gate->connections;
    if (gate->connections)
        gate->connections->previous = connection;
    gate->connections = connection;
    gate->count++;
    gate->proxy->count++;
    ck_connection_set_state(connection, CK_EGRESS_STATE_HEAD, gate->budget.head_ms);
    ck_connection_run(connection);
}
