/*
 * target.c - from a client's host name to a connected socket.
 *
 * The order makes it safe. The name is compared with the rules before any look-up, so a name that
 * is not listed leaves no trace in DNS. Each address of the answer is checked, and exactly the
 * checked bytes are dialled, so a second, different DNS answer has no effect. An address that a
 * client writes itself never goes to a resolver.
 *
 * With an upstream it is the upstream that is looked up and dialled, wherever it is, and the name
 * goes to it unresolved (via.c).
 */
#include "base/clock.h"
#include "base/fd.h"
#include "egress/address.h"
#include "egress/gate.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

/* ---- looking up -------------------------------------------------------------------------- */

/* An address that is not public is allowed only if a rule lists it as an address or network. */
static bool may_dial(const struct ck_connection *connection, const struct ck_address *address)
{
    return connection->via || !ck_address_why_refused(address) ||
           ck_rule_find_address(&connection->gate->rules, address, connection->port);
}

static void refuse_addresses(struct ck_connection *connection, const struct ck_address *address)
{
    char text[CK_ADDRESS_TEXT_SIZE];
    char message[512];
    (void)snprintf(message, sizeof(message),
                   "'%s' is %s, %s; a host that is listed by name may not resolve to it; list the address to allow it",
                   connection->host.text, ck_destination_address_text(address, text), ck_address_why_refused(address));
    ck_connection_refuse(connection, &(struct ck_egress_decision){.verdict = CK_GATE_REFUSED,
                                                                  .reason = CK_REASON_ADDRESS,
                                                                  .message = message,
                                                                  .address = address});
}

static void refuse_lookup(struct ck_connection *connection, int status)
{
    if (connection->via)
        ck_via_unreachable(connection, status == -ENOENT ? EHOSTUNREACH : -status);
    else if (status == -ENOENT)
        CK_REFUSE(connection, CK_GATE_FAILED, CK_REASON_LOOKUP, "'%s' has no address", connection->host.text);
    else if (status == -ETIMEDOUT)
        CK_REFUSE(connection, CK_GATE_FAILED, CK_REASON_TIMEOUT, "no name server answered in time for '%s'",
                  connection->host.text);
    else
        CK_REFUSE(connection, CK_GATE_FAILED, CK_REASON_LOOKUP, "'%s' could not be looked up: %s",
                  connection->host.text, status == -EIO ? "the name server failed" : strerror(-status));
}

/*
 * Addresses that may not be dialled are left out. Only if none is left is the connection refused.
 */
static void take_answer(struct ck_connection *connection, int status, const struct ck_address *addresses, size_t count)
{
    if (status != 0) {
        refuse_lookup(connection, status);
        return;
    }
    for (size_t i = 0; i < count; i++)
        if (may_dial(connection, &addresses[i]))
            connection->addresses[connection->addresses_count++] = addresses[i];
    if (connection->addresses_count == 0)
        refuse_addresses(connection, &addresses[0]);
    else
        connection->state = CK_EGRESS_STATE_DIAL;
}

static void on_answer(void *data, int status, const struct ck_address *addresses, size_t count)
{
    struct ck_connection *connection = data;
    connection->query = NULL;
    take_answer(connection, status, addresses, count);
    /*
     * One packet of a name server can answer many queries: the connections must not all dial in one
     * turn.
     */
    if (!connection->asking)
        ck_proxy_add_due(connection);
}

/* The entry for a socket of c-ares, made if needed. Entries are reused and not freed (gate.h). */
static struct ck_dns_socket *socket_of(struct ck_gate *gate, int fd)
{
    struct ck_dns_socket *unused = NULL;
    for (struct ck_dns_socket *at = gate->sockets; at; at = at->next) {
        if (at->watched.fd == fd)
            return at;
        if (at->watched.fd < 0)
            unused = at;
    }
    if (!unused) {
        unused = calloc(1, sizeof(*unused));
        if (!unused)
            return NULL; /* the query gets no answer, and times out */
        unused->next = gate->sockets;
        gate->sockets = unused;
    }
    unused->watched = (struct ck_watched){.kind = CK_WATCHED_RESOLVER, .fd = fd, .owner = gate};
    return unused;
}

