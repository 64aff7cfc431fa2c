/*
 * gate.h - the state of a gate, its connections and their states. Private to src/egress; proxy.c
 * has the theory of operation.
 *
 *   HEAD -------> LOOKUP -> DIAL -> HELLO -> HANDSHAKE -> TUNNEL   (CONNECT; SOCKS5 via SOCKS)
 *    ^                       | \     ^  `-> HEAD             (plain HTTP in a tunnel to a host with a secret)
 *    |                       |  `-> UPSTREAM                 (the same, through a proxy of the site)
 *    |                       `-> EXCHANGE --.                (plain HTTP; via SECURING with a host secret)
 *    `----------- keep-alive ---------------'
 *   any -> LINGER: the answer is sent, the client is still connected
 */
#ifndef CK_EGRESS_GATE_H
#define CK_EGRESS_GATE_H

#include "egress/chunked.h"
#include "egress/dns.h"
#include "egress/handshake.h"
#include "egress/host_secret.h"
#include "egress/http.h"
#include "egress/proxy.h"
#include "egress/relay.h"
#include "egress/rule.h"
#include "egress/tls_client.h"

enum ck_watched_kind {
    CK_WATCHED_GATE = 1, /* the epoll set of a gate, in the set of the proxy */
    CK_WATCHED_TIMER,
    CK_WATCHED_LISTENER,
    CK_WATCHED_CLIENT,
    CK_WATCHED_SERVER,
    CK_WATCHED_TLS, /* the other two sockets of a connection over TLS */
    CK_WATCHED_RESOLVER,
    CK_WATCHED_DIRECT_ATTEMPTS,
};

/*
 * A descriptor and the events for which the gate's epoll watches it; without events it is not in
 * the set.
 */
struct ck_watched {
    enum ck_watched_kind kind;
    int fd;
    uint32_t events;
    void *owner; /* a gate or a connection, by kind */
};

/* A socket of c-ares, which opens and closes it; only watched here. */
struct ck_dns_socket {
    struct ck_watched watched;
    struct ck_dns_socket *next;
};

struct ck_gate {
    struct ck_gate *next, *previous;
    struct ck_proxy *proxy;
    /* nothing passes and nothing is reported any more; its sockets are closed a few at a time */
    bool closing;
    struct ck_watched set;   /* the epoll set that holds everything below */
    struct ck_watched timer; /* for all deadlines of the gate */
    uint64_t armed_ns;       /* the time the timer is set to; 0: not set */
    struct ck_watched listener;
    struct ck_watched direct_attempts; /* reports of the jail about direct attempts */
    uint64_t pause_ns;                 /* until then nothing is accepted, for lack of descriptors */
    struct ck_rule_list rules;
    struct ck_gate_budget budget;    /* the bytes that are left */
    struct ck_upstream upstream;     /* port 0: none */
    struct ck_host_secrets *secrets; /* held; NULL: none */
    ck_gate_fn on_event;
    void *data;
    struct ck_proxy_gate_totals totals;
    struct ck_connection *connections;
    /* late, or answered by the resolver: they run one after another */
    struct ck_connection *due_first, *due_last;
    uint32_t count; /* of connections */
    unsigned pipes; /* held by its connections */
    /* hosts that clients asked for: one client can ask for many */
    uint64_t targets;
    struct ck_dns_resolver *resolver; /* made at the first lookup */
    /* reused, and freed with the gate: an event may still point to one */
    struct ck_dns_socket *sockets;
};

enum ck_egress_state {
    CK_EGRESS_STATE_HEAD = 0, /* reads a request, or the first bytes of another protocol */
    CK_EGRESS_STATE_SOCKS,    /* greeted; reads the request */
    CK_EGRESS_STATE_LOOKUP,
    CK_EGRESS_STATE_DIAL,
    CK_EGRESS_STATE_UPSTREAM,  /* the upstream is connected and was sent CONNECT; reads its answer */
    CK_EGRESS_STATE_HELLO,     /* connected; checks the first bytes of the tunnel */
    CK_EGRESS_STATE_HANDSHAKE, /* the first hello has passed; checks what follows it unencrypted */
    CK_EGRESS_STATE_TUNNEL,
    CK_EGRESS_STATE_SECURING, /* connected, for TLS of our own; its handshake is not complete */
    CK_EGRESS_STATE_EXCHANGE,
    CK_EGRESS_STATE_LINGER,
};

enum ck_protocol { CK_PROTOCOL_NONE = 0, CK_PROTOCOL_CONNECT, CK_PROTOCOL_HTTP, CK_PROTOCOL_SOCKS5 };

/* What a descriptor of the connection is ready for. */
enum { CK_CLIENT_IN = 1, CK_CLIENT_OUT = 2, CK_SERVER_IN = 4, CK_SERVER_OUT = 8, CK_ALL_READY = 15 };

