/*
 * proxy.h - the way out of a jail: HTTP CONNECT, plain HTTP and SOCKS5 from inside, connections to
 * listed hosts outside.
 *
 * The proxy knows nothing of jails. It is given a listening socket, wherever that was made, and
 * dials from the network of the calling process. It has no thread and no process, and never waits:
 * one descriptor becomes readable when there is work.
 *
 *   1. ck_proxy_init; nothing is made yet.
 *   2. ck_proxy_open for each run: its socket, its rules, its budget, and its event callback. The
 *      first one makes the descriptor of ck_proxy_fd, which stays the same until ck_proxy_done.
 *   3. ck_proxy_dispatch whenever ck_proxy_fd is readable (it can be nested in another epoll). It
 *      never blocks, and does one slice of work: the rest makes the descriptor readable again.
 *      Every gate with work gets its share of each slice, or of the next one if there are more than
 *      CK_PROXY_SLICE_GATES of them; within a gate connections take turns.
 *   4. ck_proxy_close_gate when the run has ended: every connection of the gate ends, and the bytes
 *      they moved are reported.
 *   5. ck_proxy_done, which closes what is still open.
 *
 * A context, and so a proxy, is used by one thread at a time. The number of tunnels is limited by
 * the descriptors of the program (RLIMIT_NOFILE; two for each tunnel, and a bounded number of
 * pipes); further clients wait in the backlog of the socket.
 */
#ifndef CK_EGRESS_PROXY_H
#define CK_EGRESS_PROXY_H

#include "base/destination.h"
#include "base/upstream.h"
#include "egress/relay.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ck_gate;
struct ck_connection;
struct ck_host_secrets;

/* The maximum work of one dispatch, for all gates together. */
#define CK_PROXY_SLICE_BYTES (8U * 1024 * 1024) /* relayed, and read as heads, both ways */
#define CK_PROXY_SLICE_CONNECTIONS 64U          /* served, accepted, or ended at a deadline */
#define CK_PROXY_SLICE_GATES 16U

/* Zero-filled allows nothing. */
struct ck_gate_budget {
    uint32_t connections_at_once; /* of clients */
    /* to the proxy, and to hosts; the next is refused, and then the socket is closed */
    uint64_t connections_total;
    /*
     * refusals and failures: each is reported, and a tool could fill the log with them; beyond this
     * the socket is closed too
     */
    uint64_t refusals_total;
    /* from the tool to the hosts, all connections together; UINT64_MAX: no limit */
    uint64_t up_bytes;
    uint64_t down_bytes;
    /*
     * from the connection, or the end of a response, to a complete request; to the first bytes of a
     * tunnel
     */
    uint32_t head_ms;
    uint32_t dial_ms; /* lookup and connect together */
    uint32_t idle_ms; /* without a byte in either direction */
};

#define CK_GATE_BUDGET_DEFAULT \
    ((struct ck_gate_budget){.connections_at_once = 1024, \
                             .connections_total = 10000, \
                             .refusals_total = 10000, \
                             .up_bytes = UINT64_MAX, \
                             .down_bytes = UINT64_MAX, \
                             .head_ms = 15000, \
                             .dial_ms = 30000, \
                             .idle_ms = 300000})

enum ck_gate_verdict {
    /* listed, looked up, checked, connected; exactly one CK_GATE_CLOSED follows */
    CK_GATE_OPENED = 1,
    CK_GATE_REFUSED, /* against the rules, malformed, or beyond the budget */
    /* listed, but the name does not exist, nothing listens, or it took too long */
    CK_GATE_FAILED,
    CK_GATE_CLOSED, /* the end of an opened connection, with its bytes */
};

/*
 * One decision. The strings are valid during the call only, and safe to print. Those that do not
 * apply are "". A refusal after CK_GATE_OPENED (another SNI, a spent budget) is reported as
 * CK_GATE_REFUSED, then CK_GATE_CLOSED.
 */