static void watch_resolver(void *data, int fd, unsigned events)
{
    struct ck_gate *gate = data;
    struct ck_dns_socket *socket = socket_of(gate, fd);
    if (!socket)
        return;
    ck_proxy_watch(gate, &socket->watched, events);
    if (events == 0)
        socket->watched.fd = -1; /* c-ares closes it */
}

/* The name is that of the upstream, or listed by a rule: see the beginning of this file. */
static void look_up(struct ck_connection *connection, const char *name)
{
    struct ck_gate *gate = connection->gate;
    connection->state = CK_EGRESS_STATE_LOOKUP;
    /*
     * c-ares may answer within the call, from /etc/hosts. on_answer must not queue the connection
     * then.
     */
    connection->asking = true;
    int r = gate->resolver ? 0 : ck_dns_resolver_new(watch_resolver, gate, &gate->resolver);
    if (r == 0)
        r = ck_dns_resolver_lookup(gate->resolver, name, on_answer, connection, &connection->query);
    connection->asking = false;
    if (r != 0)
        CK_REFUSE(connection, CK_GATE_FAILED, CK_REASON_RESOURCES, "'%s' cannot be looked up now: %s", name,
                  strerror(-r));
    else if (connection->query)
        ck_proxy_set_timer(gate, gate->proxy->now_ns + ck_dns_resolver_timeout_ns(gate->resolver));
}

void ck_target_begin(struct ck_connection *connection)
{
    struct ck_gate *gate = connection->gate;
    connection->addresses_count = 0;
    connection->address_at = 0;
    connection->dial_error = 0;
    connection->via = false;
    connection->rule = ck_rule_find(&gate->rules, &connection->host, connection->port);
    if (!connection->rule) {
        CK_REFUSE(connection, CK_GATE_REFUSED, CK_REASON_NOT_LISTED,
                  gate->rules.count > 0 ? "'%s' port %u is not among the hosts that this run may reach"
                                        : "'%s' port %u: this run may reach no host",
                  connection->host.text, connection->port);
        return;
    }
    /* Each target counts, because one kept HTTP connection can ask for any number of them. */
    if (++gate->targets > gate->budget.connections_total) {
        CK_REFUSE(connection, CK_GATE_REFUSED, CK_REASON_CONNECTIONS, "this run has used all of its %llu connections",
                  (unsigned long long)gate->budget.connections_total);
        return;
    }
    if (gate->upstream.port != 0 && !ck_via_may_ask(connection))
        return;
    connection->via = gate->upstream.port != 0;
    const struct ck_hostname *dialled = connection->via ? &gate->upstream.host : &connection->host;
    ck_connection_set_state(connection, CK_EGRESS_STATE_DIAL, gate->budget.dial_ms);
    connection->dial_end_ns = connection->deadline_ns;
    if (!dialled->numeric) {
        look_up(connection, dialled->text);
        return;
    }
    connection->addresses[0] = dialled->address;
    connection->addresses_count = 1;
}

/* ---- dialling ---------------------------------------------------------------------------- */