struct ck_connection {
    struct ck_connection *next, *previous;
    struct ck_gate *gate;
    uint64_t number; /* in events */
    enum ck_egress_state state;
    enum ck_protocol protocol;
    bool ended; /* in the list of the ended; not used any more */
    bool due;   /* in the list of the gate */
    struct ck_connection *next_due, *previous_due;
    unsigned ready;       /* since the last step */
    uint64_t deadline_ns; /* of this state */
    struct ck_watched client, server;
    struct ck_relay_stream up, down;
    size_t checked; /* of the head that is being read */
    /* bytes of the tunnel's start that must arrive before they are checked again */
    size_t needed;
    size_t head_bytes; /* of the request that was read and is still before what goes up */

    /* the target */
    bool opened; /* reported, so CK_GATE_CLOSED must follow */
    bool via;    /* the host is reached through the upstream, which looks its name up */
    bool asking; /* within ck_dns_resolver_lookup */
    struct ck_hostname host;
    uint16_t port;
    const struct ck_destination *rule;             /* that lists the target; of the gate */
    struct ck_dns_query *query;                    /* NULL: none is open */
    struct ck_address addresses[CK_ADDRESSES_MAX]; /* that may be dialled */
    size_t addresses_count, address_at;            /* address_at is the next one */
    uint64_t dial_end_ns;                          /* for all addresses together */
    int dial_error;                                /* a positive errno of the last try */

    struct ck_handshake handshake; /* a tunnel */

    /*
     * Over TLS the server's descriptor is one end of a pair of sockets with plaintext. plain is the
     * other end, and wire the socket of the host.
     */
    struct ck_tls_client *tls; /* NULL: not over TLS */
    struct ck_watched wire, plain;

    /* plain HTTP */
    struct ck_http_tunnel inside; /* in which the client sends its requests; port 0: in none */
    struct ck_http_request request;
    struct ck_http_response response;
    struct ck_chunked up_chunked, down_chunked;
    bool answered;        /* a byte of the response has arrived */
    bool in_body;         /* the response's head is forwarded */
    bool up_broken;       /* the host does not accept the rest of the request */
    bool reused;          /* the host was connected before this request */
    bool client_eof_sent; /* our side towards the client is shut down */
    bool server_eof_sent;
    size_t lingered_bytes; /* read and dropped in LINGER */
};

/* ---- proxy.c ---- */

/* Watches for exactly these epoll events from now on. */
void ck_proxy_watch(struct ck_gate *gate, struct ck_watched *watched, uint32_t events);
void ck_proxy_close_watched(struct ck_gate *gate, struct ck_watched *watched);
/* The timer expires at that time, or earlier. */
void ck_proxy_set_timer(struct ck_gate *gate, uint64_t deadline_ns);
/* Queues the connection to run, though none of its descriptors is ready. */
void ck_proxy_add_due(struct ck_connection *connection);
void ck_proxy_remove_due(struct ck_connection *connection);

/*
 * Starts a turn, which may move this many bytes each way. If many share a slice, each still gets a
 * minimum.
 */
void ck_proxy_begin_turn(struct ck_proxy *proxy, uint64_t bytes);
#define CK_PROXY_TURN_MIN_BYTES (CK_PROXY_SLICE_BYTES / CK_PROXY_SLICE_CONNECTIONS / 2)

/* ---- accept.c ---- */

/* Accepts at most this many. */
void ck_accept_clients(struct ck_gate *gate, unsigned most);
/* Accepts again after a pause. */
void ck_accept_resume(struct ck_gate *gate);

/* ---- direct_attempts.c ---- */

/* Reads and reports direct attempts. */
void ck_direct_attempts_receive(struct ck_gate *gate);

/* ---- connection.c ---- */

/* Takes ownership of the descriptor, on failure too. */
void ck_connection_start(struct ck_gate *gate, int client_fd);
/* Does what it can without waiting. */
void ck_connection_run(struct ck_connection *connection);
void ck_connection_timed_out(struct ck_connection *connection);
void ck_connection_end(struct ck_connection *connection, enum ck_reason reason);
/* Empties the stream and resets it. */
void ck_connection_reset_stream(struct ck_connection *connection, struct ck_relay_stream *stream);
/* Its gate is closed: reports that, and leaves the rest to ck_connection_end. */
void ck_connection_abandon(struct ck_connection *connection);
void ck_connection_set_state(struct ck_connection *connection, enum ck_egress_state state, uint64_t timeout_ms);
/* Closes only the server's side. */
void ck_connection_drop_server(struct ck_connection *connection, enum ck_reason reason);

