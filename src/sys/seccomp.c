/*
 * seccomp.c - the rules of the seccomp filter; each says why it is there.
 *
 * clone3 gets ENOSYS, because its flags are in memory that a filter cannot read: libc then uses
 * clone, where the flags are an argument. Calls that this machine does not have are skipped by
 * name.
 */
#include "sys/seccomp.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/fscrypt.h>
#include <linux/fsverity.h>
#include <linux/msdos_fs.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <seccomp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* SOCK_TYPE_MASK of the kernel; SOCK_NONBLOCK and SOCK_CLOEXEC are above it. */
#define SOCKET_KIND_MASK 0xf
/* From headers that only the file system itself includes. */
#define EXT4_SETVERSION _IOW('f', 4, long)
#define EXT4_32_SETVERSION _IOW('f', 4, int)
#define BTRFS_SUBVOL_SETFLAGS _IOW(0x94, 26, uint64_t)
#define NAMESPACES \
    { \
        CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWNET, CLONE_NEWUTS, CLONE_NEWCGROUP, CLONE_NEWTIME \
    }
#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif

/* Calls that no tool may make. */
static const char *const forbidden[] = {
    /* the mount tree, and other namespaces; see seccomp.h for those that are missing here */
    "pivot_root",
    "chroot",
    "fsopen",
    "fsconfig",
    "fsmount",
    "fspick",
    "open_tree_attr",
    "unshare",
    /* other processes */
    "process_madvise",
    "pidfd_getfd",
    "kcmp",
    /* parts of the kernel with a history of vulnerabilities, which no tool of a repository needs */
    "bpf",
    "perf_event_open",
    "userfaultfd",
    "io_uring_setup",
    "io_uring_enter",
    "io_uring_register",
    "keyctl",
    "add_key",
    "request_key",
    "fanotify_init",
    "lookup_dcookie",
    "vhangup",
    /*
     * memory that is a file, on no mount that could be noexec: the loader would map it as code,
     * sealed or not
     */
    "memfd_create",
    "memfd_secret",
    /* files without a path */
    "name_to_handle_at",
    "open_by_handle_at",
    /* the machine */
    "kexec_load",
    "kexec_file_load",
    "init_module",
    "finit_module",
    "delete_module",
    "reboot",
    "swapon",
    "swapoff",
    "acct",
    "quotactl",
    "quotactl_fd",
    "syslog",
    "iopl",
    "ioperm",
    "modify_ldt",
    "vm86",
    "vm86old",
    "settimeofday",
    "clock_settime",
    "clock_adjtime",
    "adjtimex",
    "stime",
    "sethostname",
    "setdomainname",
};

/* Calls that may be newer than libseccomp. New calls have the same number on every architecture. */
static const struct {
    const char *name;
    int number;
} recent_calls[] = {
    {"fchmodat2", 452}, {"setxattrat", 463}, {"removexattrat", 466}, {"open_tree_attr", 467}, {"file_setattr", 469}};

/* Negative if this machine has no such call. */
static int number_of(const char *name)
{
    int number = seccomp_syscall_resolve_name(name);
    for (size_t i = 0; number == __NR_SCMP_ERROR && i < sizeof(recent_calls) / sizeof(recent_calls[0]); i++)
        if (strcmp(recent_calls[i].name, name) == 0)
            return recent_calls[i].number;
    return number;
}

static int add(scmp_filter_ctx filter, uint32_t action, const char *name, const struct scmp_arg_cmp *cmp)
{
    int number = number_of(name);
    if (number < 0)
        return 0;
    return seccomp_rule_add_array(filter, action, number, cmp ? 1 : 0, cmp);
}

static int forbid_calls(scmp_filter_ctx filter)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < sizeof(forbidden) / sizeof(forbidden[0]); i++)
        r = add(filter, SCMP_ACT_ERRNO(EPERM), forbidden[i], NULL);
    return r;
}

