/*
 * accept.c - accepts clients at the listener of a gate, and answers those that it rejects.
 */
#include "base/clock.h"
#include "base/fd.h"
#include "egress/gate.h"

#include <errno.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>

/* Without descriptors accept4 would fail again at once, and the listener stays readable. */
#define PAUSE_NS (100 * CK_NS_PER_MS)

void ck_accept_resume(struct ck_gate *gate)
{
    gate->pause_ns = 0;
    ck_proxy_watch(gate, &gate->listener, EPOLLIN);
}

/*
 * Stops watching the listener. Clients wait in its backlog; the end of any connection resumes too.
 */
static void pause_gate(struct ck_gate *gate)
{
    gate->pause_ns = gate->proxy->now_ns + PAUSE_NS;
    ck_proxy_watch(gate, &gate->listener, 0);
    ck_proxy_set_timer(gate, gate->pause_ns);
}

/* An event without a target, because nothing of the request was read. */
static void report_rejected(struct ck_gate *gate, enum ck_reason reason, const char *message)
{
    gate->totals.refused++;
    if (!gate->on_event)
        return;
    struct ck_gate_event event = {.verdict = CK_GATE_REFUSED,
                                  .connection = gate->totals.connections,
                                  .protocol = "",
                                  .host = "",
                                  .rule = "",
                                  .address = "",
                                  .via = "",
                                  .secret = "",
                                  .reason = ck_answer_reason_word(reason),
                                  .message = message};
    gate->on_event(gate->data, &event);
}

/* The client's protocol is not known yet; most clients use HTTP. */
static void reject(struct ck_gate *gate, int client_fd, enum ck_reason reason, const char *message)
{
    char answer[CK_ANSWER_SIZE];
    CK_FD fd = client_fd;
    report_rejected(gate, reason, message);
    size_t length = ck_answer_http(reason, message, answer);
    /* A new socket has an empty send buffer, so the answer fits. */
    (void)send(fd, answer, length, MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)shutdown(fd, SHUT_WR);
}

/*
 * Is the gate's budget of connections used up? This client still gets an answer; then the listener
 * is closed, and the kernel refuses the next ones.
 */
static bool is_spent(const struct ck_gate *gate, char *message, size_t size)
{
    /* connections already counts this client; refused and failed do not */
    bool refused = gate->totals.refused + gate->totals.failed >= gate->budget.refusals_total;
    if (!refused && gate->totals.connections <= gate->budget.connections_total)
        return false;
    (void)snprintf(message, size,
                   refused ? "this run was refused or failed %llu times: no more connections are accepted from it"
                           : "this run has used all of its %llu connections",
                   (unsigned long long)(refused ? gate->budget.refusals_total : gate->budget.connections_total));
    return true;
}

/* The connections of all runs share the descriptors of one program. */
static bool is_crowded(const struct ck_gate *gate, int fd)
{
    const struct ck_proxy *proxy = gate->proxy;
    /* A gate may have as many connections as there is room left (ck_proxy_set_fd_limit). */
    uint32_t room = proxy->most > proxy->count ? proxy->most - proxy->count : 0;
    return gate->count >= room || fd >= proxy->fd_limit;
}

/* Decides about one client and takes ownership of its descriptor. */
static void take(struct ck_gate *gate, int fd)
{
    char message[128];
    gate->totals.connections++;
    if (is_spent(gate, message, sizeof(message))) {
        ck_proxy_close_watched(gate, &gate->listener);
        reject(gate, fd, CK_REASON_CONNECTIONS, message);
    } else if (gate->count >= gate->budget.connections_at_once) {
        (void)snprintf(message, sizeof(message), "this run may have at most %u connections at once",
                       gate->budget.connections_at_once);
        reject(gate, fd, CK_REASON_CONNECTIONS, message);
    } else if (is_crowded(gate, fd)) {
        reject(gate, fd, CK_REASON_RESOURCES,
               "the runs of this program already have as many connections as its descriptor limit allows");
    } else {
        ck_connection_start(gate, fd);
    }
}

void ck_accept_clients(struct ck_gate *gate, unsigned most)
{
    for (unsigned i = 0; i < most && gate->listener.fd >= 0; i++) {
        int fd = accept4(gate->listener.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        /* temporary, and of this program or machine: try again after a pause */
        if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS))
            pause_gate(gate);
        /* ECONNABORTED: this client is gone, but the next one may be waiting. */
        if (fd < 0 && errno != EINTR && errno != ECONNABORTED)
            return;
        if (fd < 0)
            continue;
        ck_proxy_begin_turn(gate->proxy, CK_PROXY_TURN_MIN_BYTES);
        take(gate, fd);
    }
}