/* Reports a decision about the target, or about this subject if the target could not be read. */
struct ck_egress_decision {
    enum ck_gate_verdict verdict;
    enum ck_reason reason;
    const char *message;
    const char *subject; /* NULL: the target's host */
    uint8_t code;        /* of a SOCKS reply; 0: from the reason */
    const struct ck_address *address;
};
void ck_connection_report(struct ck_connection *connection, const struct ck_egress_decision *decision);
/* Reports it, answers the client in its protocol, and lingers. */
void ck_connection_refuse(struct ck_connection *connection, const struct ck_egress_decision *decision);
/* The same for an invalid request. known: the connection has its target, which is reported. */
void ck_connection_refuse_fault(struct ck_connection *connection, const struct ck_fault *fault, bool known);
#define CK_REFUSE(connection_, verdict_, reason_, ...) \
    do { \
        char message_[1024]; \
        (void)snprintf(message_, sizeof(message_), __VA_ARGS__); \
        ck_connection_refuse(connection_, &(struct ck_egress_decision){ \
                                              .verdict = (verdict_), .reason = (reason_), .message = message_}); \
    } while (0)

/* ---- request.c ---- */

/* Reads a request; also between two requests, when a kept host may close its connection. */
bool ck_request_step(struct ck_connection *connection);
/*
 * The client has sent something else than TLS into its tunnel. Is it for a host with a secret? Then
 * requests are read from it from now on, and the tunnel to the host is closed. False: it is not.
 */
bool ck_request_enter_tunnel(struct ck_connection *connection);

/* ---- target.c ---- */

/* Is the target listed? Then it is looked up and dialled. */
void ck_target_begin(struct ck_connection *connection);
bool ck_target_dial(struct ck_connection *connection);
void ck_target_timed_out(struct ck_connection *connection);

/* ---- via.c: through the upstream ---- */

/* May the upstream be asked for the target? False: it was refused. */
bool ck_via_may_ask(struct ck_connection *connection);
/* Dialling the upstream has failed. error: a positive errno, ETIMEDOUT if it took too long. */
void ck_via_unreachable(struct ck_connection *connection, int error);
/* The upstream is connected, and is asked for a tunnel to the target. */
void ck_via_begin(struct ck_connection *connection);
bool ck_via_step(struct ck_connection *connection);
/* It has not answered in time. */
void ck_via_timed_out(struct ck_connection *connection);
/* It has answered that it wants other credentials. */
void ck_via_refuse_credentials(struct ck_connection *connection);

/* ---- secured.c: requests with a host secret, over TLS ---- */

/* The host, or the tunnel to it, is connected. */
void ck_secured_begin(struct ck_connection *connection);
bool ck_secured_step(struct ck_connection *connection);
/*
 * Moves what TLS can move, and watches for the rest. Nothing for a connection without TLS. True: the
 * handshake is over, and ck_secured_step has more to do.
 */
bool ck_secured_move(struct ck_connection *connection);
/* A head of this length is about to be sent: the headers follow before its end. */
void ck_secured_add(struct ck_connection *connection, size_t head_bytes);
/* Counts the requests that got the headers, at the report of its end. */
uint64_t ck_secured_count(const struct ck_connection *connection);
void ck_secured_end(struct ck_connection *connection);
/* The handshake has taken too long. */
void ck_secured_timed_out(struct ck_connection *connection);

/* ---- tunnel.c, exchange.c: begin and step functions. A step that returns false waits. ---- */

void ck_tunnel_begin(struct ck_connection *connection);
/* The answer to CONNECT, or to the request of SOCKS. -ENOMEM. */
int ck_tunnel_answer(struct ck_connection *connection);
bool ck_tunnel_hello(struct ck_connection *connection);
bool ck_tunnel_handshake(struct ck_connection *connection);
bool ck_tunnel_relay(struct ck_connection *connection);

void ck_exchange_begin(struct ck_connection *connection);
bool ck_exchange_step(struct ck_connection *connection);

/* Subtracts bytes from what this turn may move or read in one direction. */
void ck_connection_spend_turn(struct ck_connection *connection, bool up, uint64_t bytes);
bool ck_connection_turn_is_over(const struct ck_connection *connection);

/* Moves what it can in one direction. Returns 0, or a negative errno: one side is broken. */
int ck_connection_pump_one(struct ck_connection *connection, bool up);
/* The same, but a broken side or a spent budget ends the connection; then it returns false. */
bool ck_connection_pump(struct ck_connection *connection, bool up);
void ck_connection_refuse_spent(struct ck_connection *connection);
/* Adds what the stream waits for to the epoll events of both sides. */
void ck_connection_add_events(const struct ck_relay_stream *stream, uint32_t *source, uint32_t *sink);
/* Watches both sides for what the streams wait for. */
void ck_connection_watch_streams(struct ck_connection *connection);

#endif