/* What a tracer does to its own processes. exec_key: see seccomp.h. */
static int forbid_tracing(scmp_filter_ctx filter, uint64_t exec_key)
{
    static const char *const calls[] = {"ptrace", "process_vm_writev"};
    const uint64_t first = exec_key & ~(uint64_t)UINT32_MAX;
    const struct scmp_arg_cmp below = SCMP_A0(SCMP_CMP_LT, first, 0);
    const struct scmp_arg_cmp above = SCMP_A0(SCMP_CMP_GT, first | UINT32_MAX, 0);
    int r = add(filter, SCMP_ACT_ERRNO(EPERM), "process_vm_readv", exec_key != 0 ? &below : NULL);
    if (r == 0 && exec_key != 0)
        r = add(filter, SCMP_ACT_ERRNO(EPERM), "process_vm_readv", &above);
    for (size_t i = 0; r == 0 && i < sizeof(calls) / sizeof(calls[0]); i++)
        r = add(filter, SCMP_ACT_ERRNO(EPERM), calls[i], NULL);
    return r;
}

static int forbid_namespaces(scmp_filter_ctx filter)
{
    static const uint64_t flags[] = NAMESPACES;
    int r = add(filter, SCMP_ACT_ERRNO(ENOSYS), "clone3", NULL);
    for (size_t i = 0; r == 0 && i < sizeof(flags) / sizeof(flags[0]); i++) {
        const struct scmp_arg_cmp given = SCMP_A0(SCMP_CMP_MASKED_EQ, flags[i], flags[i]);
        r = add(filter, SCMP_ACT_ERRNO(EPERM), "clone", &given);
    }
    return r;
}

/*
 * The kernel looks only at the lower 32 bits of the request, so the filter must too. From
 * FS_IOC_SETFLAGS on, a descriptor that is open for reading is enough: flags, version, project and
 * encryption of an inode, and the keys of a file system.
 */
static int forbid_requests(scmp_filter_ctx filter)
{
    static const uint64_t requests[] = {TIOCSTI,
                                        TIOCLINUX,
                                        TIOCCONS,
                                        TIOCSETD,
                                        FS_IOC_SETFLAGS,
                                        FS_IOC32_SETFLAGS,
                                        FS_IOC_SETVERSION,
                                        FS_IOC32_SETVERSION,
                                        EXT4_SETVERSION,
                                        EXT4_32_SETVERSION,
                                        FS_IOC_FSSETXATTR,
                                        FAT_IOCTL_SET_ATTRIBUTES,
                                        BTRFS_SUBVOL_SETFLAGS,
                                        FS_IOC_ENABLE_VERITY,
                                        FS_IOC_SET_ENCRYPTION_POLICY,
                                        FS_IOC_ADD_ENCRYPTION_KEY,
                                        FS_IOC_REMOVE_ENCRYPTION_KEY};
    int r = 0;
    for (size_t i = 0; r == 0 && i < sizeof(requests) / sizeof(requests[0]); i++) {
        const struct scmp_arg_cmp request = SCMP_A1(SCMP_CMP_MASKED_EQ, UINT32_MAX, requests[i]);
        r = add(filter, SCMP_ACT_ERRNO(EPERM), "ioctl", &request);
    }
    return r;
}

/*
 * Whoever opens a file that has a lease waits for the holder, for up to
 * /proc/sys/fs/lease-break-time. A tool could stall the host with it.
 */
static int forbid_leases(scmp_filter_ctx filter)
{
    const struct scmp_arg_cmp command = SCMP_A1(SCMP_CMP_MASKED_EQ, UINT32_MAX, F_SETLEASE);
    return add(filter, SCMP_ACT_ERRNO(EPERM), "fcntl", &command);
}

/*
 * A socket pair connects processes of the jail, if it stays one. But a datagram socket can be given
 * another address, and a socket of the host may be in the repository. SOCK_RAW means the same to
 * AF_UNIX. The kernel looks at the lowest four bits of the type.
 */
static int forbid_families(scmp_filter_ctx filter)
{
    static const uint64_t kinds[] = {SOCK_DGRAM, SOCK_RAW};
    const struct scmp_arg_cmp other = SCMP_A0(SCMP_CMP_NE, AF_UNIX, 0);
    int r = add(filter, SCMP_ACT_ERRNO(EAFNOSUPPORT), "socketpair", &other);
    for (size_t i = 0; r == 0 && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        const struct scmp_arg_cmp kind = SCMP_A1(SCMP_CMP_MASKED_EQ, SOCKET_KIND_MASK, kinds[i]);
        r = add(filter, SCMP_ACT_ERRNO(EAFNOSUPPORT), "socketpair", &kind);
    }
    return r;
}

