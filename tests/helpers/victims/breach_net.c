/*
 * breach_net.c - attacks on the network of a jail.
 *
 * breach_net WAY [ARG]... - direct attempts past the proxy of a run with egress. See breach.h.
 *   socket FAMILY TYPE PROTOCOL  a socket of that kind; numbers of 64 bits
 *   reach ADDRESS PORT           a connection, of IPv4 or IPv6
 *   fastopen ADDRESS PORT        the same by sending, without connect
 *   query ADDRESS PORT           a question to a resolver, as a datagram
 *   bind PORT, listen            to be a server on loopback; at whatever port
 *   over                         another protocol of the kernel's put over TCP
 *   swarm COUNT                  COUNT connections to the gate at once, held until it is killed; says "held"
 *   scatter COUNT                COUNT connections to different addresses, each tried twice, while signals come; and then
 *                                one to the gate
 *   look                         says which network it is in and what sockets are there, and then leaves one: a connection to
 *                                the gate, which the kernel remembers for a while
 *   again ADDRESS PORT           a connection to the gate (HTTPS_PROXY), given up, and the socket used for another
 */
#include "breach.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>

union address {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
};

static char gate_address[] = "127.0.0.1", gate_port[] = "3128";
static char *gate[] = {gate_address, gate_port};

static int number(const char *text)
{
    return (int)strtol(text, NULL, 10);
}

static socklen_t read_address(const char *text, const char *port, union address *address)
{
    *address = (union address){0};
    if (inet_pton(AF_INET, text, &address->four.sin_addr) == 1) {
        address->four.sin_family = AF_INET;
        address->four.sin_port = htons((uint16_t)number(port));
        return sizeof(address->four);
    }
    if (inet_pton(AF_INET6, text, &address->six.sin6_addr) != 1) {
        exit(BREACH_MISUSED);
    }
    address->six.sin6_family = AF_INET6;
    address->six.sin6_port = htons((uint16_t)number(port));
    return sizeof(address->six);
}

static const char *kind(char **arguments)
{
    return syscall(SYS_socket, strtol(arguments[0], NULL, 10), strtol(arguments[1], NULL, 10),
                   strtol(arguments[2], NULL, 10)) < 0
               ? "socket"
               : NULL;
}

/* Parses an address and a port and makes a socket for it; -1 if there is none. */
static int socket_for(char **arguments, int type, union address *address, socklen_t *length)
{
    *length = read_address(arguments[0], arguments[1], address);
    return socket(address->any.sa_family, type, 0);
}

static const char *reach(char **arguments)
{
    union address address;
    socklen_t length;
    int fd = socket_for(arguments, SOCK_STREAM, &address, &length);
    if (fd < 0) {
        return "socket";
    }
    return connect(fd, &address.any, length) < 0 ? "connect" : NULL;
}

/* Sends one piece of data to an address by each call that sends without connect. */
static const char *send_to(char **arguments, int type, const void *data, size_t size, int flags)
{
    union address address;
    socklen_t length;
    int fd = socket_for(arguments, type, &address, &length);
    if (fd < 0) {
        return "socket";
    }
    return sendto(fd, data, size, flags, &address.any, length) < 0 ? "sendto" : NULL;
}

static const char *fastopen(char **arguments)
{
    return send_to(arguments, SOCK_STREAM, "word", 4, MSG_FASTOPEN | MSG_NOSIGNAL);
}

static const char *query(char **arguments)
{
    static const unsigned char question[] = "\x12\x34\x01\0\0\x01\0\0\0\0\0\0\x06secret\x07"
                                            "example\x03org\0\0\x01\0\x01";
    return send_to(arguments, SOCK_DGRAM, question, sizeof(question) - 1, 0);
}

static const char *bind_to(char **arguments)
{
    union address address;
    socklen_t length = read_address(gate_address, arguments[0], &address);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0) {
        return "socket";
    }
    return bind(fd, &address.any, length) < 0 ? "bind" : NULL;
}

static const char *listen_anywhere(char **arguments)
{
    (void)arguments;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0) {
        return "socket";
    }
    return listen(fd, 1) < 0 ? "listen" : NULL;
}

/* The kernel looks up a name that it does not have like any other, and answers ENOENT; the filter
 * answers before. */
static const char *over(char **arguments)
{
    (void)arguments;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0) {
        return "socket";
    }
    return setsockopt(fd, IPPROTO_TCP, TCP_ULP, "none", sizeof("none")) < 0 ? "setsockopt" : NULL;
}

static const char *again(char **arguments)
{
    union address address;
    const struct sockaddr nobody = {.sa_family = AF_UNSPEC};
    socklen_t length = read_address(gate[0], gate[1], &address);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || connect(fd, &address.any, length) < 0) {
        return "gate";
    }
    if (connect(fd, &nobody, sizeof(nobody)) < 0) {
        return "disconnect";
    }
    length = read_address(arguments[0], arguments[1], &address);
    return connect(fd, &address.any, length) < 0 ? "connect" : NULL;
}

/* A connection that is not yet accepted is listed too. */
static const char *swarm(char **arguments)
{
    union address address;
    socklen_t length = read_address(gate[0], gate[1], &address);
    for (int i = 0; i < number(arguments[0]); i++) {
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        if (fd < 0 || connect(fd, &address.any, length) < 0) {
            return "connect";
        }
    }
    (void)puts("held");
    (void)fflush(stdout);
    (void)pause();
    return NULL;
}

static void ignore(int signal)
{
    (void)signal;
}

/* A request for notification may be withdrawn and repeated if a signal interrupts the call. */
static void be_interrupted(void)
{
    const struct sigaction action = {.sa_handler = ignore, .sa_flags = SA_RESTART};
    const struct itimerval often = {.it_interval = {.tv_usec = 200}, .it_value = {.tv_usec = 200}};
    (void)sigaction(SIGALRM, &action, NULL);
    (void)setitimer(ITIMER_REAL, &often, NULL);
}

static const char *scatter(char **arguments)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(443)};
    be_interrupted();
    for (int i = 0; i < 2 * number(arguments[0]); i++) {
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        address.sin_addr.s_addr = htonl((198U << 24 | 18U << 16) + (uint32_t)(i / 2));
        if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0) {
            return "scatter";
        }
        (void)close(fd);
    }
    return reach(gate);
}

static const char *look(char **arguments)
{
    char line[512];
    ssize_t length = readlink("/proc/self/ns/net", line, sizeof(line));
    (void)arguments;
    (void)printf("%.*s\n", (int)length, line);
    FILE *table = fopen("/proc/net/tcp", "r");
    while (table && fgets(line, sizeof(line), table)) {
        (void)fputs(line, stdout);
    }
    return reach(gate);
}

static const struct breach ways[] = {
    {"socket", 3, kind}, {"reach", 2, reach},     {"fastopen", 2, fastopen},
    {"query", 2, query}, {"bind", 1, bind_to},    {"listen", 0, listen_anywhere},
    {"over", 0, over},   {"again", 2, again},     {"swarm", 1, swarm},
    {"look", 0, look},   {"scatter", 1, scatter},
};

int main(int argc, char **argv)
{
    return BREACH_MAIN(ways);
}
