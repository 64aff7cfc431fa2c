/*
 * proxy.c - theory of operation, and the loop.
 *
 * A gate is a listening socket with rules; a connection is one client of it. Everything that can be waited for is in one
 * epoll set: listeners, both sockets of each connection, the sockets of each gate's resolver, and one timer for all
 * deadlines. That set is a descriptor itself, which the caller watches.
 *
 *   client --- up: buffer, or pipe ----> host        A client says where it wants to go (connection.c: HTTP or SOCKS5).
 *          <-- down: buffer, or pipe ---             The name is matched, looked up, its addresses are checked, one of
 *                                                    them is dialled (target.c). Then either a tunnel, of which the first
 *                                                    message is looked at (tunnel.c), or HTTP messages (exchange.c).
 *
 * Must: every state has a deadline and every buffer a maximum, for the client is hostile. A descriptor is watched only for
 * what would make progress, and is taken out of the set where nothing would: the kernel reports hang-ups whether asked or
 * not, and would do so again and again.
 * Must not: block, or work without end for one client while others wait; a turn moves a bounded number of bytes.
 * Must not: free a connection while an event of the same round may point to it; it waits in a list until the round is over.
 *
 * splice(2) into a socket whose other side has gone raises SIGPIPE, and there is no flag against it. The signal is blocked
 * during a dispatch and taken back, so that a host that has not thought of it survives.
 */
#include "egress/proxy.h"

#include "base/clock.h"
#include "base/fd.h"
#include "egress/gate.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define EVENTS 64
#define ROUNDS 4
#define ACCEPTS 64
#define PAUSE_NS (100 * CK_NS_PER_MS)
#define TICK_NS (10 * CK_NS_PER_MS) /* deadlines are held this exactly, and looked at no more often */

static struct ck_watched timer_mark = {.kind = CK_WATCHED_TIMER};

/* ---- descriptors and time ---------------------------------------------------------------- */

void ck_watch_for(struct ck_proxy *proxy, struct ck_watched *watched, uint32_t events)
{
    if (watched->fd < 0 || watched->events == events)
        return;
    struct epoll_event event = {.events = events, .data.ptr = watched};
    int how = events == 0 ? EPOLL_CTL_DEL : watched->events == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
    /* It fails for want of memory alone; then the deadline of the connection ends it. */
    if (epoll_ctl(proxy->epoll_fd, how, watched->fd, &event) == 0)
        watched->events = events;
}

void ck_watched_close(struct ck_proxy *proxy, struct ck_watched *watched)
{
    ck_watch_for(proxy, watched, 0);
    ck_fd_close(&watched->fd);
    watched->events = 0;
}

