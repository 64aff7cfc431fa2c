/*
 * exchange.c - plain HTTP: one request to a host and its response, then possibly the next.
 *
 * Both directions run at once, because a host may respond before it has the whole request. Heads
 * and the framing of chunked bodies are read. Bodies of a known length, and those that end with the
 * connection, pass unread. The connection to a host is kept for the next request if that is for the
 * same host and port. Otherwise the next request starts like the first one, with the rules.
 */
#include "egress/gate.h"

#include "base/heap.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>

#define SOME_BYTES 16384 /* of a chunked body at a time */
#define LINGER_MS 2000
#define PIECES 32 /* heads and parts of a chunked body, per turn */

/* ---- bodies ------------------------------------------------------------------------------ */

/* After a head: how much of the buffer, after its ready bytes, belongs to the body? */
static int take_body(struct ck_relay_stream *stream, enum ck_body_kind kind, uint64_t body_bytes,
                     const struct ck_host_secrets *secrets, struct ck_chunked *chunked)
{
    size_t rest = stream->buffer.length - stream->ready;
    ssize_t taken = 0;
    *chunked = (struct ck_chunked){.secrets = secrets};
    stream->left = 0;
    if (kind == CK_BODY_LENGTH) {
        taken = (ssize_t)(rest < body_bytes ? rest : body_bytes);
        stream->left = body_bytes - (size_t)taken;
    } else if (kind == CK_BODY_UNTIL_CLOSE) {
        taken = (ssize_t)rest;
        stream->left = UINT64_MAX;
    } else if (kind == CK_BODY_CHUNKED) {
        taken = ck_chunked_scan(chunked, stream->buffer.data + stream->ready, rest);
    }
    if (taken < 0)
        return (int)taken;
    stream->ready += (size_t)taken;
    return 0;
}

/* Is the whole body sent? */
static bool is_complete(const struct ck_relay_stream *stream, enum ck_body_kind kind, const struct ck_chunked *chunked)
{
    if (stream->ready > 0 || stream->piped > 0)
        return false;
    if (kind == CK_BODY_CHUNKED)
        return chunked->done;
    return kind == CK_BODY_UNTIL_CLOSE ? stream->wait == CK_WAIT_END : stream->left == 0;
}

/* Moves a chunked body on, frame by frame. Returns 1: continue; 0: it waits; a negative errno. */
static int next_chunks(struct ck_relay_stream *stream, struct ck_chunked *chunked, int from_fd)
{
    int r = ck_relay_stream_fill(stream, from_fd, SOME_BYTES);
    if (r == 0)
        stream->wait = CK_WAIT_SOURCE;
    if (r <= 0 || stream->ended)
        return r;
    ssize_t taken = ck_chunked_scan(chunked, stream->buffer.data, stream->buffer.length);
    if (taken < 0)
        return (int)taken;
    stream->ready = (size_t)taken;
    return 1;
}

/*
 * Is the turn over? Then the stream continues with what it holds after the others had their turn.
 */
static bool turn_is_over(struct ck_relay_stream *stream, unsigned *pieces)
{
    if (stream->ready == 0 || ++*pieces < PIECES)
        return false;
    stream->wait = CK_WAIT_TURN;
    return true;
}

/* ---- the request ------------------------------------------------------------------------- */

void ck_exchange_begin(struct ck_connection *connection)
{
    const struct ck_http_request *request = &connection->request;
    struct ck_relay_stream *up = &connection->up;
    CK_HEAP char *forward = ck_heap_own(malloc(CK_HEAD_MAX + CK_HEAD_ADDED));
    /* Over TLS an upstream is a tunnel. */
    const struct ck_upstream *upstream = connection->via && !connection->tls ? &connection->gate->upstream : NULL;
    size_t length =
        !forward ? 0 : ck_http_forward_request(up->buffer.data, connection->head_bytes, request, upstream, forward);
    connection->answered = connection->in_body = connection->up_broken = false;
    ck_connection_set_state(connection, CK_EGRESS_STATE_EXCHANGE, connection->gate->budget.idle_ms);
    if (!forward || ck_relay_buffer_replace(&up->buffer, connection->head_bytes, forward, length) != 0) {
        CK_REFUSE(connection, CK_GATE_FAILED, CK_REASON_RESOURCES, "out of memory");
        return;
    }
    up->ready = length;
    ck_secured_add(connection, length);
    if (take_body(up, request->body, request->body_bytes, request->secrets, &connection->up_chunked) != 0)
        CK_REFUSE(connection, CK_GATE_REFUSED, CK_REASON_MALFORMED, "the request has a malformed chunked body");
}

