/*
 * direct_attempts.c - reports connections of a run with egress that do not use the gate
 * (docs/adr/0035).
 *
 * The kernel refuses them anyway: there is no route, Landlock allows one port, the filter one kind
 * of socket. But nobody would know of the attempt. So the filter notifies us first (listener.c) of
 * each connect and each kind of socket that it does not allow. We read the target, report it to the
 * caller through a pipe, and answer: a connect continues and is refused as before; for the others
 * the refusal comes from us.
 *
 *  Must not decide by what was read: the tool may have changed it meanwhile. This code reports, and
 *           the kernel refuses.
 *  Must not let a tool write without limit: each target is reported once, and at most
 *           CK_DIRECT_ATTEMPTS_MAX of them.
 */
#include "run/keeper/direct_attempts.h"

#include "run/keeper/listener.h"
#include "run/keeper/nolibc.h"
#include "sys/raw.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>

#define KIND_MASK 0xf
#define SIN6_LEAST 24 /* the kernel accepts a sockaddr_in6 without the scope id */

/* ---- the target ---- */

/*
 * In a proof, which has no report_fd, a lack of resources must not look like a machine that cannot
 * do it.
 */
static void note_shortage(const struct ck_direct_attempts *attempts, long r)
{
    if (attempts->report_fd >= 0 || (r != -EMFILE && r != -ENFILE && r != -ENOMEM))
        return;
    attempts->init_status->stage = CK_STAGE_EGRESS;
    attempts->init_status->error = (int32_t)-r;
}

/* Reads memory of the tool. False: there is no such address, or the machine forbids the access. */
static bool read_memory(const struct ck_direct_attempts *attempts, const struct seccomp_notif *asked, uint64_t at,
                        void *to, size_t length)
{
    char path[32];
    char *end = ck_nolibc_append_number(ck_nolibc_append_text(path, "/proc/"), (long)asked->pid);
    (void)ck_nolibc_append_text(end, "/mem");
    long fd = CK_RAW6(openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0, 0, attempts->exec_key);
    if (fd < 0) {
        note_shortage(attempts, fd);
        return false;
    }
    long got = CK_RAW4(pread64, fd, to, length, at);
    ck_nolibc_close((int)fd);
    return got == (long)length;
}

/* sendmsg and sendmmsg have the address in a struct msghdr in memory. */
static bool find_address(const struct ck_direct_attempts *attempts, const struct seccomp_notif *asked, uint64_t *ret_at,
                         uint64_t *ret_length)
{
    struct msghdr message = {0};
    const uint64_t *arguments = (const void *)asked->data.args;
    bool sends = asked->data.nr == __NR_sendto;
    *ret_at = arguments[sends ? 4 : 1];
    *ret_length = (uint32_t)arguments[sends ? 5 : 2];
    if (sends || asked->data.nr == __NR_connect)
        return true;
    if (!read_memory(attempts, asked, arguments[1], &message, sizeof(message)))
        return false;
    *ret_at = (uint64_t)(uintptr_t)message.msg_name;
    *ret_length = message.msg_namelen;
    return true;
}

/* An IPv4-mapped IPv6 address is reported as the IPv4 address. */
static void read_ipv6(const struct sockaddr_in6 *ipv6, struct ck_direct_attempt *attempt)
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    const uint8_t *bytes = (const void *)&ipv6->sin6_addr;
    bool is_ipv4 = true;
    for (unsigned i = 0; i < sizeof(mapped); i++)
        is_ipv4 = is_ipv4 && bytes[i] == mapped[i];
    attempt->family = is_ipv4 ? AF_INET : AF_INET6;
    memcpy(attempt->address, is_ipv4 ? bytes + sizeof(mapped) : bytes, is_ipv4 ? 4 : 16);
}

/* False: there is no address, or it cannot be read. */
static bool read_target(struct ck_direct_attempts *attempts, const struct seccomp_notif *asked,
                        struct ck_direct_attempt *ret_attempt)
{
    union {
        struct sockaddr_in ipv4;
        struct sockaddr_in6 ipv6;
    } address = {.ipv6 = {0}};
    uint64_t at, length;
    if (!find_address(attempts, asked, &at, &length))
        return false;
    size_t some = length < sizeof(address) ? (size_t)length : sizeof(address);
    if (!read_memory(attempts, asked, at, &address, some))
        return false;
    attempts->init_status->reports_attempts = 1;
    const uint8_t *port = (const void *)&address.ipv4.sin_port;
    *ret_attempt =
        (struct ck_direct_attempt){.kind = CK_DIRECT_ATTEMPT_CONNECTION, .port = (uint32_t)port[0] << 8 | port[1]};
    if (address.ipv4.sin_family == AF_INET6 && some >= SIN6_LEAST) {
        read_ipv6(&address.ipv6, ret_attempt);
        return true;
    }
    ret_attempt->family = AF_INET;
    memcpy(ret_attempt->address, &address.ipv4.sin_addr, 4);
    return address.ipv4.sin_family == AF_INET && some >= sizeof(address.ipv4);
}

