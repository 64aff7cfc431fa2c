/*
 * proxy.c - theory of operation, and the event loop.
 *
 * A gate is a listening socket with rules; a connection is one client of it. Each gate has its own
 * epoll set with everything that it waits for: the listener, both sockets of each connection, the
 * sockets of its resolver, and one timer for all deadlines. The set is a descriptor itself. The
 * sets of all gates are in one more set, which the caller watches.
 *
 * A dispatch polls the sets once, and does one slice of work (proxy.h): each ready gate gets an
 * equal share, and each ready connection an equal share of that. So a run with a thousand
 * connections that are always ready delays another run by one slice, not by a thousand connections.
 * The kernel keeps ready descriptors in a list, takes from its head, and appends those that are
 * still ready. That is why each one gets a turn, though only some are asked for at a time.
 *
 *   client --- up: buffer, or pipe ----> host
 *          <-- down: buffer, or pipe ---
 *
 * A client says where it wants to go (request.c: HTTP or SOCKS5). The name is matched and looked
 * up, its addresses are checked, and one of them is dialled (target.c). With an upstream, a proxy of
 * the site, that is dialled instead, and gets the name (via.c). Then follows a tunnel, with a check
 * of its first message (tunnel.c), or HTTP messages (exchange.c).
 *
 * Must: every state has a deadline and every buffer a maximum, because the client is hostile. A
 * descriptor is watched only for what would make progress, and is removed from the set if nothing
 * would: the kernel reports hang-ups even if they are not asked for, and would do so again and
 * again.
 *
 * Must not block, or work without end for one client while others wait. Must not do slow work for
 * each connection in a loop over all of them: late connections, and those that the resolver has
 * answered, are put into a list of their gate and run from there, some in each slice.
 *
 * Must not free a connection while an event of the same round may point to it: it waits in a list
 * until the round is over.
 *
 * splice(2) into a socket after its peer is gone raises SIGPIPE, and there is no flag to prevent
 * it. The signal is blocked during a dispatch and then discarded, so that a host program that does
 * not handle it survives.
 */
#include "egress/proxy.h"

#include "base/clock.h"
#include "base/fd.h"
#include "egress/gate.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

/*
 * Half of a slice is for ready connections; the other half is for new ones, and for those that are
 * due.
 */
#define READY_BYTES (CK_PROXY_SLICE_BYTES / 2)
#define READY (CK_PROXY_SLICE_CONNECTIONS / 2)
#define ACCEPTED (CK_PROXY_SLICE_CONNECTIONS / 4)
/* the precision of deadlines; they are not checked more often */
#define TICK_NS (10 * CK_NS_PER_MS)

/* ---- descriptors and time ---------------------------------------------------------------- */

static void watch_in(int set_fd, struct ck_watched *watched, uint32_t events)
{
    if (watched->fd < 0 || watched->events == events)
        return;
    struct epoll_event event = {.events = events, .data.ptr = watched};
    /*
     * Without events a descriptor is not in the set: epoll reports errors and hang-ups also for 0.
     */
    int how = events == 0 ? EPOLL_CTL_DEL : watched->events == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
    /* This fails only for lack of memory; then the connection's deadline ends it. */
    if (epoll_ctl(set_fd, how, watched->fd, &event) == 0)
        watched->events = events;
}

void ck_proxy_watch(struct ck_gate *gate, struct ck_watched *watched, uint32_t events)
{
    watch_in(gate->set.fd, watched, events);
}

void ck_proxy_close_watched(struct ck_gate *gate, struct ck_watched *watched)
{
    ck_proxy_watch(gate, watched, 0);
    ck_fd_close(&watched->fd);
    /* also if epoll_ctl failed: the close has removed the descriptor from the set */
    watched->events = 0;
}

/* An earlier time replaces a later one. A time in the past (1) makes the timer expire at once. */
static void arm(struct ck_gate *gate, uint64_t at_ns)
{
    struct itimerspec spec = {
        .it_value = {.tv_sec = (time_t)(at_ns / CK_NS_PER_S), .tv_nsec = (long)(at_ns % CK_NS_PER_S)}};
    if (gate->armed_ns != 0 && gate->armed_ns <= at_ns)
        return;
    if (timerfd_settime(gate->timer.fd, TFD_TIMER_ABSTIME, &spec, NULL) == 0)
        gate->armed_ns = at_ns;
}

void ck_proxy_set_timer(struct ck_gate *gate, uint64_t deadline_ns)
{
    if (deadline_ns != UINT64_MAX)
        /* a tick later, so that several deadlines are handled by one expiry */
        arm(gate, deadline_ns + TICK_NS);
}