/* The whole request is with the host. */
static bool is_sent(const struct ck_connection *connection)
{
    return !connection->up_broken && is_complete(&connection->up, connection->request.body, &connection->up_chunked);
}

/* Moves what it can of the request. False: the connection was ended. */
static bool push_request(struct ck_connection *connection)
{
    struct ck_relay_stream *up = &connection->up;
    bool chunked = connection->request.body == CK_BODY_CHUNKED;
    unsigned pieces = 0;
    int r = 1;
    while (r > 0 && !connection->up_broken && !turn_is_over(up, &pieces)) {
        r = ck_connection_pump_one(connection, true);
        if (r == 0 && up->wait == CK_WAIT_NOTHING && chunked && !connection->up_chunked.done)
            r = next_chunks(up, &connection->up_chunked, connection->client.fd);
    }
    if (r == -EPROTO) {
        CK_REFUSE(connection, CK_GATE_REFUSED, CK_REASON_MALFORMED, "the request has a malformed chunked body");
        return false;
    }
    if (up->wait == CK_WAIT_SPENT) {
        ck_connection_refuse_spent(connection);
        return false;
    }
    /* the host may have responded before it closed; a broken client will be noticed too */
    if (r < 0) {
        connection->up_broken = true;
        up->wait = CK_WAIT_NOTHING;
    }
    /* The client closed within the body of its request. */
    if (up->wait == CK_WAIT_END && !is_sent(connection)) {
        ck_connection_end(connection, CK_REASON_RESET);
        return false;
    }
    return true;
}

/* ---- the response ------------------------------------------------------------------------ */

/* The host is at fault, so the verdict is FAILED and not REFUSED. */
static void refuse_answer(struct ck_connection *connection, const char *what)
{
    CK_REFUSE(connection, CK_GATE_FAILED, CK_REASON_BAD_ANSWER, "the response of '%s' %s", connection->host.text, what);
}

/* A body that ends with the connection can only be ended by closing the client's connection too. */
static bool keeps_client(const struct ck_connection *connection)
{
    return connection->request.keep_alive && connection->response.body != CK_BODY_UNTIL_CLOSE;
}

/* The head is complete. False: the connection was ended. */
static bool take_head(struct ck_connection *connection, size_t head_bytes)
{
    struct ck_relay_stream *down = &connection->down;
    struct ck_http_response *response = &connection->response;
    struct ck_fault fault;
    CK_HEAP char *forward = ck_heap_own(malloc(CK_HEAD_MAX + CK_HEAD_ADDED));
    if (ck_http_read_response(down->buffer.data, head_bytes, connection->request.head, response, &fault) != 0) {
        refuse_answer(connection, fault.message);
        return false;
    }
    /* 407 comes from a proxy: the client could not answer it, because it must not know of ours. */
    if (connection->via && !connection->tls && response->status == 407) {
        ck_via_refuse_credentials(connection);
        return false;
    }
    bool keeps = response->interim || keeps_client(connection);
    size_t forward_bytes = !forward ? 0 : ck_http_forward_response(down->buffer.data, head_bytes, keeps, forward);
    if (!forward || ck_relay_buffer_replace(&down->buffer, head_bytes, forward, forward_bytes) != 0) {
        ck_connection_end(connection, CK_REASON_RESOURCES);
        return false;
    }
    down->ready = forward_bytes;
    connection->checked = 0;
    /* Heads count too: a host could send interim responses without end. */
    ck_connection_spend_turn(connection, false, head_bytes);
    /* 1xx: another head follows, and the request is still open. */
    if (response->interim)
        return true;
    connection->in_body = true;
    if (take_body(down, response->body, response->body_bytes, NULL, &connection->down_chunked) == 0)
        return true;
    connection->in_body = false;
    refuse_answer(connection, "has a malformed chunked body");
    return false;
}