/* connect to 0.0.0.0 means this host, so loopback. */
static bool is_gate(const struct ck_direct_attempts *attempts, const struct ck_direct_attempt *attempt)
{
    const uint8_t *bytes = attempt->address;
    return attempt->family == AF_INET && attempt->port == attempts->gate_port && bytes[1] == 0 && bytes[2] == 0 &&
           ((bytes[0] == 127 && bytes[3] == 1) || (bytes[0] == 0 && bytes[3] == 0));
}

/* Addresses of loopback: 127.0.0.0/8, ::1, and the unspecified ones, which mean the same to connect. */
static bool is_loopback(const struct ck_direct_attempt *attempt)
{
    const uint8_t *bytes = attempt->address;
    unsigned size = attempt->family == AF_INET ? 4 : 16, rest = 0;
    for (unsigned i = 0; i + 1 < size; i++)
        rest |= bytes[i];
    if (attempt->family == AF_INET && bytes[0] == 127)
        return true;
    return rest == 0 && (bytes[size - 1] == 0 || (size == 16 && bytes[size - 1] == 1));
}

/* ---- reporting ---- */

static bool same(const struct ck_direct_attempt *one, const struct ck_direct_attempt *other)
{
    bool equal = one->kind == other->kind && one->family == other->family && one->type == other->type &&
                 one->protocol == other->protocol && one->port == other->port;
    for (unsigned i = 0; equal && i < sizeof(one->address); i++)
        equal = one->address[i] == other->address[i];
    return equal;
}

static void report_attempt(struct ck_direct_attempts *attempts, const struct ck_direct_attempt *attempt)
{
    static const struct ck_direct_attempt more = {.kind = CK_DIRECT_ATTEMPT_MORE};
    attempts->found_one = true;
    attempts->last = *attempt;
    for (uint32_t i = 0; i < attempts->count && i < CK_DIRECT_ATTEMPTS_MAX; i++)
        if (same(&attempts->seen[i], attempt))
            return;
    if (attempts->count > CK_DIRECT_ATTEMPTS_MAX)
        return;
    bool full = attempts->count == CK_DIRECT_ATTEMPTS_MAX;
    if (!full)
        attempts->seen[attempts->count] = *attempt;
    attempts->count++;
    if (attempts->report_fd >= 0)
        (void)CK_RAW3(write, attempts->report_fd, full ? &more : attempt, sizeof(*attempt));
}

/*
 * Libraries use these two everywhere, to find name services and their own addresses; neither leads
 * out. They are refused like the others but not reported.
 */
static bool leads_out(const struct seccomp_notif *asked)
{
    return (uint32_t)asked->data.args[0] != AF_UNIX && (uint32_t)asked->data.args[0] != AF_NETLINK;
}

int32_t ck_direct_attempts_judge(struct ck_direct_attempts *attempts, int listener_fd,
                                 const struct seccomp_notif *asked)
{
    struct ck_direct_attempt attempt = {.kind = CK_DIRECT_ATTEMPT_SOCKET,
                                        .family = (uint32_t)asked->data.args[0],
                                        .type = (uint32_t)asked->data.args[1] & KIND_MASK,
                                        .protocol = (uint32_t)asked->data.args[2]};
    if (asked->data.nr == __NR_socket) {
        if (leads_out(asked))
            report_attempt(attempts, &attempt);
        return -EAFNOSUPPORT;
    }
    bool seen = read_target(attempts, asked, &attempt) && ck_listener_still_asks(listener_fd, asked);
    bool connects = asked->data.nr == __NR_connect;
    bool own = is_gate(attempts, &attempt) || (attempts->loopback && is_loopback(&attempt));
    if (seen && !(connects && own))
        report_attempt(attempts, &attempt);
    return connects ? 0 : -EOPNOTSUPP;
}
