/* crowd.c - see crowd.h. A failure here ends the process, and the test notices that it does
 * nothing. */
#include "crowd.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define BLOCK (256 * 1024)
#define FDS 4096
#define ANSWER (sizeof("HTTP/1.1 200 Connection established\r\n\r\n") - 1)

static char block[BLOCK];

static int must(int r)
{
    if (r < 0) {
        perror("crowd");
        _exit(1);
    }
    return r;
}

int crowd_listen(uint16_t *ret_port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    int fd = must(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    must(bind(fd, (struct sockaddr *)&address, size));
    must(listen(fd, 4096));
    must(getsockname(fd, (struct sockaddr *)&address, &size));
    *ret_port = ntohs(address.sin_port);
    return fd;
}

/* A process that ends with this one. */
static pid_t begin(void)
{
    struct rlimit limit;
    pid_t parent = getpid();
    pid_t pid = must(fork());
    if (pid != 0)
        return pid;
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
        _exit(1);
    must(getrlimit(RLIMIT_NOFILE, &limit));
    limit.rlim_cur = limit.rlim_max;
    must(setrlimit(RLIMIT_NOFILE, &limit));
    return 0;
}

void crowd_end(pid_t pid)
{
    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, NULL, 0);
}

static int watch(int epoll_fd, int fd, uint32_t events)
{
    return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &(struct epoll_event){.events = events, .data.fd = fd});
}

pid_t crowd_host(int listen_fd)
{
    pid_t pid = begin();
    if (pid != 0)
        return pid;
    int epoll_fd = must(epoll_create1(EPOLL_CLOEXEC));
    must(watch(epoll_fd, listen_fd, EPOLLIN));
    for (;;) {
        struct epoll_event events[64];
        int count = epoll_wait(epoll_fd, events, 64, -1);
        for (int i = 0; i < count; i++) {
            if (events[i].data.fd == listen_fd)
                must(watch(epoll_fd, must(accept4(listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)), EPOLLOUT));
            else if (send(events[i].data.fd, block, sizeof(block), MSG_NOSIGNAL) < 0)
                (void)close(events[i].data.fd);
        }
    }
}

static int dial_tunnel(uint16_t gate_port, uint16_t host_port)
{
    char request[128];
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(gate_port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = must(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    must(connect(fd, (struct sockaddr *)&address, sizeof(address)));
    int length = snprintf(request, sizeof(request), "CONNECT 127.0.0.1:%u HTTP/1.1\r\n\r\nx", host_port);
    must((int)send(fd, request, (size_t)length, MSG_NOSIGNAL));
    return fd;
}

/* The first bytes are the answer to CONNECT, alone or with more after it. */
static bool is_payload(size_t *got, ssize_t n)
{
    size_t before = *got;
    *got += n > 0 ? (size_t)n : 0;
    return before <= ANSWER && *got > ANSWER;
}

static void read_all(int epoll_fd, unsigned count, int all_fd)
{
    static size_t got[FDS];
    for (unsigned served = 0;;) {
        struct epoll_event event;
        if (epoll_wait(epoll_fd, &event, 1, -1) != 1)
            continue;
        ssize_t n = recv(event.data.fd, block, sizeof(block), MSG_DONTWAIT);
        if (n == 0)
            _exit(0);
        if (event.data.fd < FDS && is_payload(&got[event.data.fd], n) && ++served == count && all_fd >= 0)
            must((int)write(all_fd, "x", 1));
    }
}

pid_t crowd_clients(uint16_t gate_port, uint16_t host_port, unsigned count, bool reads, int all_fd)
{
    pid_t pid = begin();
    if (pid != 0)
        return pid;
    int epoll_fd = must(epoll_create1(EPOLL_CLOEXEC));
    for (unsigned i = 0; i < count; i++)
        must(watch(epoll_fd, dial_tunnel(gate_port, host_port), EPOLLIN));
    if (reads)
        read_all(epoll_fd, count, all_fd);
    for (;;)
        (void)pause();
}
