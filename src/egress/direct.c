/*
 * direct.c - what a tool tried without asking the proxy: told as refusals, which the kernel has made already.
 *
 * The records come from the first process of the run (run/keeper/roads.c), which tells each way once and not more than
 * CK_ROADS_MAX of them. Must not wait, and not believe that a record is whole or sensible.
 */
#include "base/road.h"
#include "egress/gate.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define MPTCP 262
#define RECORDS 16 /* in one turn */

/* What a kind of socket is good for, in a word; the first that fits. */
static const char *word_of(const struct ck_road *road)
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
    if (road->family == AF_PACKET)
        return "packet";
    if (road->family == AF_VSOCK)
        return "vsock";
    if (road->family != AF_INET && road->family != AF_INET6)
        return "other";
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if ((kinds[i].type == 0 || kinds[i].type == road->type) &&
            (kinds[i].protocol == 0 || kinds[i].protocol == road->protocol))
            return kinds[i].word;
    return "other";
}

static void tell(struct ck_gate *gate, const struct ck_road *road)
{
    char address[CK_ADDRESS_TEXT_SIZE] = "";
    char message[256];
    struct ck_address target = {.length = road->family == AF_INET ? 4 : 16};
    const char *word = road->kind == CK_ROAD_CONNECTION ? "tcp" : road->kind == CK_ROAD_SOCKET ? word_of(road) : "";
    memcpy(target.bytes, road->address, target.length);
    if (road->kind == CK_ROAD_CONNECTION)
        (void)snprintf(message, sizeof message,
                       "a connection to '%s' port %u that was not asked of the proxy: there is no other way out",
                       ck_address_text(&target, address), (unsigned)(uint16_t)road->port);
    else if (road->kind == CK_ROAD_SOCKET)
        (void)snprintf(message, sizeof message,
                       "a socket of family %u, type %u, protocol %u: there are only those of TCP, to ask the proxy",
                       road->family, road->type, road->protocol);
    else
        (void)snprintf(message, sizeof message, "%u ways around the proxy were told: others are refused and not told",
                       CK_ROADS_MAX);
    gate->totals.refused++;
    if (gate->on_event == NULL)
        return;
    const struct ck_gate_event event = {.verdict = CK_GATE_REFUSED,
                                        .protocol = word,
                                        .host = address,
                                        .port = (uint16_t)road->port,
                                        .rule = "",
                                        .address = address,
                                        .reason = ck_reason_word(CK_REASON_DIRECT),
                                        .message = message};
    gate->on_event(gate->data, &event);
}

void ck_direct_hear(struct ck_gate *gate)
{
    struct ck_road roads[RECORDS];
    ssize_t n = 1;
    for (unsigned told = 0; gate->roads.fd >= 0 && n > 0 && told <= CK_ROADS_MAX;) {
        n = read(gate->roads.fd, roads, sizeof roads);
        for (ssize_t i = 0; i < n / (ssize_t)sizeof roads[0]; i++, told++)
            tell(gate, &roads[i]);
        bool whole = n > 0 && n % (ssize_t)sizeof roads[0] == 0;
        bool later = n < 0 && (errno == EAGAIN || errno == EINTR);
        if (!whole && !later)
            ck_watched_close(gate, &gate->roads);
    }
}

int ck_gate_take_roads(struct ck_gate *gate, int roads_fd)
{
    ck_watched_close(gate, &gate->roads);
    gate->roads.fd = roads_fd;
    ck_watch_for(gate, &gate->roads, EPOLLIN);
    return gate->roads.events != 0 ? 0 : -ENOMEM;
}