/* The host closed the connection before a complete head. */
static void fail_host_gone(struct ck_connection *connection)
{
    if (connection->reused && !connection->answered)
        /* as without a proxy: the client tries again */
        ck_connection_end(connection, CK_REASON_RESET);
    else
        refuse_answer(connection, "ended before it was complete");
}

/* Reads a head. Returns 1: continue; 0: it waits; -1: the connection was ended. */
static int pull_head(struct ck_connection *connection)
{
    struct ck_relay_stream *down = &connection->down;
    struct ck_fault fault;
    ssize_t length = 0;
    if (down->buffer.length > 0)
        length = ck_http_find_end(down->buffer.data, down->buffer.length, &connection->checked, &fault);
    if (length < 0) {
        refuse_answer(connection, fault.message);
        return -1;
    }
    if (length > 0)
        return take_head(connection, (size_t)length) ? 1 : -1;
    int r = ck_relay_stream_fill(down, connection->server.fd, CK_HEAD_MAX);
    if (r < 0 || down->ended) {
        fail_host_gone(connection);
        return -1;
    }
    connection->answered = connection->answered || r > 0;
    if (r == 0)
        down->wait = CK_WAIT_SOURCE;
    return r;
}

/* False: the connection was ended. */
static bool pull_answer(struct ck_connection *connection)
{
    struct ck_relay_stream *down = &connection->down;
    unsigned pieces = 0;
    int r = 1;
    while (r > 0 && !turn_is_over(down, &pieces)) {
        if (!ck_connection_pump(connection, false))
            return false;
        r = 0;
        if (down->ready > 0 || down->piped > 0)
            break;
        if (!connection->in_body)
            r = pull_head(connection);
        else if (connection->response.body == CK_BODY_CHUNKED && !connection->down_chunked.done && !down->ended)
            r = next_chunks(down, &connection->down_chunked, connection->server.fd);
    }
    if (connection->ended || connection->state != CK_EGRESS_STATE_EXCHANGE)
        return false;
    /*
     * The host closed before the body was complete. The client's connection is closed too, so that
     * the client notices.
     */
    bool cut = down->ended && down->ready == 0 && connection->in_body &&
               !is_complete(down, connection->response.body, &connection->down_chunked);
    if (r < 0 || cut) {
        ck_connection_end(connection, CK_REASON_RESET);
        return false;
    }
    return true;
}

/* ---- both -------------------------------------------------------------------------------- */

/* The response is sent. The client may be kept for its next request, and the host with it. */
static void finish(struct ck_connection *connection)
{
    if (!is_sent(connection) || !keeps_client(connection)) {
        ck_connection_drop_server(connection, CK_REASON_DONE);
        ck_connection_reset_stream(connection, &connection->up);
        ck_connection_set_state(connection, CK_EGRESS_STATE_LINGER, LINGER_MS);
        return;
    }
    /* Bytes after the response belong to no request. */
    bool surplus = connection->down.buffer.length > 0 || connection->down.ended;
    /* Over TLS there is one request for each connection (secured.c). */
    if (!connection->response.keep_alive || surplus || connection->tls)
        ck_connection_drop_server(connection, CK_REASON_DONE);
    /* bytes of a next request may already be in the buffer of up */
    ck_connection_set_state(connection, CK_EGRESS_STATE_HEAD, connection->gate->budget.head_ms);
    connection->ready &= ~(unsigned)CK_SERVER_IN; /* epoll reports when it closes */
}

bool ck_exchange_step(struct ck_connection *connection)
{
    if (!push_request(connection) || !pull_answer(connection))
        return true;
    if (connection->in_body && is_complete(&connection->down, connection->response.body, &connection->down_chunked)) {
        /* A response that ends with the connection could have been cut by anyone on the way. */
        if (connection->tls && connection->response.body == CK_BODY_UNTIL_CLOSE &&
            ck_tls_client_was_cut(connection->tls))
            ck_connection_end(connection, CK_REASON_RESET);
        else
            finish(connection);
        return true;
    }
    ck_connection_watch_streams(connection);
    return false;
}