void ck_proxy_add_due(struct ck_connection *connection)
{
    struct ck_gate *gate = connection->gate;
    if (connection->due || connection->ended)
        return;
    connection->due = true;
    connection->next_due = NULL;
    connection->previous_due = gate->due_last;
    *(gate->due_last ? &gate->due_last->next_due : &gate->due_first) = connection;
    gate->due_last = connection;
    arm(gate, 1);
}

void ck_proxy_remove_due(struct ck_connection *connection)
{
    struct ck_gate *gate = connection->gate;
    if (!connection->due)
        return;
    connection->due = false;
    *(connection->previous_due ? &connection->previous_due->next_due : &gate->due_first) = connection->next_due;
    *(connection->next_due ? &connection->next_due->previous_due : &gate->due_last) = connection->previous_due;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Queues the late connections of this gate. Returns when to look again. */
static uint64_t check_deadlines(struct ck_gate *gate, uint64_t now_ns)
{
    uint64_t next_ns = UINT64_MAX;
    if (gate->pause_ns != 0 && gate->pause_ns <= now_ns)
        ck_accept_resume(gate);
    if (gate->resolver && ck_dns_resolver_timeout_ns(gate->resolver) == 0) {
        gate->proxy->broken_pipe = true;
        ck_dns_resolver_timed_out(gate->resolver);
    }
    for (struct ck_connection *connection = gate->connections; connection; connection = connection->next) {
        if (connection->deadline_ns <= now_ns)
            ck_proxy_add_due(connection);
        else
            next_ns = earlier(next_ns, connection->deadline_ns);
    }
    if (gate->pause_ns != 0)
        next_ns = earlier(next_ns, gate->pause_ns);
    uint64_t timeout_ns = gate->resolver ? ck_dns_resolver_timeout_ns(gate->resolver) : UINT64_MAX;
    return timeout_ns != UINT64_MAX ? earlier(next_ns, now_ns + timeout_ns) : next_ns;
}

void ck_proxy_begin_turn(struct ck_proxy *proxy, uint64_t bytes)
{
    proxy->turn_bytes[false] = proxy->turn_bytes[true] = bytes;
    proxy->work.connections++;
}

static void on_timer(struct ck_gate *gate, unsigned share)
{
    struct ck_proxy *proxy = gate->proxy;
    uint64_t ignored;
    /* An expired timer stays readable until it is read. */
    (void)!read(gate->timer.fd, &ignored, sizeof(ignored));
    gate->armed_ns = 0;
    ck_proxy_set_timer(gate, check_deadlines(gate, proxy->now_ns));
    for (unsigned i = 0; i < share && gate->due_first; i++) {
        struct ck_connection *connection = gate->due_first;
        ck_proxy_remove_due(connection);
        ck_proxy_begin_turn(proxy, CK_PROXY_TURN_MIN_BYTES);
        if (connection->deadline_ns <= proxy->now_ns)
            ck_connection_timed_out(connection);
        else
            ck_connection_run(connection);
    }
    if (gate->due_first)
        arm(gate, 1);
}

/* ---- the loop ---------------------------------------------------------------------------- */

/* An earlier event of the same round may have ended the connection; it is freed after the round. */
static void on_connection(struct ck_connection *connection, bool client, uint32_t events)
{
    /* An error counts as readiness for both: the next read or write returns it. */
    bool broken = (events & (EPOLLERR | EPOLLHUP)) != 0;
    if (connection->ended)
        return;
    if (broken || (events & EPOLLIN) != 0)
        connection->ready |= client ? CK_CLIENT_IN : CK_SERVER_IN;
    if (broken || (events & EPOLLOUT) != 0)
        connection->ready |= client ? CK_CLIENT_OUT : CK_SERVER_OUT;
    ck_connection_run(connection);
}

/* share: how many connections may be accepted, or run because they are due. */
static void on_event(const struct epoll_event *event, unsigned share, uint64_t turn_bytes)
{
    struct ck_watched *watched = event->data.ptr;
    struct ck_gate *gate = watched->owner;
    switch (watched->kind) {
    case CK_WATCHED_TIMER:
        on_timer(gate, share);
        break;
    case CK_WATCHED_LISTENER:
        ck_accept_clients(gate, share);
        break;
    case CK_WATCHED_RESOLVER:
        gate->proxy->broken_pipe = true; /* c-ares may write to a socket without MSG_NOSIGNAL */
        if (watched->fd >= 0)
            ck_dns_resolver_ready(gate->resolver, watched->fd, event->events);
        break;
    case CK_WATCHED_DIRECT_ATTEMPTS:
        ck_direct_attempts_receive(gate);
        break;
    case CK_WATCHED_CLIENT:
    case CK_WATCHED_SERVER:
        ck_proxy_begin_turn(((const struct ck_connection *)watched->owner)->gate->proxy, turn_bytes);
        on_connection(watched->owner, watched->kind == CK_WATCHED_CLIENT, event->events);
        break;
    case CK_WATCHED_TLS:
        ck_proxy_begin_turn(((const struct ck_connection *)watched->owner)->gate->proxy, turn_bytes);
        if (!((const struct ck_connection *)watched->owner)->ended)
            ck_connection_run(watched->owner);
        break;
    case CK_WATCHED_GATE: /* only in the set of the proxy */
        break;
    }
}

static void free_ended(struct ck_proxy *proxy)
{
    for (struct ck_connection *connection = proxy->ended, *next; connection; connection = next) {
        next = connection->next;
        free(connection);
    }
    proxy->ended = NULL;
}

/* Its connections, listener and resolver are gone already. */
static void free_gate(struct ck_gate *gate)
{
    struct ck_proxy *proxy = gate->proxy;
    for (struct ck_dns_socket *at = gate->sockets, *next; at; at = next) {
        next = at->next;
        free(at);
    }
    ck_proxy_close_watched(gate, &gate->timer);
    watch_in(proxy->epoll_fd, &gate->set, 0);
    ck_fd_close(&gate->set.fd);
    *(gate->previous ? &gate->previous->next : &proxy->gates) = gate->next;
    if (gate->next)
        gate->next->previous = gate->previous;
    ck_rule_list_done(&gate->rules);
    explicit_bzero(&gate->upstream, sizeof(gate->upstream));
    ck_host_secrets_release(gate->secrets);
    free(gate);
}

/*
 * A run has ended. Closing a socket with megabytes of unread data takes the kernel a tenth of a
 * millisecond, and there may be a thousand sockets. The timer has expired and is not read, so the
 * set stays readable until the last socket is closed.
 */
static void close_some(struct ck_gate *gate, unsigned share)
{
    for (unsigned i = 0; i < share && gate->connections; i++) {
        gate->proxy->work.connections++;
        ck_connection_end(gate->connections, CK_REASON_CLOSED);
    }
    free_ended(gate->proxy);
    if (!gate->connections)
        free_gate(gate);
}

/* gates is the number of gates that have work. */
static void serve_gate(struct ck_gate *gate, unsigned gates)
{
    struct epoll_event events[READY];
    if (gate->closing) {
        close_some(gate, READY / gates);
        return;
    }
    int count = epoll_wait(gate->set.fd, events, (int)(READY / gates), 0);
    for (int i = 0; i < count; i++)
        /* A connection may use its bytes in each direction, hence the 2. */
        on_event(&events[i], ACCEPTED / gates, READY_BYTES / gates / (unsigned)count / 2);
    free_ended(gate->proxy);
}

static int work(struct ck_proxy *proxy)
{
    struct epoll_event events[CK_PROXY_SLICE_GATES];
    proxy->work = (struct ck_proxy_work){0};
    int count = epoll_wait(proxy->epoll_fd, events, CK_PROXY_SLICE_GATES, 0);
    if (count <= 0)
        return count == 0 || errno == EINTR ? 0 : -errno;
    proxy->now_ns = ck_clock_now_ns();
    proxy->work.gates = (unsigned)count;
    for (int i = 0; i < count; i++) {
        const struct ck_watched *set = events[i].data.ptr;
        serve_gate(set->owner, (unsigned)count);
    }
    return 0;
}

int ck_proxy_dispatch(struct ck_proxy *proxy)
{
    sigset_t pipe, before, pending;
    if (proxy->epoll_fd < 0)
        return 0;
    (void)sigemptyset(&pipe);
    (void)sigaddset(&pipe, SIGPIPE);
    (void)pthread_sigmask(SIG_BLOCK, &pipe, &before);
    bool blocked = sigismember(&before, SIGPIPE) == 1;
    /* A SIGPIPE that was pending before belongs to the host program, and must stay pending. */
    bool theirs = blocked && sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1;
    proxy->broken_pipe = false;
    int r = work(proxy);
    while (proxy->broken_pipe && !theirs && sigtimedwait(&pipe, NULL, &(struct timespec){0}) > 0)
        ;
    if (!blocked)
        (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return r;
}

/* ---- opening and closing ----------------------------------------------------------------- */

void ck_proxy_init(struct ck_proxy *proxy)
{
    *proxy = (struct ck_proxy){.epoll_fd = -1, .most = UINT32_MAX, .fd_limit = INT_MAX};
}

void ck_proxy_set_fd_limit(struct ck_proxy *proxy, uint64_t descriptors)
{
    uint64_t some = descriptors < INT_MAX ? descriptors : INT_MAX;
    proxy->most = some >= 8 ? (uint32_t)(some / 4) : 2; /* a connection takes two */
    proxy->fd_limit = (int)(some - some / 8);
    proxy->pipes.fd_limit = proxy->fd_limit;
}

void ck_proxy_done(struct ck_proxy *proxy)
{
    while (proxy->gates) {
        struct ck_gate *gate = proxy->gates;
        if (gate->closing)
            close_some(gate, UINT_MAX);
        else
            ck_proxy_close_gate(gate);
    }
    ck_relay_pipes_done(&proxy->pipes);
    ck_fd_close(&proxy->epoll_fd);
}

int ck_proxy_fd(const struct ck_proxy *proxy)
{
    return proxy->epoll_fd;
}

/* Once, at the first gate: a program without egress has no epoll set. */
static int make_loop(struct ck_proxy *proxy)
{
    if (proxy->epoll_fd >= 0)
        return 0;
    proxy->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    return proxy->epoll_fd < 0 ? -errno : 0;
}

/* The gate's epoll set, with the timer and the listener in it. Returns 0 or a negative errno. */
static int make_set(struct ck_gate *gate)
{
    gate->set.fd = epoll_create1(EPOLL_CLOEXEC);
    if (gate->set.fd >= 0)
        gate->timer.fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (gate->set.fd < 0 || gate->timer.fd < 0)
        return -errno;
    /*
     * The kernel allows five epoll sets in a chain (ELOOP), and the caller's sets are part of it.
     */
    errno = ENOMEM;
    watch_in(gate->proxy->epoll_fd, &gate->set, EPOLLIN);
    if (gate->set.events != 0)
        ck_proxy_watch(gate, &gate->timer, EPOLLIN);
    if (gate->timer.events != 0)
        ck_proxy_watch(gate, &gate->listener, EPOLLIN);
    return gate->listener.events == 0 ? -errno : 0;
}

/*
 * O_NONBLOCK, because a client can be gone between the event and the accept, which would then wait.
 */
static int check_listener(int fd)
{
    int listens = 0;
    socklen_t size = sizeof(listens);
    if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) < 0 || listens == 0)
        return -EINVAL;
    int flags = fcntl(fd, F_GETFL);
    return flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 ? -errno : 0;
}