/* ---- sockets ---- */

/*
 * Who refuses: the kernel by itself, or the process that is notified, which can then report the
 * attempt.
 */
static uint32_t refusal(unsigned options, uint32_t errnum)
{
    return (options & CK_SECCOMP_REPORT_ATTEMPTS) != 0 ? SCMP_ACT_NOTIFY : SCMP_ACT_ERRNO(errnum);
}

/* Every value of an argument of socket except these, which ascend. The argument is a small number. */
static int forbid_other(scmp_filter_ctx filter, uint32_t action, unsigned argument, const uint64_t *allowed,
                        size_t count)
{
    const struct scmp_arg_cmp above = SCMP_CMP(argument, SCMP_CMP_GT, allowed[count - 1], 0);
    int r = add(filter, action, "socket", &above);
    for (uint64_t value = 0, next = 0; r == 0 && value < allowed[count - 1]; value++) {
        const struct scmp_arg_cmp same = SCMP_CMP(argument, SCMP_CMP_EQ, value, 0);
        if (value == allowed[next])
            next++;
        else
            r = add(filter, action, "socket", &same);
    }
    return r;
}

/*
 * Only TCP, no other stream: the rules of Landlock cover TCP alone, and MPTCP, SCTP and SMC are
 * streams of the same families. With loopback also UDP, but no other datagram, such as ICMP. The
 * kernel looks at the lowest four bits of the type.
 */
static int forbid_other_kinds(scmp_filter_ctx filter, unsigned options)
{
    static const uint64_t families[] = {AF_INET, AF_INET6}, protocols[] = {0, IPPROTO_TCP, IPPROTO_UDP};
    bool datagrams = (options & CK_SECCOMP_LOOPBACK) != 0;
    uint32_t action = refusal(options, EAFNOSUPPORT);
    int r = forbid_other(filter, action, 0, families, 2);
    for (uint64_t kind = 0; r == 0 && kind <= SOCKET_KIND_MASK; kind++) {
        const struct scmp_arg_cmp same = SCMP_A1(SCMP_CMP_MASKED_EQ, SOCKET_KIND_MASK, kind);
        if (kind != SOCK_STREAM && !(kind == SOCK_DGRAM && datagrams))
            r = add(filter, action, "socket", &same);
    }
    return r < 0 ? r : forbid_other(filter, action, 2, protocols, datagrams ? 3 : 2);
}

/* Other kernel code on top of TCP. */
static int forbid_ulp(scmp_filter_ctx filter)
{
    const struct scmp_arg_cmp over[] = {SCMP_A1(SCMP_CMP_MASKED_EQ, UINT32_MAX, IPPROTO_TCP),
                                        SCMP_A2(SCMP_CMP_MASKED_EQ, UINT32_MAX, TCP_ULP)};
    return seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(ENOPROTOOPT), SCMP_SYS(setsockopt), 2, over);
}

/*
 * What a client of one listener does not need: acting as a server, unless the run has loopback; and
 * connecting by sending (TCP fast open), which Landlock does not check.
 */
static int forbid_serving(scmp_filter_ctx filter, unsigned options)
{
    static const struct {
        const char *name;
        unsigned argument; /* that holds the flags */
    } sending[] = {{"sendto", 3}, {"sendmsg", 2}, {"sendmmsg", 3}};
    static const char *const calls[] = {"bind", "listen", "accept", "accept4"};
    int r = 0;
    for (size_t i = 0; (options & CK_SECCOMP_LOOPBACK) == 0 && r == 0 && i < sizeof(calls) / sizeof(calls[0]); i++)
        r = add(filter, SCMP_ACT_ERRNO(EPERM), calls[i], NULL);
    for (size_t i = 0; r == 0 && i < sizeof(sending) / sizeof(sending[0]); i++) {
        const struct scmp_arg_cmp fast = SCMP_CMP(sending[i].argument, SCMP_CMP_MASKED_EQ, MSG_FASTOPEN, MSG_FASTOPEN);
        r = add(filter, refusal(options, EOPNOTSUPP), sending[i].name, &fast);
    }
    return r;
}

