/*
 * prove.c - does the native jail hold on this machine? Forbidden actions are tried inside, once per
 * context.
 *
 * A child of the keeper builds a jail with the same program and the same steps as for a tool. In
 * place of the tool, one function per layer tries to get through it. So a protection that the
 * kernel accepts but does not enforce is found before the first run.
 */
#define CK_RAW_ANSWER(result) ck_prove_note(result)
#include "run/keeper/prove.h"

#include "run/create.h"
#include "run/keeper/child.h"
#include "run/keeper/init.h"
#include "run/keeper/native_jail.h"
#include "run/keeper/nolibc.h"
#include "sys/raw.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/prctl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif
/* Stream protocols other than TCP. */
#define MPTCP 262
#define SCTP 132
#define NULL_DEVICE 0x103 /* 1:3 */
/*
 * The kernel ignores the upper half of an ioctl number, so a filter must not compare all 64 bits.
 */
#define TIOCSTI_WITH_HIGH_BITS ((INT64_C(1) << 32) | 0x5412)

/* The namespaces, to compare those of the keeper with those inside. */
static const char *const links[CK_JAIL_LAYER_NAMESPACES] = {
    [CK_JAIL_LAYER_USER_NS] = "/proc/self/ns/user",     [CK_JAIL_LAYER_MOUNT_NS] = "/proc/self/ns/mnt",
    [CK_JAIL_LAYER_PID_NS] = "/proc/self/ns/pid",       [CK_JAIL_LAYER_NET_NS] = "/proc/self/ns/net",
    [CK_JAIL_LAYER_IPC_NS] = "/proc/self/ns/ipc",       [CK_JAIL_LAYER_UTS_NS] = "/proc/self/ns/uts",
    [CK_JAIL_LAYER_CGROUP_NS] = "/proc/self/ns/cgroup",
};

static uint64_t outside[CK_JAIL_LAYER_NAMESPACES];
static uint32_t gate_port;    /* of the jail; 0: no gate */
static bool ports_bounded;    /* Landlock restricts the ports */
static bool has_loopback;     /* the tool may make sockets and bind them */
static bool reports_attempts; /* direct attempts are reported: direct_attempts.c */
static bool names_execs;      /* refused executions are named: exec_names.c */
static const struct ck_native_program *proved_program;

/*
 * ck_prove_note sees the result of every system call in this file. If a call failed for lack of
 * resources, a layer that seems not to hold has not really been tried.
 */
static int32_t shortage;

long ck_prove_note(long r)
{
    if (r == -ENOMEM || r == -EMFILE || r == -ENFILE || r == -EAGAIN || r == -ENOSPC || r == -EDQUOT || r == -ENOBUFS)
        shortage = (int32_t)-r;
    return r;
}

int32_t ck_prove_shortage(void)
{
    return shortage;
}

static uint64_t namespace_of(const char *link)
{
    struct stat status = {0};
    return CK_RAW4(newfstatat, AT_FDCWD, link, &status, 0) < 0 ? 0 : (uint64_t)status.st_ino;
}

static long open_to(const char *path, int flags)
{
    long fd = CK_RAW4(openat, AT_FDCWD, path, flags | O_CLOEXEC, 0600);
    if (fd >= 0)
        ck_nolibc_close((int)fd);
    return fd;
}

/* ---- one layer each ---- */

/*
 * The device nodes belong to the host: they can be used but not changed. If the chmod succeeds
 * after all, it sets the same mode.
 */
static bool devices_are_fixed(void)
{
    struct stat status = {0};
    return CK_RAW4(newfstatat, AT_FDCWD, "/dev/full", &status, 0) == 0 && open_to("/dev/full", O_WRONLY) >= 0 &&
           CK_RAW3(fchmodat, AT_FDCWD, "/dev/full", status.st_mode & 07777) == -EROFS;
}