int ck_proxy_open(struct ck_proxy *proxy, int listen_fd, const struct ck_gate_options *options,
                  struct ck_gate **ret_gate)
{
    CK_FD fd = listen_fd;
    struct ck_rule_list rules = {0};
    int r = check_listener(fd);
    if (r == 0)
        r = make_loop(proxy);
    if (r == 0)
        r = ck_rule_list_copy(options->rules, options->rules_count, &rules);
    struct ck_gate *gate = r == 0 ? calloc(1, sizeof(*gate)) : NULL;
    if (!gate) {
        ck_rule_list_done(&rules);
        return r != 0 ? r : -ENOMEM;
    }
    *gate = (struct ck_gate){.next = proxy->gates,
                             .proxy = proxy,
                             .rules = rules,
                             .budget = options->budget,
                             .secrets = ck_host_secrets_hold(options->secrets),
                             .on_event = options->on_event,
                             .data = options->data};
    if (options->upstream)
        gate->upstream = *options->upstream;
    gate->listener = (struct ck_watched){.kind = CK_WATCHED_LISTENER, .fd = ck_fd_take(&fd), .owner = gate};
    gate->direct_attempts = (struct ck_watched){.kind = CK_WATCHED_DIRECT_ATTEMPTS, .fd = -1, .owner = gate};
    gate->set = (struct ck_watched){.kind = CK_WATCHED_GATE, .fd = -1, .owner = gate};
    gate->timer = (struct ck_watched){.kind = CK_WATCHED_TIMER, .fd = -1, .owner = gate};
    if (gate->next)
        gate->next->previous = gate;
    proxy->gates = gate;
    proxy->now_ns = ck_clock_now_ns();
    r = make_set(gate);
    /* Without a budget nothing is accepted: the kernel refuses clients of a closed listener. */
    if (r == 0 && gate->budget.connections_total == 0)
        ck_proxy_close_watched(gate, &gate->listener);
    if (r != 0)
        ck_proxy_close_gate(gate);
    else
        *ret_gate = gate;
    return r;
}

void ck_proxy_gate_totals(struct ck_gate *gate, struct ck_proxy_gate_totals *ret_totals)
{
    ck_direct_attempts_receive(gate);
    *ret_totals = gate->totals;
}

void ck_proxy_close_gate(struct ck_gate *gate)
{
    if (!gate)
        return;
    ck_direct_attempts_receive(gate);
    ck_proxy_close_watched(gate, &gate->listener);
    ck_proxy_close_watched(gate, &gate->direct_attempts);
    for (struct ck_connection *connection = gate->connections; connection; connection = connection->next)
        ck_connection_abandon(connection);
    gate->closing = true;
    gate->on_event = NULL;
    /*
     * after the connections were abandoned: their queries are cancelled, so no answer reaches them
     */
    ck_dns_resolver_free(gate->resolver);
    gate->resolver = NULL;
    arm(gate, 1);
    close_some(gate, READY);
}
