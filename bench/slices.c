/*
 * slices.c - how long one dispatch of the proxy takes while a run has many tunnels to a host that floods.
 *
 * The proxy is in this process; the host and the clients are in two others. The line protocol is the worker's (worker.h);
 * processor time of this process, for the machine has other things to do in between:
 *
 *     flood COUNT      the longest of many dispatches, with COUNT tunnels with clients that read
 *     unread COUNT     the same with clients that do not read, up to the moment when nothing moves any more
 *     close COUNT      the longest dispatch at the end of a run with COUNT full tunnels
 *     copy             what copying the bytes of one slice takes
 */
#include "reply.h"

#include "../tests/unit/crowd.h"
#include "egress/proxy.h"

#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define DISPATCHES 2000
#define QUIET_MS 300
#define COPIES 20

struct lab {
    struct ck_proxy proxy;
    struct ck_gate *gate;
    pid_t host, clients;
};

static uint64_t used_ns(void)
{
    return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static void open_lab(struct lab *lab, unsigned count, bool reads)
{
    struct ck_destination rule;
    const char *why = NULL;
    uint16_t host_port, gate_port;
    struct ck_gate_budget budget = CK_GATE_BUDGET_DEFAULT;
    budget.connections_at_once = count;
    if (ck_destination_parse("127.0.0.1 opaque", &rule, &why) != 0)
        fail("rule", why);
    const struct ck_gate_options options = {.rules = &rule, .rules_count = 1, .budget = budget};
    int host_fd = crowd_listen(&host_port), listen_fd = crowd_listen(&gate_port);
    ck_proxy_init(&lab->proxy);
    lab->host = crowd_host(host_fd);
    lab->clients = crowd_clients(gate_port, host_port, count, reads, -1);
    if (ck_proxy_open(&lab->proxy, listen_fd, &options, &lab->gate) != 0)
        fail("gate", "cannot open it");
    (void)close(host_fd);
}

static void close_lab(struct lab *lab)
{
    ck_proxy_done(&lab->proxy);
    crowd_end(lab->clients);
    crowd_end(lab->host);
}

/* The longest dispatch, in nanoseconds of the processor. */
static uint64_t dispatch(struct lab *lab, unsigned most)
{
    struct pollfd polled = {.fd = ck_proxy_fd(&lab->proxy), .events = POLLIN};
    uint64_t longest = 0;
    for (unsigned i = 0; i < most && poll(&polled, 1, QUIET_MS) > 0; i++) {
        uint64_t begin = used_ns();
        if (ck_proxy_dispatch(&lab->proxy) != 0)
            fail("dispatch", "failed");
        uint64_t took = used_ns() - begin;
        longest = took > longest ? took : longest;
    }
    return longest;
}

static void command_dispatch(unsigned count, bool reads)
{
    struct lab lab;
    open_lab(&lab, count, reads);
    reply(1, dispatch(&lab, reads ? DISPATCHES : UINT32_MAX));
    close_lab(&lab);
}

static void command_close(unsigned count)
{
    struct lab lab;
    open_lab(&lab, count, false);
    (void)dispatch(&lab, UINT32_MAX);
    uint64_t begin = used_ns();
    ck_proxy_close_gate(lab.gate);
    uint64_t took = used_ns() - begin, longest = dispatch(&lab, UINT32_MAX);
    reply(1, took > longest ? took : longest);
    close_lab(&lab);
}

static void command_copy(void)
{
    static char from[CK_PROXY_SLICE_BYTES], to[CK_PROXY_SLICE_BYTES];
    memset(from, 1, sizeof(from));
    memset(to, 2, sizeof(to));
    uint64_t begin = used_ns();
    for (int i = 0; i < COPIES; i++) {
        from[i] = (char)i;
        memcpy(to, from, sizeof(to));
        __asm__ volatile("" ::"r"(to) : "memory"); /* or the compiler leaves it out */
    }
    reply(COPIES, used_ns() - begin);
}

int main(void)
{
    struct rlimit limit;
    char line[128];
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
    reply(0, 0);
    (void)fflush(stdout);
    while (fgets(line, sizeof(line), stdin)) {
        const char *number = strchr(line, ' ');
        unsigned count = number ? (unsigned)strtoul(number, NULL, 10) : 0;
        if (strncmp(line, "flood ", 6) == 0 || strncmp(line, "unread ", 7) == 0)
            command_dispatch(count, line[0] == 'f');
        else if (strncmp(line, "close ", 6) == 0)
            command_close(count);
        else if (strncmp(line, "copy", 4) == 0)
            command_copy();
        else
            fail("unknown command", line);
        (void)fflush(stdout);
    }
    return 0;
}
