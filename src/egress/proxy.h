/*
 * proxy.h - the way out of a jail: HTTP CONNECT, plain HTTP and SOCKS5 from inside, connections to listed hosts outside.
 *
 * The proxy knows nothing of jails. It is handed a listening socket, wherever that was made, and dials from the network
 * of the calling process. It has no thread and no process, and nothing in it waits: one descriptor becomes readable when
 * there is work.
 *
 *   1. ck_proxy_init; nothing is made yet.
 *   2. ck_proxy_open for each run: its socket, its rules, its budget, and who is told. The first one makes the descriptor
 *      of ck_proxy_fd, which then stays the same until ck_proxy_done.
 *   3. ck_proxy_dispatch whenever ck_proxy_fd is readable (it can be nested in another epoll). It never blocks, and does
 *      one slice of work: what is left makes the descriptor readable again. Every gate that has something to do has its
 *      share of each slice, or with more than CK_PROXY_SLICE_GATES of them of the next; within a gate connections take turns.
 *   4. ck_proxy_close_gate when the run has ended: every connection of the gate ends, and what they moved is told.
 *   5. ck_proxy_done, which closes what is still open.
 *
 * A context, and so a proxy, is used by one thread at a time. A program that has as many tunnels at once as it may have
 * descriptors (RLIMIT_NOFILE; two for each tunnel, and a bounded number of pipes) cannot have more; what then comes
 * waits in the socket's backlog.
 */
#ifndef CK_EGRESS_PROXY_H
#define CK_EGRESS_PROXY_H

#include "base/destination.h"
#include "egress/relay.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ck_gate;
struct ck_connection;

/* What one dispatch does at most, for all gates together. */
#define CK_PROXY_SLICE_BYTES (8U * 1024 * 1024) /* relayed, and read as heads, both ways */
#define CK_PROXY_SLICE_CONNECTIONS 64U          /* served, accepted, or ended for being late */
#define CK_PROXY_SLICE_GATES 16U

/* Zero-filled lets nothing through. */
struct ck_gate_budget {
    uint32_t connections_at_once;
    uint64_t connections_total; /* to the proxy, and to hosts; the next is refused, and then the socket is closed */
    uint64_t refusals_total;    /* and failures: each is told, and a tool could fill what keeps that; then the same */
    uint64_t up_bytes;          /* from the tool to the hosts, of all connections together; UINT64_MAX is no bound */
    uint64_t down_bytes;
    uint32_t
        head_ms; /* from the connection, or the end of an answer, to a whole request; to the first bytes of a tunnel */
    uint32_t dial_ms; /* lookup and connect together */
    uint32_t idle_ms; /* without a byte either way */
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
    CK_GATE_OPENED = 1, /* listed, looked up, checked, connected; exactly one CK_GATE_CLOSED follows */
    CK_GATE_REFUSED,    /* against the rules, malformed, or beyond the budget */
    CK_GATE_FAILED,     /* listed, but there was no such name, nobody listened, or it took too long */
    CK_GATE_CLOSED,     /* the end of what was opened, with its bytes */
};

/*
 * One decision. The strings live for the call only; all can be printed. Those that do not apply are "".
 * How a refusal after CK_GATE_OPENED (another SNI, a spent budget) is told: CK_GATE_REFUSED, then CK_GATE_CLOSED.
 */
struct ck_gate_event {
    enum ck_gate_verdict verdict;
    uint64_t
        connection; /* counts from 1 within the gate; the same in all events of a client's connection; 0: of none */
    const char *protocol; /* "connect", "http", "socks5"; of what did not ask the proxy "tcp", "udp", "raw", ... */
    const char *host;     /* canonical, or what was asked for, escaped */
    uint16_t port;        /* 0 where none could be read */
    const char *rule;     /* the rule that lists it */
    const char *address;  /* that was dialled or refused */
    const char *reason; /* one word of a fixed set: "not_listed", "address", "sni", ...; CK_GATE_CLOSED: how it ended */
    const char *message; /* for people */
    uint64_t up_bytes;   /* CK_GATE_CLOSED: payload, from the tool to the host and back */
    uint64_t down_bytes;
};

/* Must not call the proxy. */
typedef void (*ck_gate_fn)(void *data, const struct ck_gate_event *event);

struct ck_gate_options {
    const struct ck_destination *rules; /* copied; none lets nothing through */
    size_t rules_count;
    struct ck_gate_budget budget;
    ck_gate_fn on_event; /* may be NULL */
    void *data;
};

struct ck_proxy_gate_totals {
    uint64_t connections;
    uint64_t opened;
    uint64_t refused;
    uint64_t failed;
    uint64_t up_bytes;
    uint64_t down_bytes;
};

struct ck_proxy_work {
    uint64_t bytes;
    unsigned connections;
    unsigned gates;
};

struct ck_proxy {
    int epoll_fd;              /* has the set of each gate in it */
    uint64_t now_ns;           /* of this dispatch */
    struct ck_proxy_work work; /* of this dispatch, or the last one: not more than a slice */
    uint64_t turn_bytes[2];    /* that the connection may still move in its turn: down, up */
    struct ck_gate *gates;
    struct ck_connection *ended; /* freed when no event of this round can point to them any more */
    struct ck_relay_pipes pipes;
    bool broken_pipe; /* a SIGPIPE of this dispatch is to be taken back */
    uint32_t count;   /* connections of all gates */
    uint32_t most;    /* that there may be */
    int fd_limit;     /* no connection has a descriptor from this number on */
};

void ck_proxy_init(struct ck_proxy *proxy);
void ck_proxy_done(struct ck_proxy *proxy);

/*
 * The program may have so many descriptors, and must keep some: connections of all gates together take half of them at most,
 * pipes included none of the last eighth, whoever has the others. A gate may have as many connections as there is still room
 * for: one that takes all it can leaves half of the room, two leave a third, so that there is some for whoever comes next.
 * Without this call there is no such bound.
 */
void ck_proxy_set_fd_limit(struct ck_proxy *proxy, uint64_t descriptors);

/* -1 before the first ck_proxy_open. */
int ck_proxy_fd(const struct ck_proxy *proxy);

/*
 * Serves a listening stream socket, which is taken over, on failure too. 0, -E2BIG for too many rules, -EINVAL for what
 * is no listening socket, -ENOMEM, or another negative errno.
 */
int ck_proxy_open(struct ck_proxy *proxy, int listen_fd, const struct ck_gate_options *options,
                  struct ck_gate **ret_gate);

/* 0, or a negative errno where the proxy itself can no longer work. */
int ck_proxy_dispatch(struct ck_proxy *proxy);

/*
 * From this descriptor, which is taken over, come struct ck_direct_attempt (base/direct_attempt.h): what was refused without being asked of the
 * proxy, to be told like its own refusals. 0, or -ENOMEM.
 */
int ck_direct_attempts_watch(struct ck_gate *gate, int direct_attempts_fd);

/* What the jail has told by now counts, too: call it when nobody in there can tell any more. */
void ck_proxy_gate_totals(struct ck_gate *gate, struct ck_proxy_gate_totals *ret_totals);

/*
 * Tells CK_GATE_CLOSED for what is open; from then on nothing passes, and the gate is gone for the caller. Of its
 * sockets one slice is closed at once; if there are more, by the dispatches that follow, or by ck_proxy_done. NULL is fine.
 */
void ck_proxy_close_gate(struct ck_gate *gate);

#endif
