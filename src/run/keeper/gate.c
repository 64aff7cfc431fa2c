/*
 * gate.c - the one way out of a run with egress (docs/adr/0031).
 *
 * The run has a new network namespace with nothing but loopback. A socket stays in the namespace in
 * which it was made, also when it is sent to another process. So the first process inside makes the
 * listener and sends it to the caller, which accepts connections from outside. It listens before
 * the tool exists, and no process inside holds it when the tool starts.
 *
 *  Must     find the namespace empty: if the port is in use, the run fails.
 *  Must not leave the socket to the caller open: the caller takes messages from it for messages of
 *           the warden.
 */
#include "run/keeper/gate.h"

#include "run/keeper/nolibc.h"
#include "run/wire.h"
#include "sys/raw.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>

#define BACKLOG 4096 /* tools open many connections at once; the kernel lowers this to net.core.somaxconn */

static uint16_t to_network(uint16_t number)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return __builtin_bswap16(number);
#else
    return number;
#endif
}

/*
 * bwrap has brought loopback up already, and we may lack the capability: so the flags are read
 * first.
 */
static long raise_loopback(int fd)
{
    struct ifreq request = {.ifr_name = "lo"};
    long r = CK_RAW3(ioctl, fd, SIOCGIFFLAGS, &request);
    if (r < 0 || (request.ifr_flags & IFF_UP) != 0)
        return r;
    request.ifr_flags |= IFF_UP;
    return CK_RAW3(ioctl, fd, SIOCSIFFLAGS, &request);
}

/*
 * A tool with loopback can bind sockets itself. So the listener then has the port at every address
 * of both families: as long as it listens, no other socket can take the port at any of them.
 */
static long listen_everywhere(int fd, uint32_t port)
{
    static const int off;
    struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_port = to_network((uint16_t)port)};
    long r = CK_RAW5(setsockopt, fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
    if (r == 0)
        r = CK_RAW3(bind, fd, &address, sizeof(address));
    return r < 0 ? r : CK_RAW2(listen, fd, BACKLOG);
}

/* everywhere: at 0.0.0.0, for a kernel without IPv6. */
static long listen_at(int fd, uint32_t port, bool everywhere)
{
    static const uint8_t loopback[4] = {127, 0, 0, 1};
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = to_network((uint16_t)port)};
    if (!everywhere)
        memcpy(&address.sin_addr, loopback, sizeof(loopback));
    long r = CK_RAW3(bind, fd, &address, sizeof(address));
    return r < 0 ? r : CK_RAW2(listen, fd, BACKLOG);
}

static long open_socket(int family)
{
    return CK_RAW3(socket, family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

long ck_gate_raise_loopback(void)
{
    long fd = open_socket(AF_INET);
    if (fd < 0)
        return fd;
    long r = raise_loopback((int)fd);
    ck_nolibc_close((int)fd);
    return r;
}

/* A descriptor or a negative errno. */
static long make_listener(const struct ck_native_program *program)
{
    bool everywhere = program->loopback != 0;
    long fd = everywhere ? open_socket(AF_INET6) : -EAFNOSUPPORT;
    bool both = fd >= 0;
    if (fd == -EAFNOSUPPORT)
        fd = open_socket(AF_INET);
    if (fd < 0)
        return fd;
    long r = everywhere ? 0 : raise_loopback((int)fd);
    if (r == 0)
        r = both ? listen_everywhere((int)fd, program->gate_port) : listen_at((int)fd, program->gate_port, everywhere);
    if (r == 0)
        return fd;
    ck_nolibc_close((int)fd);
    return r;
}

/*
 * The reports of direct_attempts.c have their own pipe, so that they cannot be confused with
 * messages of the warden. The caller gets the read end.
 */
static long make_pipe(int gate_fd, int *ret_report_fd)
{
    static const struct ck_wire_simple message = {.kind = CK_WIRE_DIRECT_ATTEMPTS};
    int ends[2] = {-1, -1};
    long r = CK_RAW2(pipe2, ends, O_CLOEXEC | O_NONBLOCK);
    if (r < 0)
        return r;
    r = ck_nolibc_send(gate_fd, &message, sizeof(message), ends[0]);
    ck_nolibc_close(ends[0]);
    *ret_report_fd = ends[1];
    return r < 0 ? r : 0;
}

/*
 * The pipe comes first and its read end is closed before the listener is made: so two descriptors
 * at a time are enough, if there are few.
 */
long ck_gate_make(const struct ck_native_program *program, int gate_fd, int *ret_report_fd)
{
    static const struct ck_wire_simple message = {.kind = CK_WIRE_GATE};
    long r = gate_fd < 0 || !ret_report_fd ? 0 : make_pipe(gate_fd, ret_report_fd);
    long fd = r < 0 ? r : make_listener(program);
    if (fd < 0 || gate_fd < 0)
        return fd < 0 ? fd : 0;
    r = ck_nolibc_send(gate_fd, &message, sizeof(message), (int)fd);
    ck_nolibc_close((int)fd);
    return r < 0 ? r : 0;
}