struct ck_gate_event {
    enum ck_gate_verdict verdict;
    /* counts from 1 within the gate; the same in all events of one client connection; 0: none */
    uint64_t connection;
    /* "connect", "http", "socks5"; for a direct attempt "tcp", "udp", "raw", ... */
    const char *protocol;
    const char *host;    /* canonical, or what was requested, escaped */
    uint16_t port;       /* 0 if none could be read */
    const char *rule;    /* the rule that lists it */
    const char *address; /* the one that was dialled or refused; "" if the upstream dials it */
    const char *via;     /* the upstream that the host is reached through: "http://HOST:PORT" */
    /* one word of a fixed set: "not_listed", "address", "sni", ...; CK_GATE_CLOSED: how it ended */
    const char *reason;
    const char *message; /* for people */
    const char *secret;  /* over TLS: the names of the headers that the proxy adds for this host */
    uint64_t requests;   /* CK_GATE_CLOSED: that got these headers */
    uint64_t up_bytes;   /* CK_GATE_CLOSED: payload, from the tool to the host and back */
    uint64_t down_bytes;
};

/* Must not call the proxy. */
typedef void (*ck_gate_fn)(void *data, const struct ck_gate_event *event);

struct ck_gate_options {
    const struct ck_destination *rules; /* copied; no rules allow nothing */
    size_t rules_count;
    struct ck_gate_budget budget;
    const struct ck_upstream *upstream; /* copied; NULL: hosts are dialled directly */
    struct ck_host_secrets *secrets;    /* held by the gate; NULL: none (host_secret.h) */
    ck_gate_fn on_event;                /* may be NULL */
    void *data;
};

/* Since the gate was opened. connections counts clients, also rejected ones. */
struct ck_proxy_gate_totals {
    uint64_t connections;
    uint64_t opened;
    uint64_t refused;
    uint64_t failed;
    uint64_t up_bytes;
    uint64_t down_bytes;
};

/* What a dispatch has done. */
struct ck_proxy_work {
    uint64_t bytes;
    unsigned connections;
    unsigned gates;
};

struct ck_proxy {
    int epoll_fd;              /* holds the set of each gate */
    uint64_t now_ns;           /* of this dispatch */
    struct ck_proxy_work work; /* of this dispatch, or the last one: not more than a slice */
    uint64_t turn_bytes[2];    /* that the connection may still move in its turn: down, up */
    struct ck_gate *gates;
    struct ck_connection *ended; /* freed when no event of this round can point to them */
    struct ck_relay_pipes pipes;
    bool broken_pipe; /* discard a SIGPIPE of this dispatch */
    uint32_t count;   /* connections of all gates */
    uint32_t most;    /* the maximum of count */
    int fd_limit;     /* no connection has a descriptor from this number on */
};

void ck_proxy_init(struct ck_proxy *proxy);
void ck_proxy_done(struct ck_proxy *proxy);

/*
 * The number of descriptors that the program may have, some of which it must keep. The connections
 * of all gates together use at most half of them. With pipes they use none of the last eighth,
 * whatever else uses the rest. A gate may have as many connections as there is room left: one gate
 * that takes all it can leaves half of the room, two leave a third, so that there is some for the
 * next one. Without this call there is no such limit.
 */
void ck_proxy_set_fd_limit(struct ck_proxy *proxy, uint64_t descriptors);

/* -1 before the first ck_proxy_open. */
int ck_proxy_fd(const struct ck_proxy *proxy);

/*
 * Serves a listening stream socket and takes ownership of it, on failure too. Returns 0, -E2BIG for
 * too many rules, -EINVAL if it is not a listening socket, -ENOMEM, or another negative errno.
 */
int ck_proxy_open(struct ck_proxy *proxy, int listen_fd, const struct ck_gate_options *options,
                  struct ck_gate **ret_gate);

/* Returns 0, or a negative errno if the proxy itself can no longer work. */
int ck_proxy_dispatch(struct ck_proxy *proxy);

/*
 * This descriptor, which is taken over, delivers struct ck_direct_attempt (base/direct_attempt.h):
 * attempts that were refused without the proxy, and that are reported like its own refusals.
 * Returns 0 or -ENOMEM.
 */
int ck_direct_attempts_watch(struct ck_gate *gate, int direct_attempts_fd);

/*
 * Includes the attempts that the jail has reported so far: call it when no one in the jail can
 * report any more.
 */
void ck_proxy_gate_totals(struct ck_gate *gate, struct ck_proxy_gate_totals *ret_totals);

/*
 * Reports CK_GATE_CLOSED for what is open. From then on nothing passes, and the caller must not use
 * the gate. One slice of its sockets is closed at once; the others by later dispatches, or by
 * ck_proxy_done. NULL is allowed.
 */
void ck_proxy_close_gate(struct ck_gate *gate);

#endif
