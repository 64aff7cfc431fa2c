/*
 * egress.c - the cost of the proxy, compared with a direct connection.
 *
 * Three processes on loopback: a host that serves, the proxy with one gate, and the client, which
 * is the worker itself and does the same reads and writes on both sides. The line protocol is the
 * worker's (worker.h); WAY is "direct", "connect" (a tunnel) or "http" (absolute form):
 *
 *     transfer WAY MIB     one answer of MIB MiB, from the request to its last byte
 *     first WAY COUNT      connections one after the other, each from connect(2) to its first byte
 *     tunnels COUNT        COUNT tunnels open at one moment, a byte there and back in each of them
 */
#include "reply.h"

#include "egress/proxy.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define MIB (UINT64_C(1) << 20)
#define BLOCK (256 * 1024)
#define TUNNELS_MAX 16384
#define HEAD_SIZE 512

struct lab {
    uint16_t host_port;
    uint16_t gate_port;
};

static char block[BLOCK];

static int must(int r, const char *what)
{
    if (r < 0)
        fail(what, strerror(errno));
    return r;
}

/* ---- sockets ----------------------------------------------------------------------------------------------------- */

static int listen_somewhere(uint16_t *ret_port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    int fd = must(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
    must(bind(fd, (struct sockaddr *)&address, size), "bind");
    must(listen(fd, 4096), "listen");
    must(getsockname(fd, (struct sockaddr *)&address, &size), "getsockname");
    *ret_port = ntohs(address.sin_port);
    return fd;
}

static int dial(uint16_t port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = must(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
    must(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int)), "TCP_NODELAY");
    must(connect(fd, (struct sockaddr *)&address, sizeof(address)), "connect");
    return fd;
}

/* False: the other side has gone. */
static bool write_all(int fd, const char *data, size_t length)
{
    while (length > 0) {
        ssize_t n = send(fd, data, length, MSG_NOSIGNAL);
        if (n < 0)
            return false;
        data += n;
        length -= (size_t)n;
    }
    return true;
}

static void must_write(int fd, const char *data, size_t length)
{
    if (!write_all(fd, data, length))
        fail("send", strerror(errno));
}

/* Up to and including the empty line; returns the bytes read after it. */
static size_t read_head(int fd)
{
    size_t length = 0;
    for (;;) {
        ssize_t n = recv(fd, block + length, sizeof(block) - 1 - length, 0);
        if (n <= 0)
            fail("head", n == 0 ? "the connection ended" : strerror(errno));
        length += (size_t)n;
        block[length] = '\0';
        const char *end = strstr(block, "\r\n\r\n");
        if (end && !strstr(block, " 200 "))
            fail("answer", block);
        if (end)
            return length - (size_t)(end + 4 - block);
    }
}

/* ---- the host ---------------------------------------------------------------------------------------------------- */

static bool serve_bytes(int fd, uint64_t bytes)
{
    char head[HEAD_SIZE];
    int length =
        snprintf(head, sizeof(head), "HTTP/1.1 200 OK\r\nContent-Length: %llu\r\n\r\n", (unsigned long long)bytes);
    bool well = write_all(fd, head, (size_t)length);
    for (uint64_t left = bytes; well && left > 0;) {
        size_t some = left < sizeof(block) ? (size_t)left : sizeof(block);
        well = write_all(fd, block, some);
        left -= some;
    }
    return well;
}

/* "GET /N ..." is answered with N bytes, anything else with itself. False: the connection is done. */
static bool serve_some(int fd)
{
    char request[HEAD_SIZE];
    ssize_t n = recv(fd, request, sizeof(request) - 1, 0);
    if (n <= 0)
        return false;
    request[n] = '\0';
    if (strncmp(request, "GET /", 5) == 0)
        return serve_bytes(fd, strtoull(request + 5, NULL, 10));
    return write_all(fd, request, (size_t)n);
}

static _Noreturn void be_host(int listen_fd)
{
    int epoll_fd = must(epoll_create1(EPOLL_CLOEXEC), "epoll");
    must(epoll_ctl(epoll_fd, EPOLL_CTL_ADD, listen_fd, &(struct epoll_event){.events = EPOLLIN, .data.fd = listen_fd}),
         "epoll");
    for (;;) {
        struct epoll_event event;
        if (epoll_wait(epoll_fd, &event, 1, -1) != 1)
            continue;
        if (event.data.fd != listen_fd) {
            if (!serve_some(event.data.fd))
                (void)close(event.data.fd);
            continue;
        }
        int fd = must(accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC), "accept");
        must(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int)), "TCP_NODELAY");
        must(epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &(struct epoll_event){.events = EPOLLIN, .data.fd = fd}), "epoll");
    }
}

/* ---- the proxy --------------------------------------------------------------------------------------------------- */

static _Noreturn void be_proxy(int listen_fd)
{
    struct ck_proxy proxy;
    struct ck_gate *gate = NULL;
    struct ck_destination rule;
    const char *why = NULL;
    struct ck_gate_budget budget = CK_GATE_BUDGET_DEFAULT;
    budget.connections_at_once = TUNNELS_MAX;
    budget.connections_total = UINT64_MAX;
    ck_proxy_init(&proxy);
    if (ck_destination_parse("127.0.0.1 opaque", &rule, &why) != 0)
        fail("rule", why);
    must(ck_proxy_open(&proxy, listen_fd, &(struct ck_gate_options){.rules = &rule, .rules_count = 1, .budget = budget},
                       &gate),
         "ck_proxy_open");
    struct pollfd polled = {.fd = ck_proxy_fd(&proxy), .events = POLLIN};
    for (;;)
        if (poll(&polled, 1, -1) > 0)
            must(ck_proxy_dispatch(&proxy), "ck_proxy_dispatch");
}