void ck_proxy_by(struct ck_proxy *proxy, uint64_t deadline_ns)
{
    if (deadline_ns == UINT64_MAX || (proxy->armed_ns != 0 && proxy->armed_ns <= deadline_ns + TICK_NS))
        return;
    uint64_t at_ns = deadline_ns + TICK_NS;
    struct itimerspec spec = {
        .it_value = {.tv_sec = (time_t)(at_ns / CK_NS_PER_S), .tv_nsec = (long)(at_ns % CK_NS_PER_S)}};
    if (timerfd_settime(proxy->timer_fd, TFD_TIMER_ABSTIME, &spec, NULL) == 0)
        proxy->armed_ns = at_ns;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Who of this gate is late? Returns when to look again. */
static uint64_t look_at_clock(struct ck_gate *gate, uint64_t now_ns)
{
    uint64_t next_ns = UINT64_MAX;
    if (gate->pause_ns != 0 && gate->pause_ns <= now_ns)
        ck_gate_resume(gate);
    if (gate->resolver != NULL && ck_resolver_patience_ns(gate->resolver) == 0) {
        gate->proxy->broken_pipe = true;
        ck_resolver_late(gate->resolver);
    }
    for (struct ck_connection *connection = gate->connections, *next; connection != NULL; connection = next) {
        next = connection->next;
        if (connection->deadline_ns <= now_ns)
            ck_connection_late(connection);
        if (!connection->ended)
            next_ns = earlier(next_ns, connection->deadline_ns);
    }
    if (gate->pause_ns != 0)
        next_ns = earlier(next_ns, gate->pause_ns);
    uint64_t patience_ns = gate->resolver != NULL ? ck_resolver_patience_ns(gate->resolver) : UINT64_MAX;
    return patience_ns != UINT64_MAX ? earlier(next_ns, now_ns + patience_ns) : next_ns;
}

static void on_timer(struct ck_proxy *proxy)
{
    uint64_t ignored;
    uint64_t next_ns = UINT64_MAX;
    (void)!read(proxy->timer_fd, &ignored, sizeof ignored);
    proxy->armed_ns = 0;
    for (struct ck_gate *gate = proxy->gates; gate != NULL; gate = gate->next)
        next_ns = earlier(next_ns, look_at_clock(gate, proxy->now_ns));
    ck_proxy_by(proxy, next_ns);
}

/* ---- accepting --------------------------------------------------------------------------- */

void ck_gate_resume(struct ck_gate *gate)
{
    gate->pause_ns = 0;
    ck_watch_for(gate->proxy, &gate->listener, EPOLLIN);
}

static void pause_gate(struct ck_gate *gate)
{
    gate->pause_ns = gate->proxy->now_ns + PAUSE_NS;
    ck_watch_for(gate->proxy, &gate->listener, 0);
    ck_proxy_by(gate->proxy, gate->pause_ns);
}

static void tell_turned_away(struct ck_gate *gate, enum ck_reason reason, const char *message)
{
    gate->totals.refused++;
    if (gate->on_event == NULL)
        return;
    struct ck_gate_event event = {.verdict = CK_GATE_REFUSED,
                                  .connection = gate->totals.connections,
                                  .protocol = "",
                                  .host = "",
                                  .rule = "",
                                  .address = "",
                                  .reason = ck_reason_word(reason),
                                  .message = message};
    gate->on_event(gate->data, &event);
}

/* Which protocol it speaks is not known yet; most speak HTTP. */
static void turn_away(struct ck_gate *gate, int client_fd, enum ck_reason reason, const char *message)
{
    char answer[CK_ANSWER_SIZE];
    CK_FD fd = client_fd;
    tell_turned_away(gate, reason, message);
    size_t length = ck_answer_http(reason, message, answer);
    (void)send(fd, answer, length, MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)shutdown(fd, SHUT_WR);
}

/* Has the gate had its last connection? Whoever comes now is told so, and its listener is closed: the kernel refuses then. */
static bool is_spent(const struct ck_gate *gate, char *message, size_t size)
{
    bool refused = gate->totals.refused + gate->totals.failed >= gate->budget.refusals_total;
    if (!refused && gate->totals.connections <= gate->budget.connections_total)
        return false;
    (void)snprintf(message, size,
                   refused ? "this run was refused, or failed, %llu times: no more connections are taken from it"
                           : "this run has made all of its %llu connections",
                   (unsigned long long)(refused ? gate->budget.refusals_total : gate->budget.connections_total));
    return true;
}

/* All runs have their connections from the descriptors of one program. */
static bool is_crowded(const struct ck_gate *gate, int fd)
{
    const struct ck_proxy *proxy = gate->proxy;
    uint32_t room = proxy->most > proxy->count ? proxy->most - proxy->count : 0;
    return gate->count >= room || fd >= proxy->below;
}

static void take(struct ck_gate *gate, int fd)
{
    char message[128];
    gate->totals.connections++;
    if (is_spent(gate, message, sizeof message)) {
        ck_watched_close(gate->proxy, &gate->listener);
        turn_away(gate, fd, CK_REASON_CONNECTIONS, message);
    } else if (gate->count >= gate->budget.connections_at_once) {
        (void)snprintf(message, sizeof message, "this run may have %u connections at once",
                       gate->budget.connections_at_once);
        turn_away(gate, fd, CK_REASON_CONNECTIONS, message);
    } else if (is_crowded(gate, fd)) {
        turn_away(gate, fd, CK_REASON_RESOURCES,
                  "the runs of this program have as many connections at once as its descriptors allow");
    } else {
        ck_connection_start(gate, fd);
    }
}

static void on_listener(struct ck_gate *gate)
{
    for (int i = 0; i < ACCEPTS && gate->listener.fd >= 0; i++) {
        int fd = accept4(gate->listener.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS))
            pause_gate(gate);
        if (fd < 0 && errno != EINTR && errno != ECONNABORTED)
            return;
        if (fd < 0)
            continue;
        take(gate, fd);
    }
}

/* ---- the loop ---------------------------------------------------------------------------- */

static void on_connection(struct ck_connection *connection, bool client, uint32_t events)
{
    bool broken = (events & (EPOLLERR | EPOLLHUP)) != 0;
    if (connection->ended)
        return;
    if (broken || (events & EPOLLIN) != 0)
        connection->ready |= client ? CK_CLIENT_IN : CK_SERVER_IN;
    if (broken || (events & EPOLLOUT) != 0)
        connection->ready |= client ? CK_CLIENT_OUT : CK_SERVER_OUT;
    ck_connection_run(connection);
}

static void on_event(struct ck_proxy *proxy, const struct epoll_event *event)
{
    struct ck_watched *watched = event->data.ptr;
    struct ck_gate *gate = watched->owner;
    switch (watched->kind) {
    case CK_WATCHED_TIMER:
        on_timer(proxy);
        break;
    case CK_WATCHED_LISTENER:
        on_listener(gate);
        break;
    case CK_WATCHED_RESOLVER:
        proxy->broken_pipe = true; /* who knows: it writes without saying that it wants no signal */
        if (watched->fd >= 0)
            ck_resolver_ready(gate->resolver, watched->fd, event->events);
        break;
    case CK_WATCHED_ROADS:
        ck_direct_hear(gate);
        break;
    case CK_WATCHED_CLIENT:
    case CK_WATCHED_SERVER:
        on_connection(watched->owner, watched->kind == CK_WATCHED_CLIENT, event->events);
        break;
    }
}