static bool fresh_root(void)
{
    return devices_are_fixed() && open_to("/proc/keys", O_RDONLY) < 0 &&
           open_to("/" CK_JAIL_OLD_ROOT "/etc", O_PATH) == -ENOENT && open_to("/root", O_PATH) == -ENOENT &&
           open_to("/sys", O_PATH) == -ENOENT && open_to("/planted", O_WRONLY | O_CREAT) < 0 &&
           open_to("/proc/sys/kernel/core_pattern", O_WRONLY) < 0 && open_to("/proc/1/mem", O_RDWR) < 0 &&
           open_to(CK_JAIL_SCRATCH "/mine", O_WRONLY | O_CREAT) >= 0;
}

/*
 * A read-only mount forbids most of the same actions, with another errno. A device node in a
 * writable directory is refused in any case: by Landlock, which is checked first, with EACCES, and
 * else for lack of a capability with EPERM. (Device number 0 does not serve: Linux 6.1 allows to
 * make that node.)
 */
static bool landlock(void)
{
    return open_to(CK_JAIL_WORK "/planted", O_WRONLY | O_CREAT) < 0 &&
           open_to("/usr/planted", O_WRONLY | O_CREAT) < 0 &&
           CK_RAW4(mknodat, AT_FDCWD, CK_JAIL_SCRATCH "/node", S_IFCHR | 0600, NULL_DEVICE) == -EACCES;
}

/*
 * Tries the programs that exist. They are harmless: if one is executed after all, it replaces this
 * process, and the result stays without the bit.
 */
bool ck_prove_execs(void)
{
    static const char *const programs[] = {"/usr/bin/true", "/bin/sh", "/usr/bin/env"};
    static char name[] = "true";
    static char *const argv[] = {name, NULL};
    static char *const envp[] = {NULL};
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
        long r = ck_create_execute(-1, programs[i], argv, envp);
        if (r != -EACCES && r != -ENOENT)
            return false;
    }
    return true;
}

/*
 * A file that the tool wrote. It is empty: where nothing refuses it, the kernel says that it is not
 * a program.
 */
static bool written_file_is_refused(void)
{
    static char name[] = CK_JAIL_SCRATCH "/written";
    static char *const argv[] = {name, NULL};
    static char *const envp[] = {NULL};
    long fd = CK_RAW4(openat, AT_FDCWD, name, O_RDWR | O_CREAT | O_CLOEXEC, 0700);
    if (fd < 0)
        return false;
    long mapped = CK_RAW6(mmap, NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
    ck_nolibc_close((int)fd);
    return mapped == -EPERM && ck_create_execute(-1, name, argv, envp) == -EACCES;
}

bool ck_prove_seccomp(void)
{
    return CK_RAW2(io_uring_setup, 1, NULL) == -EPERM &&
           (gate_port != 0 || has_loopback || CK_RAW3(socket, AF_INET, SOCK_STREAM, 0) == -EAFNOSUPPORT) &&
           CK_RAW3(socket, AF_UNIX, SOCK_STREAM, 0) == -EAFNOSUPPORT && CK_RAW5(keyctl, 0, -3, 0, 0, 0) == -EPERM &&
           CK_RAW3(ioctl, 0, TIOCSTI_WITH_HIGH_BITS, "") == -EPERM && CK_RAW1(unshare, 0x10000000) == -EPERM &&
           CK_RAW2(memfd_create, "code", 0) == -EPERM && CK_RAW2(memfd_create, "code", MFD_NOEXEC_SEAL) == -EPERM &&
           CK_RAW3(fcntl, 0, F_SETLEASE, F_RDLCK) == -EPERM && CK_RAW3(ioctl, 0, FS_IOC_SETFLAGS, NULL) == -EPERM &&
           CK_RAW3(bpf, 0, NULL, 0) == -EPERM;
}

static bool no_capabilities(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2] = {{~0u, ~0u, ~0u}, {~0u, ~0u, ~0u}};
    long r = CK_RAW2(capget, &header, data);
    return r == 0 && (data[0].effective | data[1].effective | data[0].permitted | data[1].permitted) == 0 &&
           CK_RAW5(prctl, PR_CAPBSET_READ, CAP_SYS_ADMIN, 0, 0, 0) == 0;
}

