/*
 * secured.c - a request that gets host secrets: the proxy speaks TLS to the host.
 *
 * The exchange of plain HTTP (exchange.c) is the same: it has one end of a pair of sockets in the
 * place of the host, and never sees a secret. Here bytes are moved between the other end and the
 * socket of the host, through TLS, which also writes the secrets (tls_client.h). The pair is a
 * bounded buffer, so a slow host or client holds back the other one as without TLS.
 *
 * A connection carries one request. A host that finds another end of a body than this proxy takes
 * what follows for a request of the program, and the next head, with its secret, for the body of
 * that: the program could have it stored or sent back. The strict reader (http.h) makes this
 * unlikely; with nothing after the request it is impossible.
 *
 * Must not pass a byte of the request on before the certificate of the host is verified.
 */
#include "base/fd.h"
#include "egress/gate.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

static void refuse_resources(struct ck_connection *connection, const char *why)
{
    CK_REFUSE(connection, CK_GATE_FAILED, CK_REASON_RESOURCES, "'%s' port %u cannot be reached by TLS now: %s",
              connection->host.text, connection->port, why);
}

/* The pair of sockets. Returns 0 or a negative errno. */
static int make_pair(const struct ck_connection *connection, int ret_ends[2])
{
    int limit = connection->gate->proxy->fd_limit;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ret_ends) < 0)
        return -errno;
    /* The last descriptors are left to the host program (proxy.h). */
    if (ret_ends[0] < limit && ret_ends[1] < limit)
        return 0;
    ck_fd_close(&ret_ends[0]);
    ck_fd_close(&ret_ends[1]);
    return -EMFILE;
}

void ck_secured_begin(struct ck_connection *connection)
{
    struct ck_gate *gate = connection->gate;
    int ends[2] = {-1, -1};
    int r = make_pair(connection, ends);
    if (r < 0) {
        refuse_resources(connection, strerror(-r));
        return;
    }
    ck_proxy_watch(gate, &connection->server, 0);
    connection->wire.fd = connection->server.fd;
    connection->server.fd = ends[0];
    connection->plain.fd = ends[1];
    connection->tls = ck_tls_client_new(gate->secrets->authorities, connection->host.text);
    if (!connection->tls) {
        refuse_resources(connection, strerror(ENOMEM));
        return;
    }
    ck_connection_set_state(connection, CK_EGRESS_STATE_SECURING, gate->budget.dial_ms);
}

/* Nothing of the request has left: the certificate comes before it. */
static void refuse_host(struct ck_connection *connection)
{
    bool certificate = false;
    const char *fault = ck_tls_client_fault(connection->tls, &certificate);
    CK_REFUSE(connection, CK_GATE_FAILED, certificate ? CK_REASON_CERTIFICATE : CK_REASON_TLS,
              "'%s' port %u: %s; nothing was sent", connection->host.text, connection->port, fault);
}

bool ck_secured_step(struct ck_connection *connection)
{
    enum ck_tls_state state = ck_tls_client_state(connection->tls);
    ck_proxy_watch(connection->gate, &connection->client, 0);
    if (state == CK_TLS_HANDSHAKE)
        return false;
    if (state == CK_TLS_ENDED) {
        refuse_host(connection);
        return true;
    }
    const struct ck_address *address = connection->via ? NULL : &connection->addresses[connection->address_at - 1];
    ck_connection_report(connection, &(struct ck_egress_decision){
                                         .verdict = CK_GATE_OPENED, .message = "connected", .address = address});
    ck_exchange_begin(connection);
    return true;
}

bool ck_secured_move(struct ck_connection *connection)
{
    uint32_t wire = 0, plain = 0;
    if (!connection->tls || connection->ended)
        return false;
    unsigned moved = ck_tls_client_move(connection->tls, connection->wire.fd, connection->plain.fd);
    if ((moved & CK_TLS_MOVED_IN) != 0)
        connection->ready |= CK_SERVER_IN;
    if ((moved & CK_TLS_MOVED_OUT) != 0)
        connection->ready |= CK_SERVER_OUT;
    ck_tls_client_events(connection->tls, &wire, &plain);
    ck_proxy_watch(connection->gate, &connection->wire, wire);
    ck_proxy_watch(connection->gate, &connection->plain, plain);
    return connection->state == CK_EGRESS_STATE_SECURING && ck_tls_client_state(connection->tls) != CK_TLS_HANDSHAKE;
}

void ck_secured_add(struct ck_connection *connection, size_t head_bytes)
{
    const struct ck_host_secrets *secrets = connection->request.secrets;
    struct ck_tls_line lines[CK_HOST_SECRETS_MAX];
    size_t count = 0;
    if (!connection->tls || !secrets)
        return;
    for (size_t i = 0; i < secrets->count; i++)
        if (ck_host_secret_is_for(&secrets->items[i], &connection->host, connection->port))
            lines[count++] = (struct ck_tls_line){secrets->items[i].line, secrets->items[i].length};
    /* Before the empty line that ends the head. */
    ck_tls_client_insert(connection->tls, connection->up.moved + head_bytes - 2, lines, count);
}

uint64_t ck_secured_count(const struct ck_connection *connection)
{
    struct ck_host_secrets *secrets = connection->gate->secrets;
    uint64_t requests = connection->tls ? ck_tls_client_inserted(connection->tls) : 0;
    for (size_t i = 0; requests > 0 && i < secrets->count; i++)
        if (ck_host_secret_is_for(&secrets->items[i], &connection->host, connection->port))
            secrets->items[i].requests += requests;
    return requests;
}

void ck_secured_end(struct ck_connection *connection)
{
    if (connection->tls)
        ck_tls_client_close(connection->tls, connection->wire.fd);
    ck_tls_client_free(connection->tls);
    connection->tls = NULL;
    ck_proxy_close_watched(connection->gate, &connection->wire);
    ck_proxy_close_watched(connection->gate, &connection->plain);
}

void ck_secured_timed_out(struct ck_connection *connection)
{
    CK_REFUSE(connection, CK_GATE_FAILED, CK_REASON_TIMEOUT, "'%s' port %u: no TLS within %u ms", connection->host.text,
              connection->port, connection->gate->budget.dial_ms);
}