/*
 * Without egress and loopback there are no sockets of any kind: no IP, no netlink, no AF_ALG, no
 * host path to connect to.
 */
static int forbid_sockets(scmp_filter_ctx filter, unsigned options)
{
    if ((options & (CK_SECCOMP_EGRESS | CK_SECCOMP_LOOPBACK)) == 0)
        return add(filter, refusal(options, EAFNOSUPPORT), "socket", NULL);
    int r = forbid_other_kinds(filter, options);
    if (r == 0)
        r = forbid_ulp(filter);
    if (r == 0 && (options & CK_SECCOMP_EGRESS) != 0)
        r = forbid_serving(filter, options);
    return r < 0 || (options & CK_SECCOMP_REPORT_ATTEMPTS) == 0 ? r : add(filter, SCMP_ACT_NOTIFY, "connect", NULL);
}

/* Switching off address space randomisation makes the next vulnerability easier to exploit. */
static int forbid_personality(scmp_filter_ctx filter)
{
    const struct scmp_arg_cmp fixed = SCMP_A0(SCMP_CMP_MASKED_EQ, ADDR_NO_RANDOMIZE, ADDR_NO_RANDOMIZE);
    return add(filter, SCMP_ACT_ERRNO(EPERM), "personality", &fixed);
}

/*
 * A file that the jail cannot execute may be executed outside of it: a set-user-ID file in a
 * writable repository would give everyone the rights of the caller. openat2 has its mode in memory
 * that a filter cannot read, so it gets ENOSYS.
 */
static int forbid_set_id(scmp_filter_ctx filter)
{
    static const struct {
        const char *name;
        unsigned argument; /* that holds the mode */
    } calls[] = {{"chmod", 1},  {"fchmod", 1}, {"fchmodat", 2}, {"fchmodat2", 2}, {"open", 2},
                 {"openat", 3}, {"creat", 1},  {"mknod", 1},    {"mknodat", 2}};
    static const uint64_t bits[] = {S_ISUID, S_ISGID};
    int r = add(filter, SCMP_ACT_ERRNO(ENOSYS), "openat2", NULL);
    for (size_t i = 0; r == 0 && i < sizeof(calls) / sizeof(calls[0]) * 2; i++) {
        const struct scmp_arg_cmp mode = SCMP_CMP(calls[i / 2].argument, SCMP_CMP_MASKED_EQ, bits[i % 2], bits[i % 2]);
        r = add(filter, SCMP_ACT_ERRNO(EPERM), calls[i / 2].name, &mode);
    }
    return r;
}

/*
 * lseek does not report reserved, unwritten blocks as data, so the code that removes the file
 * cannot free them in pieces (clear.c). Programs expect file systems that cannot reserve; the C
 * library writes instead. Punching holes frees blocks, so it is allowed.
 */
static int forbid_reserving(scmp_filter_ctx filter)
{
    const struct scmp_arg_cmp no_hole = SCMP_A1(SCMP_CMP_MASKED_EQ, FALLOC_FL_PUNCH_HOLE, 0);
    return add(filter, SCMP_ACT_ERRNO(EOPNOTSUPP), "fallocate", &no_hole);
}

/*
 * What the kernel's own check (PR_SET_MDWE) lets pass, because it looks at one mapping at a time: shared
 * memory that is code in one mapping and is written in another, or by another process. A personality
 * that makes everything readable code asks for no PROT_EXEC. Files that can be written are on noexec
 * mounts.
 */
static int forbid_shared_code(scmp_filter_ctx filter)
{
    const struct scmp_arg_cmp mapping[] = {SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, PROT_EXEC),
                                           SCMP_A3(SCMP_CMP_MASKED_EQ, MAP_ANONYMOUS, MAP_ANONYMOUS)};
    const struct scmp_arg_cmp segment = SCMP_A2(SCMP_CMP_MASKED_EQ, SHM_EXEC, SHM_EXEC);
    const struct scmp_arg_cmp implied = SCMP_A0(SCMP_CMP_MASKED_EQ, READ_IMPLIES_EXEC, READ_IMPLIES_EXEC);
    int r = seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(EACCES), number_of("mmap"), 2, mapping);
    if (r == 0)
        r = add(filter, SCMP_ACT_ERRNO(EACCES), "shmat", &segment);
    return r < 0 ? r : add(filter, SCMP_ACT_ERRNO(EPERM), "personality", &implied);
}

