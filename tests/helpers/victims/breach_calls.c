/*
 * breach_calls.c - attacks by system calls that no namespace covers.
 *
 * breach_calls WAY [ARG]... - kernel interfaces that no namespace covers, or that bypass one. See breach.h.
 *   socket FAMILY TYPE     a socket of that family
 *   inet PORT              a message to a listener on 127.0.0.1
 *   path PATH              a message to a listener on a socket in the file system
 *   abstract NAME          a message to a listener on an abstract socket
 *   datagram PATH          a message to a datagram socket in the file system, by way of a socket pair
 *   keyring                a key into the user's keyring, and back
 *   find_keyring           the number of the user's keyring
 *   request_key NAME       a key that another process added
 *   uring                  a ring
 *   x32, i386              getpid by another entry to the kernel
 *   bpf, perf, fault       other interfaces with a history of exploits
 *   terminal PATH REQUEST  a request (a hexadecimal number of 64 bits) to the terminal, with the letter X
 *   request REQUEST        the same to stdin, whatever that is
 */
#include "breach.h"

#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/io_uring.h>
#include <linux/keyctl.h>
#include <linux/perf_event.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#define X32_BIT 0x40000000L
#define I386_GETPID 20
#define USER_MODE_ONLY 1

static const char *say(int fd, const struct sockaddr *address, socklen_t length)
{
    if (connect(fd, address, length) < 0) {
        return "connect";
    }
    return write(fd, "word", 4) == 4 ? NULL : "write";
}

static const char *family(char **arguments)
{
    return socket((int)strtol(arguments[0], NULL, 10), (int)strtol(arguments[1], NULL, 10), 0) < 0 ? "socket" : NULL;
}

static const char *inet(char **arguments)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    address.sin_port = htons((uint16_t)strtol(arguments[0], NULL, 10));
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    return fd < 0 ? "socket" : say(fd, (struct sockaddr *)&address, sizeof(address));
}

static socklen_t name_socket(struct sockaddr_un *address, const char *name, size_t at)
{
    size_t length = strlen(name);
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (at + length >= sizeof(address->sun_path)) {
        exit(BREACH_MISUSED);
    }
    (void)memcpy(address->sun_path + at, name, length);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + at + length);
}

static const char *local(const char *name, size_t at)
{
    struct sockaddr_un address;
    socklen_t length = name_socket(&address, name, at);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    return fd < 0 ? "socket" : say(fd, (struct sockaddr *)&address, length);
}

static const char *path(char **arguments)
{
    return local(arguments[0], 0);
}

static const char *abstract(char **arguments)
{
    return local(arguments[0], 1);
}

/* A socket pair is allowed; an end of it can be connected to another peer. */
static const char *datagram(char **arguments)
{
    struct sockaddr_un address;
    socklen_t length = name_socket(&address, arguments[0], 0);
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) < 0) {
        return "socketpair";
    }
    return sendto(pair[0], "word", 4, 0, (struct sockaddr *)&address, length) == 4 ||
                   !say(pair[0], (struct sockaddr *)&address, length)
               ? NULL
               : "sendto";
}

static const char *keyring(char **arguments)
{
    char back[8];
    (void)arguments;
    long key = syscall(SYS_add_key, "user", "choke-breach", "word", 4, KEY_SPEC_USER_KEYRING);
    if (key < 0) {
        return "add_key";
    }
    return syscall(SYS_keyctl, KEYCTL_READ, key, back, sizeof(back)) == 4 ? NULL : "keyctl";
}

static const char *find_keyring(char **arguments)
{
    (void)arguments;
    return syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_USER_KEYRING, 1) < 0 ? "keyctl" : NULL;
}

static const char *request_key(char **arguments)
{
    return syscall(SYS_request_key, "user", arguments[0], NULL, KEY_SPEC_USER_KEYRING) < 0 ? "request_key" : NULL;
}

static const char *uring(char **arguments)
{
    struct io_uring_params parameters = {0};
    (void)arguments;
    return syscall(SYS_io_uring_setup, 4, &parameters) < 0 ? "io_uring_setup" : NULL;
}

static const char *x32(char **arguments)
{
    (void)arguments;
    return syscall(X32_BIT | SYS_getpid) < 0 ? "getpid" : NULL;
}

static const char *i386(char **arguments)
{
    (void)arguments;
#ifdef __x86_64__
    long r = I386_GETPID;
    __asm__ volatile("int $0x80" : "+a"(r) : : "memory", "r8", "r9", "r10", "r11");
    errno = (int)-r;
    return r > 0 ? NULL : "getpid";
#else
    errno = ENOSYS;
    return "getpid";
#endif
}

static const char *bpf(char **arguments)
{
    union bpf_attr attributes = {.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1};
    (void)arguments;
    return syscall(SYS_bpf, BPF_MAP_CREATE, &attributes, sizeof(attributes)) < 0 ? "bpf" : NULL;
}

static const char *perf(char **arguments)
{
    struct perf_event_attr attributes = {.type = PERF_TYPE_SOFTWARE,
                                         .size = sizeof(attributes),
                                         .config = PERF_COUNT_SW_TASK_CLOCK,
                                         .exclude_kernel = 1,
                                         .exclude_hv = 1};
    (void)arguments;
    return syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0) < 0 ? "perf_event_open" : NULL;
}

static const char *fault(char **arguments)
{
    (void)arguments;
    return syscall(SYS_userfaultfd, USER_MODE_ONLY) < 0 ? "userfaultfd" : NULL;
}

static const char *ask(int fd, const char *request)
{
    char letter = 'X';
    return syscall(SYS_ioctl, fd, strtoul(request, NULL, 16), &letter) < 0 ? "ioctl" : NULL;
}

/* A session leader without a terminal gets the terminal that it opens as its controlling terminal. */
static const char *terminal(char **arguments)
{
    int fd = open(arguments[0], O_RDWR);
    return fd < 0 ? "open" : ask(fd, arguments[1]);
}

static const char *request(char **arguments)
{
    return ask(0, arguments[0]);
}

static const struct breach ways[] = {
    {"socket", 2, family},
    {"inet", 1, inet},
    {"path", 1, path},
    {"abstract", 1, abstract},
    {"datagram", 1, datagram},
    {"keyring", 0, keyring},
    {"find_keyring", 0, find_keyring},
    {"request_key", 1, request_key},
    {"uring", 0, uring},
    {"x32", 0, x32},
    {"i386", 0, i386},
    {"bpf", 0, bpf},
    {"perf", 0, perf},
    {"fault", 0, fault},
    {"terminal", 2, terminal},
    {"request", 1, request},
};

int main(int argc, char **argv)
{
    return BREACH_MAIN(ways);
}