/* Begins to connect. The result comes as EPOLLOUT and SO_ERROR. */
static int connect_to(const struct ck_address *address, uint16_t port, int *ret_fd)
{
    bool four = address->length == 4;
    CK_FD fd = socket(four ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -errno;
    /*
     * Small pieces are forwarded as they come, without Nagle's delay: the sender decided when to
     * send.
     */
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    memcpy(&v4.sin_addr, address->bytes, sizeof(v4.sin_addr));
    memcpy(&v6.sin6_addr, address->bytes, sizeof(v6.sin6_addr));
    int r = four ? connect(fd, (const struct sockaddr *)&v4, sizeof(v4))
                 : connect(fd, (const struct sockaddr *)&v6, sizeof(v6));
    if (r < 0 && errno != EINPROGRESS)
        return -errno;
    *ret_fd = ck_fd_take(&fd);
    return 0;
}

/* Each address gets its share of the remaining time. */
static void set_dial_deadline(struct ck_connection *connection)
{
    uint64_t now_ns = connection->gate->proxy->now_ns;
    uint64_t left_ns = connection->dial_end_ns > now_ns ? connection->dial_end_ns - now_ns : 0;
    connection->deadline_ns = now_ns + left_ns / (connection->addresses_count - connection->address_at + 1);
    ck_proxy_set_timer(connection->gate, connection->deadline_ns);
}

/* No address is left. Reports the error of the last one. */
static void give_up(struct ck_connection *connection)
{
    if (connection->via) {
        ck_via_unreachable(connection, connection->dial_error);
        return;
    }
    const struct ck_address *last = &connection->addresses[connection->addresses_count - 1];
    bool late = connection->dial_error == ETIMEDOUT;
    bool ours =
        connection->dial_error == EMFILE || connection->dial_error == ENFILE || connection->dial_error == ENOMEM;
    char message[512];
    (void)snprintf(message, sizeof(message), "'%s' port %u cannot be reached: %s", connection->host.text,
                   connection->port, strerror(connection->dial_error));
    ck_connection_refuse(connection, &(struct ck_egress_decision){.verdict = CK_GATE_FAILED,
                                                                  .reason = late   ? CK_REASON_TIMEOUT
                                                                            : ours ? CK_REASON_RESOURCES
                                                                                   : CK_REASON_CONNECT,
                                                                  .message = message,
                                                                  .address = last});
}

/* One address after the other; the next one if this fails at once. */
static void dial_next(struct ck_connection *connection)
{
    while (connection->address_at < connection->addresses_count) {
        const struct ck_address *address = &connection->addresses[connection->address_at++];
        uint16_t port = connection->via ? connection->gate->upstream.port : connection->port;
        int r = connect_to(address, port, &connection->server.fd);
        /* The last descriptors are left to the host program (proxy.h). */
        if (r == 0 && connection->server.fd >= connection->gate->proxy->fd_limit) {
            ck_fd_close(&connection->server.fd);
            r = -EMFILE;
        }
        if (r == 0) {
            set_dial_deadline(connection);
            ck_proxy_watch(connection->gate, &connection->server, EPOLLOUT);
            return;
        }
        connection->dial_error = -r;
    }
    give_up(connection);
}

/* address_at is after the dialled address. */
static void connected(struct ck_connection *connection)
{
    if (connection->via && (connection->protocol != CK_PROTOCOL_HTTP || connection->request.secrets)) {
        ck_via_begin(connection);
        return;
    }
    if (connection->request.secrets) {
        ck_secured_begin(connection);
        return;
    }
    const struct ck_address *address = &connection->addresses[connection->address_at - 1];
    ck_connection_report(connection, &(struct ck_egress_decision){
                                         .verdict = CK_GATE_OPENED, .message = "connected", .address = address});
    if (connection->protocol == CK_PROTOCOL_HTTP)
        ck_exchange_begin(connection);
    else
        ck_tunnel_begin(connection);
}

bool ck_target_dial(struct ck_connection *connection)
{
    if (connection->server.fd < 0) {
        dial_next(connection);
        return connection->state != CK_EGRESS_STATE_DIAL;
    }
    if ((connection->ready & CK_SERVER_OUT) == 0)
        return false;
    int error = 0;
    socklen_t size = sizeof(error);
    /* The result of a non-blocking connect. */
    if (getsockopt(connection->server.fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0)
        error = errno;
    if (error == 0) {
        connected(connection);
        return true;
    }
    connection->dial_error = error;
    ck_proxy_close_watched(connection->gate, &connection->server);
    connection->ready = 0;
    return true;
}

void ck_target_timed_out(struct ck_connection *connection)
{
    connection->dial_error = ETIMEDOUT;
    if (connection->state == CK_EGRESS_STATE_LOOKUP) {
        ck_dns_query_cancel(connection->query);
        connection->query = NULL;
        refuse_lookup(connection, -ETIMEDOUT);
        return;
    }
    ck_proxy_close_watched(connection->gate, &connection->server);
    connection->ready = 0;
}