static void free_ended(struct ck_proxy *proxy)
{
    for (struct ck_connection *connection = proxy->ended, *next; connection != NULL; connection = next) {
        next = connection->next;
        free(connection);
    }
    proxy->ended = NULL;
}

static int work(struct ck_proxy *proxy)
{
    for (int round = 0; round < ROUNDS; round++) {
        struct epoll_event events[EVENTS];
        int count = epoll_wait(proxy->epoll_fd, events, EVENTS, 0);
        if (count <= 0)
            return count == 0 || errno == EINTR ? 0 : -errno;
        proxy->now_ns = ck_clock_now_ns();
        for (int i = 0; i < count; i++)
            on_event(proxy, &events[i]);
        free_ended(proxy);
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
    bool theirs = blocked && sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1;
    proxy->broken_pipe = false;
    int r = work(proxy);
    while (proxy->broken_pipe && !theirs && sigtimedwait(&pipe, NULL, &(struct timespec){0}) > 0)
        ;
    if (!blocked)
        (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return r;
}

/* ---- life -------------------------------------------------------------------------------- */

void ck_proxy_init(struct ck_proxy *proxy)
{
    *proxy = (struct ck_proxy){.epoll_fd = -1, .timer_fd = -1, .most = UINT32_MAX, .below = INT_MAX};
}

void ck_proxy_bound(struct ck_proxy *proxy, uint64_t descriptors)
{
    uint64_t some = descriptors < INT_MAX ? descriptors : INT_MAX;
    proxy->most = some >= 8 ? (uint32_t)(some / 4) : 2; /* a connection takes two */
    proxy->below = (int)(some - some / 8);
    proxy->pipes.below = proxy->below;
}

void ck_proxy_done(struct ck_proxy *proxy)
{
    while (proxy->gates != NULL)
        ck_gate_close(proxy->gates);
    ck_pipes_done(&proxy->pipes);
    ck_fd_close(&proxy->timer_fd);
    ck_fd_close(&proxy->epoll_fd);
}

int ck_proxy_fd(const struct ck_proxy *proxy)
{
    return proxy->epoll_fd;
}

static int make_loop(struct ck_proxy *proxy)
{
    if (proxy->epoll_fd >= 0)
        return 0;
    CK_FD epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    CK_FD timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &timer_mark};
    if (epoll_fd < 0 || timer_fd < 0 || epoll_ctl(epoll_fd, EPOLL_CTL_ADD, timer_fd, &event) < 0)
        return -errno;
    proxy->epoll_fd = ck_fd_take(&epoll_fd);
    proxy->timer_fd = ck_fd_take(&timer_fd);
    return 0;
}

static int check_listener(int fd)
{
    int listens = 0;
    socklen_t size = sizeof listens;
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
    struct ck_gate *gate = r == 0 ? calloc(1, sizeof *gate) : NULL;
    if (gate == NULL) {
        ck_rule_list_done(&rules);
        return r != 0 ? r : -ENOMEM;
    }
    *gate = (struct ck_gate){.next = proxy->gates,
                             .proxy = proxy,
                             .rules = rules,
                             .budget = options->budget,
                             .on_event = options->on_event,
                             .data = options->data};
    gate->listener = (struct ck_watched){.kind = CK_WATCHED_LISTENER, .fd = ck_fd_take(&fd), .owner = gate};
    gate->roads = (struct ck_watched){.kind = CK_WATCHED_ROADS, .fd = -1, .owner = gate};
    if (gate->next != NULL)
        gate->next->previous = gate;
    proxy->gates = gate;
    proxy->now_ns = ck_clock_now_ns();
    ck_watch_for(proxy, &gate->listener, EPOLLIN);
    r = gate->listener.events == 0 ? -ENOMEM : 0;
    if (r == 0 && gate->budget.connections_total == 0)
        ck_watched_close(proxy, &gate->listener);
    if (r != 0)
        ck_gate_close(gate);
    else
        *ret_gate = gate;
    return r;
}

void ck_gate_totals(struct ck_gate *gate, struct ck_gate_totals *ret_totals)
{
    ck_direct_hear(gate);
    *ret_totals = gate->totals;
}

static void free_sockets(struct ck_gate *gate)
{
    for (struct ck_resolver_socket *at = gate->sockets, *next; at != NULL; at = next) {
        next = at->next;
        free(at);
    }
}

void ck_gate_close(struct ck_gate *gate)
{
    if (gate == NULL)
        return;
    struct ck_proxy *proxy = gate->proxy;
    ck_direct_hear(gate);
    ck_watched_close(proxy, &gate->listener);
    ck_watched_close(proxy, &gate->roads);
    while (gate->connections != NULL)
        ck_connection_end(gate->connections, CK_REASON_CLOSED);
    free_ended(proxy);
    ck_resolver_free(gate->resolver);
    free_sockets(gate);
    if (gate->previous != NULL)
        gate->previous->next = gate->next;
    else
        proxy->gates = gate->next;
    if (gate->next != NULL)
        gate->next->previous = gate->previous;
    ck_rule_list_done(&gate->rules);
    free(gate);
}