bool ck_prove_no_new_privs(void)
{
    return CK_RAW5(prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
}

/*
 * Each of these could lead around the gate: datagrams, packets, other stream protocols, families of
 * the kernel. With loopback there are datagrams, the first two.
 */
static bool other_sockets_are_refused(void)
{
    static const int kinds[][3] = {
        {AF_INET, SOCK_DGRAM, 0},
        {AF_INET6, SOCK_DGRAM, 0},
        {AF_INET, SOCK_DGRAM, IPPROTO_ICMP},
        {AF_INET, SOCK_RAW, IPPROTO_TCP},
        {AF_INET6, SOCK_RAW, IPPROTO_TCP},
        {AF_INET, SOCK_STREAM, MPTCP},
        {AF_INET, SOCK_STREAM, SCTP},
        {AF_INET, SOCK_SEQPACKET, SCTP},
        {AF_UNIX, SOCK_STREAM, 0},
        {AF_UNIX, SOCK_DGRAM, 0},
        {AF_NETLINK, SOCK_RAW, 0},
        {AF_PACKET, SOCK_RAW, 0},
        {AF_VSOCK, SOCK_STREAM, 0},
        {AF_INET, SOCK_RDM, 0},
    };
    for (size_t i = has_loopback ? 2 : 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (CK_RAW3(socket, kinds[i][0], kinds[i][1] | SOCK_CLOEXEC, kinds[i][2]) != -EAFNOSUPPORT)
            return false;
    return true;
}

static struct sockaddr_in peer_at(const uint8_t address[4], uint32_t port)
{
    struct sockaddr_in peer = {.sin_family = AF_INET};
    const uint8_t number[2] = {(uint8_t)(port >> 8), (uint8_t)port};
    memcpy(&peer.sin_port, number, sizeof(number));
    memcpy(&peer.sin_addr, address, sizeof(peer.sin_addr));
    return peer;
}

/* Connects to 127.0.0.1, or to an address that would need a route. */
static long connect_to(const uint8_t address[4], uint32_t port)
{
    const struct sockaddr_in peer = peer_at(address, port);
    long fd = CK_RAW3(socket, AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    long r = fd < 0 ? fd : CK_RAW3(connect, fd, &peer, sizeof(peer));
    if (fd >= 0)
        ck_nolibc_close((int)fd);
    return r;
}

static bool serving_is_refused(void)
{
    const struct sockaddr_in any = {.sin_family = AF_INET};
    long fd = CK_RAW3(socket, AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool refused = fd >= 0 && CK_RAW3(bind, fd, &any, sizeof(any)) == -EPERM && CK_RAW2(listen, fd, 1) == -EPERM &&
                   CK_RAW6(sendto, fd, "", 1, MSG_FASTOPEN, &any, sizeof(any)) == -EOPNOTSUPP;
    if (fd >= 0)
        ck_nolibc_close((int)fd);
    return refused;
}

static const uint8_t loopback_address[4] = {127, 0, 0, 1};
static const uint8_t elsewhere[4] = {192, 0, 2, 1}; /* reserved for documentation: nothing is there */

/* With loopback a tool may listen, but at no address on the port of the gate. */
static bool gate_is_kept(void)
{
    static const uint8_t any[4], other[4] = {127, 0, 0, 2};
    static const uint8_t *const addresses[] = {loopback_address, any, other};
    static const int on = 1;
    for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
        const struct sockaddr_in peer = peer_at(addresses[i], gate_port);
        long fd = CK_RAW3(socket, AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd < 0)
            return false;
        (void)CK_RAW5(setsockopt, fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
        (void)CK_RAW5(setsockopt, fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));
        long r = CK_RAW3(bind, fd, &peer, sizeof(peer));
        ck_nolibc_close((int)fd);
        if (r != -EADDRINUSE)
            return false;
    }
    return true;
}

/* The gate can be reached, and nothing else but, with loopback, the run's own servers. */
static bool egress(void)
{
    return gate_port != 0 && connect_to(loopback_address, gate_port) == 0 &&
           connect_to(loopback_address, gate_port + 1) == (ports_bounded ? -EACCES : -ECONNREFUSED) &&
           connect_to(elsewhere, gate_port) == -ENETUNREACH && other_sockets_are_refused() &&
           (has_loopback ? gate_is_kept() : serving_is_refused());
}

/* A server of its own can be reached, and nothing beyond loopback: there is no route. */
static bool loopback(void)
{
    struct sockaddr_in own = peer_at(loopback_address, 0), far = peer_at(elsewhere, 53);
    uint32_t length = sizeof(own);
    long fd = CK_RAW3(socket, AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    long datagrams = CK_RAW3(socket, AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool holds = has_loopback && fd >= 0 && datagrams >= 0 && CK_RAW3(bind, fd, &own, sizeof(own)) == 0 &&
                 CK_RAW2(listen, fd, 1) == 0 && CK_RAW3(getsockname, fd, &own, &length) == 0;
    const uint8_t *port = (const void *)&own.sin_port;
    holds = holds && connect_to(loopback_address, (uint32_t)port[0] << 8 | port[1]) == 0 &&
            connect_to(elsewhere, 53) == -ENETUNREACH &&
            CK_RAW6(sendto, datagrams, "", 1, 0, &far, sizeof(far)) == -ENETUNREACH && other_sockets_are_refused();
    if (fd >= 0)
        ck_nolibc_close((int)fd);
    if (datagrams >= 0)
        ck_nolibc_close((int)datagrams);
    return holds;
}

static bool (*const layer_tests[CK_JAIL_LAYER_REPORTS_ATTEMPTS])(void) = {
    [CK_JAIL_LAYER_FRESH_ROOT] = fresh_root,
    [CK_JAIL_LAYER_LANDLOCK] = landlock,
    [CK_JAIL_LAYER_EXECS] = ck_prove_execs,
    [CK_JAIL_LAYER_SECCOMP] = ck_prove_seccomp,
    [CK_JAIL_LAYER_NO_CAPABILITIES] = no_capabilities,
    [CK_JAIL_LAYER_NO_NEW_PRIVS] = ck_prove_no_new_privs,
    [CK_JAIL_LAYER_EGRESS] = egress,
    [CK_JAIL_LAYER_LOOPBACK] = loopback,
};

/* ---- the proof ---- */

void ck_prove_outside(uint32_t jail_layer, uint64_t number)
{
    outside[jail_layer] = number;
}

void ck_prove_inside(const struct ck_native_program *program)
{
    proved_program = program;
    gate_port = program->gate_port;
    ports_bounded = program->landlock_net != 0;
    has_loopback = program->loopback != 0;
    reports_attempts = program->gate_reports_attempts != 0;
    names_execs = program->exec_key != 0;
}

/*
 * Runs in place of the tool. execs is tried last: if that layer does not hold, this process is
 * replaced, and what was found so far is reported.
 */
void ck_prove_layers(void *argument)
{
    struct ck_init_status *init_status = argument;
    (void)CK_RAW3(close_range, 3, ~0u,
                  0); /* as in a tool: a descriptor too many, or none left, must not change the result */
    if (reports_attempts || names_execs)
        (void)CK_RAW5(prctl, PR_SET_DUMPABLE, 1, 0, 0,
                      0); /* as a tool is after exec; otherwise init could not read our memory */
    for (uint32_t layer = 0; layer < CK_JAIL_LAYER_NAMESPACES; layer++) {
        uint64_t inside = namespace_of(links[layer]);
        if (inside != 0 && inside != outside[layer])
            init_status->held |= UINT32_C(1) << layer;
    }
    for (uint32_t layer = CK_JAIL_LAYER_NAMESPACES; layer < CK_JAIL_LAYER_REPORTS_ATTEMPTS; layer++)
        if (layer != CK_JAIL_LAYER_EXECS && layer_tests[layer]())
            init_status->held |= UINT32_C(1) << layer;
    if (reports_attempts && init_status->reports_attempts != 0)
        init_status->held |= UINT32_C(1) << CK_JAIL_LAYER_REPORTS_ATTEMPTS;
    if (proved_program->proof_loader_at != 0 && ck_prove_libraries(proved_program))
        init_status->held |= UINT32_C(1) << CK_JAIL_LAYER_LIBRARIES;
    init_status->shortage = shortage;
    /* A learning jail lets every file of the system be executed, and only these. */
    if (written_file_is_refused() && (proved_program->learn != 0 || ck_prove_execs()))
        init_status->held |= UINT32_C(1) << CK_JAIL_LAYER_EXECS;
    if (names_execs && init_status->names_execs != 0)
        init_status->held |= UINT32_C(1) << CK_JAIL_LAYER_NAMES_EXECS;
    init_status->shortage = shortage;
    ck_nolibc_exit(0);
}

/*
 * A killed process has not tried everything, so there is no result. A process that was replaced by
 * a program has exited.
 */
static long judge_end(const struct ck_init_status *init_status)
{
    if (init_status->stage != CK_STAGE_NONE)
        return -init_status->error;
    return init_status->ended != 0 && init_status->code == CLD_EXITED ? 0 : -ECONNRESET;
}

static long prove(struct ck_native_jail *jail, int program_fd, struct ck_wire_proved *proved)
{
    static const int no_fds[CK_WIRE_FDS_MAX] = {-1, -1, -1, -1, -1, -1, -1, -1, -1};
    struct ck_child child = {.fds = no_fds};
    siginfo_t info = {0};
    long root = CK_RAW4(openat, AT_FDCWD, CK_JAIL_PROOF_ROOT, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
    long r = root < 0 ? root : ck_native_jail_enter_namespaces(jail);
    if (r == 0)
        r = ck_native_jail_build(jail, program_fd);
    proved->failed_op = jail->failed_op;
    if (r < 0)
        return r;
    ck_prove_inside(jail->program);
    struct ck_init_run run = {.jail = jail,
                              .child = &child,
                              .main = ck_prove_layers,
                              .argument = jail->init_status,
                              .root_fd = (int)root,
                              .root_path = CK_JAIL_PROOF_ROOT,
                              .enter_fd = -1,
                              .ended_fd = -1,
                              .alone_fd = -1,
                              .report_fd = -1,
                              .gate_fd = -1};
    r = ck_native_jail_create(&run);
    while (r >= 0) {
        r = CK_RAW5(waitid, P_ALL, 0, &info, WEXITED, NULL);
        if (r == 0)
            break;
        if (r == -EINTR)
            r = 0;
    }
    if (r < 0)
        return r;
    proved->held = jail->init_status->held;
    proved->shortage = jail->init_status->shortage;
    return judge_end(jail->init_status);
}

void ck_prove_main(void *argument)
{
    static struct ck_native_jail jail;
    struct ck_wire_proved proved = {.kind = CK_WIRE_PROVED};
    for (uint32_t layer = 0; layer < CK_JAIL_LAYER_NAMESPACES; layer++)
        outside[layer] = namespace_of(links[layer]);
    const struct ck_prove_start *start = argument;
    int fds[2] = {start->socket_fd, start->program_fd};
    if (ck_nolibc_enter_trial(fds, 2) < 0)
        ck_nolibc_exit(1);
    proved.error = (int32_t)-prove(&jail, fds[1], &proved);
    (void)ck_nolibc_send(fds[0], &proved, sizeof(proved), -1);
    ck_nolibc_exit(0);
}
