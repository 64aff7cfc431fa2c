/*
 * direct_attempts.c - reports attempts to connect without the proxy, which the kernel has already
 * refused.
 *
 * The records come from the first process of the run (run/keeper/direct_attempts.c), which reports
 * each attempt once, and at most CK_DIRECT_ATTEMPTS_MAX of them. Must not wait. Must not assume
 * that a record is complete or valid.
 */
#include "base/direct_attempt.h"
#include "egress/gate.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

/* IPPROTO_MPTCP, which older headers lack */
#define MPTCP 262
#define RECORDS 16 /* per turn */

/* The name of the protocol that a kind of socket is for; the first match counts. */
static const char *protocol_of(const struct ck_direct_attempt *attempt)
{
    static const struct {
        const char *word;
        uint32_t type, protocol; /* 0: any */
    } kinds[] = {
        {"sctp", 0, IPPROTO_SCTP},
        {"mptcp", 0, MPTCP},
        {"icmp", SOCK_DGRAM, IPPROTO_ICMP},
        {"icmp", SOCK_DGRAM, IPPROTO_ICMPV6},
        {"udp", SOCK_DGRAM, 0},
        {"raw", SOCK_RAW, 0},
        {"packet", SOCK_PACKET, 0},
    };
    if (attempt->family == AF_PACKET)
        return "packet";
    if (attempt->family == AF_VSOCK)
        return "vsock";
    if (attempt->family != AF_INET && attempt->family != AF_INET6)
        return "other";
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if ((kinds[i].type == 0 || kinds[i].type == attempt->type) &&
            (kinds[i].protocol == 0 || kinds[i].protocol == attempt->protocol))
            return kinds[i].word;
    return "other";
}

/* There is no connection to the proxy, so the event has no connection number. */
static void report_attempt(struct ck_gate *gate, const struct ck_direct_attempt *attempt)
{
    char address[CK_ADDRESS_TEXT_SIZE] = "";
    char message[256];
    struct ck_address target = {.length = attempt->family == AF_INET ? 4 : 16};
    const char *word = attempt->kind == CK_DIRECT_ATTEMPT_CONNECTION ? "tcp"
                       : attempt->kind == CK_DIRECT_ATTEMPT_SOCKET   ? protocol_of(attempt)
                                                                     : "";
    memcpy(target.bytes, attempt->address, target.length);
    if (attempt->kind == CK_DIRECT_ATTEMPT_CONNECTION)
        (void)snprintf(message, sizeof(message),
                       "a direct connection to '%s' port %u: connections must go through the proxy",
                       ck_destination_address_text(&target, address), (unsigned)(uint16_t)attempt->port);
    else if (attempt->kind == CK_DIRECT_ATTEMPT_SOCKET)
        (void)snprintf(
            message, sizeof(message),
            "a socket of family %u, type %u, protocol %u: only TCP sockets are allowed, to connect to the proxy",
            attempt->family, attempt->type, attempt->protocol);
    else
        (void)snprintf(message, sizeof(message),
                       "%u direct attempts were reported: further ones are refused and not reported",
                       CK_DIRECT_ATTEMPTS_MAX);
    gate->totals.refused++;
    if (!gate->on_event)
        return;
    const struct ck_gate_event event = {.verdict = CK_GATE_REFUSED,
                                        .protocol = word,
                                        .host = address,
                                        .port = (uint16_t)attempt->port,
                                        .rule = "",
                                        .address = address,
                                        .via = "",
                                        .secret = "",
                                        .reason = ck_answer_reason_word(CK_REASON_DIRECT),
                                        .message = message};
    gate->on_event(gate->data, &event);
}

void ck_direct_attempts_receive(struct ck_gate *gate)
{
    struct ck_direct_attempt direct_attempts[RECORDS];
    ssize_t n = 1;
    for (unsigned reported = 0; gate->direct_attempts.fd >= 0 && n > 0 && reported <= CK_DIRECT_ATTEMPTS_MAX;) {
        n = read(gate->direct_attempts.fd, direct_attempts, sizeof(direct_attempts));
        for (ssize_t i = 0; i < n / (ssize_t)sizeof(direct_attempts[0]); i++, reported++)
            report_attempt(gate, &direct_attempts[i]);
        /* A part of a record, the end or an error: nothing valid can follow, so it is closed. */
        bool whole = n > 0 && n % (ssize_t)sizeof(direct_attempts[0]) == 0;
        bool would_block = n < 0 && (errno == EAGAIN || errno == EINTR);
        if (!whole && !would_block)
            ck_proxy_close_watched(gate, &gate->direct_attempts);
    }
}

int ck_direct_attempts_watch(struct ck_gate *gate, int direct_attempts_fd)
{
    ck_proxy_close_watched(gate, &gate->direct_attempts);
    gate->direct_attempts.fd = direct_attempts_fd;
    ck_proxy_watch(gate, &gate->direct_attempts, EPOLLIN);
    return gate->direct_attempts.events != 0 ? 0 : -ENOMEM;
}