/* A process that ends with this one. */
static uint16_t start(void (*be)(int))
{
    uint16_t port = 0;
    int listen_fd = listen_somewhere(&port);
    pid_t parent = getpid();
    if (must(fork(), "fork") == 0) {
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
            _exit(1);
        be(listen_fd);
        _exit(1);
    }
    (void)close(listen_fd);
    return port;
}

/* ---- the client -------------------------------------------------------------------------------------------------- */

/* Through the gate into a tunnel. */
static int dial_tunnel(const struct lab *lab)
{
    char request[HEAD_SIZE];
    int fd = dial(lab->gate_port);
    int length = snprintf(request, sizeof(request), "CONNECT 127.0.0.1:%u HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n\r\n",
                          lab->host_port, lab->host_port);
    must_write(fd, request, (size_t)length);
    if (read_head(fd) != 0)
        fail("tunnel", "there are bytes after the answer");
    return fd;
}

/* The request has been sent. */
static int ask(const struct lab *lab, const char *way, uint64_t bytes)
{
    char request[HEAD_SIZE];
    char origin[64] = "";
    bool http = strcmp(way, "http") == 0;
    if (http)
        (void)snprintf(origin, sizeof(origin), "http://127.0.0.1:%u", lab->host_port);
    int fd = strcmp(way, "connect") == 0 ? dial_tunnel(lab) : dial(http ? lab->gate_port : lab->host_port);
    int length = snprintf(request, sizeof(request), "GET %s/%llu HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n\r\n", origin,
                          (unsigned long long)bytes, lab->host_port);
    must_write(fd, request, (size_t)length);
    return fd;
}

static void command_transfer(const struct lab *lab, const char *way, uint64_t mib)
{
    uint64_t begin = now_ns();
    int fd = ask(lab, way, mib * MIB);
    for (uint64_t got = read_head(fd); got < mib * MIB;) {
        ssize_t n = recv(fd, block, sizeof(block), 0);
        if (n <= 0)
            fail("transfer", "the connection ended early");
        got += (uint64_t)n;
    }
    reply(1, now_ns() - begin);
    (void)close(fd);
}

static void command_first(const struct lab *lab, const char *way, uint64_t count)
{
    uint64_t total = 0;
    for (uint64_t i = 0; i < count; i++) {
        char byte;
        uint64_t begin = now_ns();
        int fd = ask(lab, way, 1);
        if (recv(fd, &byte, 1, 0) != 1)
            fail("first", "no answer");
        total += now_ns() - begin;
        (void)close(fd);
    }
    reply(count, total);
}

static void command_tunnels(const struct lab *lab, uint64_t count)
{
    static int fds[TUNNELS_MAX];
    if (count > TUNNELS_MAX)
        fail("tunnels", "too many");
    uint64_t begin = now_ns();
    for (uint64_t i = 0; i < count; i++)
        fds[i] = dial_tunnel(lab);
    for (uint64_t i = 0; i < count; i++)
        must_write(fds[i], "x", 1);
    for (uint64_t i = 0; i < count; i++) {
        char byte = 0;
        if (recv(fds[i], &byte, 1, 0) != 1 || byte != 'x')
            fail("tunnels", "a byte is missing");
    }
    reply(count, now_ns() - begin);
    for (uint64_t i = 0; i < count; i++)
        (void)close(fds[i]);
}

static void obey(const struct lab *lab, char *line)
{
    char *args[3] = {line, NULL, NULL};
    for (int i = 1; i < 3; i++) {
        char *space = args[i - 1] ? strchr(args[i - 1], ' ') : NULL;
        if (space)
            *space++ = '\0';
        args[i] = space;
    }
    if (strcmp(args[0], "transfer") == 0 && args[2])
        command_transfer(lab, args[1], strtoull(args[2], NULL, 10));
    else if (strcmp(args[0], "first") == 0 && args[2])
        command_first(lab, args[1], strtoull(args[2], NULL, 10));
    else if (strcmp(args[0], "tunnels") == 0 && args[1])
        command_tunnels(lab, strtoull(args[1], NULL, 10));
    else
        fail("unknown command", args[0]);
}

int main(void)
{
    struct lab lab;
    struct rlimit limit;
    char line[HEAD_SIZE];
    must(getrlimit(RLIMIT_NOFILE, &limit), "getrlimit");
    limit.rlim_cur = limit.rlim_max;
    must(setrlimit(RLIMIT_NOFILE, &limit), "setrlimit");
    lab.host_port = start(be_host);
    lab.gate_port = start(be_proxy);
    reply(0, 0);
    (void)fflush(stdout);
    while (fgets(line, sizeof(line), stdin)) {
        line[strcspn(line, "\n")] = '\0';
        obey(&lab, line);
        (void)fflush(stdout);
    }
    return 0;
}