/* ---- without user namespaces ---- */

static int forbid_each(scmp_filter_ctx filter, const char *const *names)
{
    int r = 0;
    for (; r == 0 && *names; names++)
        r = add(filter, SCMP_ACT_ERRNO(EPERM), *names, NULL);
    return r;
}

/*
 * Landlock restricts reading, writing and executing, but allows all of these calls on any file of
 * the user. With a descriptor it is enough that the file is readable, as the repository and the
 * tool's own file are.
 */
static int forbid_attributes(scmp_filter_ctx filter)
{
    static const char *const calls[] = {
        "chmod",         "fchmod",    "fchmodat",     "fchmodat2", "chown",        "lchown",
        "fchown",        "fchownat",  "setxattr",     "lsetxattr", "fsetxattr",    "setxattrat",
        "utime",         "utimes",    "removexattr",  "futimesat", "lremovexattr", "fremovexattr",
        "removexattrat", "utimensat", "file_setattr", NULL,
    };
    return forbid_each(filter, calls);
}

static int forbid_surroundings(scmp_filter_ctx filter)
{
    static const char *const calls[] = {
        /* the mount tree */
        "mount",
        "umount",
        "umount2",
        "open_tree",
        "move_mount",
        "mount_setattr",
        "setns",
        /* memory and messages that any process of the user can reach */
        "shmget",
        "shmat",
        "shmctl",
        "semget",
        "semop",
        "semtimedop",
        "semctl",
        "msgget",
        "msgsnd",
        "msgrcv",
        "msgctl",
        "ipc",
        "mq_open",
        "mq_unlink",
        "migrate_pages",
        "move_pages",
        NULL,
    };
    static const uint64_t flags[] = {CLONE_NEWPID, CLONE_NEWIPC};
    /* Limits of another process. A process can only lower its own. */
    const struct scmp_arg_cmp foreign = SCMP_A0(SCMP_CMP_NE, 0, 0);
    int r = forbid_each(filter, calls);
    for (size_t i = 0; r == 0 && i < sizeof(flags) / sizeof(flags[0]); i++) {
        const struct scmp_arg_cmp given = SCMP_A0(SCMP_CMP_MASKED_EQ, flags[i], flags[i]);
        r = add(filter, SCMP_ACT_ERRNO(EPERM), "clone", &given);
    }
    return r < 0 ? r : add(filter, SCMP_ACT_ERRNO(EPERM), "prlimit64", &foreign);
}

/*
 * Some programs, such as gcc, ask with access whether a helper can be executed, and if not, they do
 * not try it.
 */
static int notify_of_executions(scmp_filter_ctx filter, uint64_t exec_key)
{
    const struct scmp_arg_cmp asks = SCMP_A5(SCMP_CMP_NE, exec_key, 0);
    const struct scmp_arg_cmp second = SCMP_A1(SCMP_CMP_MASKED_EQ, X_OK, X_OK);
    const struct scmp_arg_cmp third = SCMP_A2(SCMP_CMP_MASKED_EQ, X_OK, X_OK);
    int r = add(filter, SCMP_ACT_NOTIFY, "execve", &asks);
    if (r == 0)
        r = add(filter, SCMP_ACT_NOTIFY, "execveat", &asks);
    if (r == 0)
        r = add(filter, SCMP_ACT_NOTIFY, "access", &second);
    if (r == 0)
        r = add(filter, SCMP_ACT_NOTIFY, "faccessat", &third);
    return r < 0 ? r : add(filter, SCMP_ACT_NOTIFY, "faccessat2", &third);
}

/* The sixth argument of mmap is an offset, so there is no key; nobody who answers maps code. */
static int notify_of_files(scmp_filter_ctx filter, uint64_t exec_key)
{
    static const char *const calls[] = {"open",   "openat",   "creat",     "mkdir",    "mkdirat",   "rmdir",
                                        "unlink", "unlinkat", "rename",    "renameat", "renameat2", "link",
                                        "linkat", "symlink",  "symlinkat", "truncate", "mknod",     "mknodat"};
    const struct scmp_arg_cmp asks = SCMP_A5(SCMP_CMP_NE, exec_key, 0);
    const struct scmp_arg_cmp code[] = {SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, PROT_EXEC),
                                        SCMP_A3(SCMP_CMP_MASKED_EQ, MAP_ANONYMOUS, 0)};
    int r = 0;
    for (size_t i = 0; r == 0 && i < sizeof(calls) / sizeof(calls[0]); i++)
        r = add(filter, SCMP_ACT_NOTIFY, calls[i], &asks);
    return r < 0 ? r : seccomp_rule_add_array(filter, SCMP_ACT_NOTIFY, number_of("mmap"), 2, code);
}

/* No kernel has this call any more. In a cage a door asks with it for a connection (base/door_wire.h). */
static int answer_doors(scmp_filter_ctx filter, unsigned options)
{
    return add(filter, (options & CK_SECCOMP_CAGE) != 0 ? SCMP_ACT_NOTIFY : SCMP_ACT_ERRNO(EPERM), "nfsservctl", NULL);
}

static int forbid_rest(scmp_filter_ctx filter, unsigned options, uint64_t exec_key)
{
    int r = forbid_sockets(filter, options);
    if (r == 0)
        r = answer_doors(filter, options);
    if (r == 0 && (options & CK_SECCOMP_TRACING) == 0)
        r = forbid_tracing(filter, exec_key);
    if (r == 0 && exec_key != 0)
        r = notify_of_executions(filter, exec_key);
    if (r == 0 && (options & CK_SECCOMP_WHY) != 0)
        r = notify_of_files(filter, exec_key);
    if (r == 0 && (options & CK_SECCOMP_NO_NEW_CODE) != 0)
        r = forbid_shared_code(filter);
    if (r == 0 && (options & CK_SECCOMP_NO_USERNS) != 0)
        r = forbid_attributes(filter);
    if (r == 0 && (options & CK_SECCOMP_NO_USERNS) != 0)
        r = forbid_surroundings(filter);
    return r;
}

static int export_filter(scmp_filter_ctx filter, struct sock_filter **ret_filter, size_t *ret_count)
{
    CK_FD fd = memfd_create("filter", MFD_CLOEXEC);
    if (fd < 0)
        return -errno;
    struct ck_fd_xfsz_block xfsz;
    ck_fd_xfsz_block(&xfsz);
    errno = 0;
    int r = seccomp_export_bpf(filter, fd);
    r = r < 0 && errno == EFBIG ? -EFBIG : r; /* libseccomp would only return ECANCELED */
    ck_fd_xfsz_unblock(&xfsz);
    struct stat status;
    if (r < 0 || fstat(fd, &status) < 0)
        return r < 0 ? r : -errno;
    size_t bytes = (size_t)status.st_size;
    struct sock_filter *code = malloc(bytes);
    if (!code)
        return -ENOMEM;
    if (ck_fd_read_at(fd, code, bytes, 0) != (long)bytes) {
        free(code);
        return -EIO;
    }
    *ret_filter = code;
    *ret_count = bytes / sizeof(*code);
    return 0;
}

int ck_seccomp_build(unsigned options, uint64_t exec_key, struct sock_filter **ret_filter, size_t *ret_count)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    if (!filter)
        return -ENOMEM;
    static int (*const parts[])(scmp_filter_ctx) = {forbid_calls,  forbid_namespaces, forbid_requests,
                                                    forbid_leases, forbid_families,   forbid_personality,
                                                    forbid_set_id, forbid_reserving};
    int r = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
    if (r == 0)
        r = seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2); /* a binary tree: a call costs six comparisons */
    for (size_t i = 0; r == 0 && i < sizeof(parts) / sizeof(parts[0]); i++)
        r = parts[i](filter);
    if (r == 0)
        r = forbid_rest(filter, options, exec_key);
    if (r == 0)
        r = export_filter(filter, ret_filter, ret_count);
    seccomp_release(filter);
    return r;
}
