/*
 * attack_table.c - the attempts of "chokepoint doctor --attack"; see attack.h.
 *
 * An attempt is listed here if it fits into one program, needs only what attack_fixture.c makes,
 * and does no harm if it succeeds: to a file of the host it writes what is already there. The tests
 * have more attempts (docs/attacks.md). Each attempt must succeed without a jail if the user has
 * the right to it: tests/adversarial/jail/test_doctor_attack.py checks that.
 */
#include "cli/attack.h"

#define READS "no file outside of the root is read"
#define WRITES "nothing of the host is written or changed"
#define EXECUTES "nothing but the tool is executed"
#define MAPS "nothing but libraries of the system is mapped as code"
#define SOCKETS "no socket and no listener of the host is reached"
#define EGRESS "with egress nothing but the proxy is reached"
#define LOOPBACK "with loopback nothing of the host is reached"
#define CODE_OUTSIDE "with workspace_code nothing outside of the root is executed"
#define PROCESSES "no process of the host is reached"
#define PRIVILEGES "no privilege is gained"
#define KERNEL "risky parts of the kernel are closed"
#define TRACES "a run leaves nothing to the next"
#define TREE "what a tool started ends with it"

/* Harmless, small, and installed on every system. */
#define PROGRAM "/usr/bin/env"
#define ECHO "/bin/echo"

/* Of a run with workspace_code, in place of "execs". */
#define CODE_LAYER "execs_outside_root"

const char *const ck_attack_entries[CK_ATTACK_ENTRIES] = {
    [CK_ATTACK_PLAIN] = "attacker",         [CK_ATTACK_WRITES] = "attacker-writes",
    [CK_ATTACK_EGRESS] = "attacker-egress", [CK_ATTACK_LOOPBACK] = "attacker-loopback",
    [CK_ATTACK_CODE] = "attacker-code",
};

/*
 * One macro for each set of attacks. The first argument of the attacker names the set, which is one
 * source file in tests/helpers/victims.
 */
#define FILES(...) \
    { \
        "breach_files", __VA_ARGS__ \
    }
#define CALLS(...) \
    { \
        "breach_calls", __VA_ARGS__ \
    }
#define MOUNTS(...) \
    { \
        "breach_mounts", __VA_ARGS__ \
    }
#define PEERS(...) \
    { \
        "breach_processes", __VA_ARGS__ \
    }
#define NET(...) \
    { \
        "breach_net", __VA_ARGS__ \
    }
#define METADATA(...) \
    { \
        "breach_metadata", __VA_ARGS__ \
    }
#define CODE(...) \
    { \
        "breach_code", __VA_ARGS__ \
    }
#define EXEC(...) \
    { \
        "attempt", __VA_ARGS__ \
    }

const struct ck_attack_attempt ck_attack_attempts[] = {
    {READS, "a file beside the root", "landlock", .args = FILES("read", "{secret}")},
    {READS, "the same by ..", "landlock", .args = FILES("read", "../secret")},
    {READS, "the same by a symlink in the root", "landlock", .args = FILES("read", "link")},
    {READS, "the same by /proc/self/root", "landlock", .args = FILES("read", "proc-link")},
    /*
     * A file handle needs no path, so mounts do not stop it. It can be guessed from the inode
     * number.
     */
    {READS, "the same by its file handle", "seccomp", .args = MOUNTS("guess", "{inode}", ".")},
    {READS, "the password file", "landlock", .args = FILES("read", "/etc/shadow")},
    {READS, "the memory map of the first process", "landlock", .args = FILES("read", "/proc/1/maps")},
    {READS, "the keys of the user", "landlock", .args = FILES("read", "/proc/keys")},
    {READS, "the root of the first process", "pid_ns", .args = FILES("list", "/proc/1/root/.")},

    {WRITES, "a file beside the root", "landlock", .args = FILES("write", "{secret}")},
    {WRITES, "a file in a read-only root", "landlock", .args = FILES("write", "victim")},
    {WRITES, "a new file", "landlock", .args = FILES("write", "new")},
    {WRITES, "a hard link", "landlock", .args = FILES("link", "victim", "new")},
    {WRITES, "a rename", "landlock", .args = FILES("rename", "victim", "new")},
    {WRITES, "a symlink", "landlock", .args = FILES("symlink", "victim", "new")},
    {WRITES, "a FIFO", "landlock", .args = FILES("mkfifo", "new")},
    {WRITES, "a removal", "landlock", .args = FILES("remove", "victim")},
    {WRITES, "times of a file", "landlock", .args = FILES("touch", "victim")},
    {WRITES, "the mode of a file", "landlock", .args = FILES("mode", "victim")},
    /* Landlock has no right for metadata, so seccomp must hold these. */
    {WRITES, "modes, owner, times and flags of its own file", "seccomp", .args = METADATA("any", "/proc/self/exe")},
    {WRITES, "the same of a device node", "seccomp", .args = METADATA("any", "/dev/full")},
    {WRITES, "the same of its stdin", "seccomp", .args = METADATA("any", "fd:0")},
    {WRITES, "the same of a file in a read-only root", "seccomp", .args = METADATA("any", "victim")},
    {WRITES, "a setting of the kernel", "landlock", .args = PEERS("rewrite", "/proc/sys/kernel/core_pattern")},
    {WRITES, "a device node", "landlock", .args = MOUNTS("device", "/tmp/node")},

    {EXECUTES, "another program", "execs", .args = EXEC("plain", PROGRAM, "--version")},
    {EXECUTES, "the same in a child", "execs", .args = EXEC("child", PROGRAM, "--version")},
    {EXECUTES, "the same in a thread", "execs", .args = EXEC("thread", PROGRAM, "--version")},
    {EXECUTES, "the same by /proc/self/fd", "execs", .args = EXEC("procfd", PROGRAM, "--version")},
    {EXECUTES, "the same by execveat", "execs", .args = EXEC("execveat", PROGRAM, "--version")},
    {EXECUTES, "the same by O_PATH", "execs", .args = EXEC("opath", PROGRAM, "--version")},
    {EXECUTES, "a copy in the scratch directory", "execs", .args = EXEC("home", PROGRAM, "--version")},
    {EXECUTES, "a copy in memory", "execs", .args = EXEC("memory", PROGRAM, "--version")},
    {EXECUTES, "a copy in sealed memory", "execs", .args = EXEC("sealed", PROGRAM, "--version")},
    {EXECUTES, "a copy in a root that it may write", "execs", CK_ATTACK_WRITES,
     .args = EXEC("copy", PROGRAM, "--version")},
    {EXECUTES, "a script of the repository", "execs", .args = EXEC("plain", "./script")},
    {EXECUTES, "a set-user-ID program", "execs", .args = EXEC("plain", "/bin/su", "--version")},

    /* The loader maps its argument as code itself, so no exec of that file is seen. */
    {MAPS, "another program, by the loader", "fresh_root", CK_ATTACK_PLAIN, CK_ATTACK_CHECK_FAILED,
     .args = EXEC("plain", "{loader}", PROGRAM, "--version")},
    {MAPS, "a copy in memory, by the loader", "seccomp", .args = CODE("memory", "{loader}", ECHO)},
    {MAPS, "a copy in sealed memory, by the loader", "seccomp", .args = CODE("sealed", "{loader}", ECHO)},
    {MAPS, "a copy in /tmp, by the loader", "fresh_root", .args = CODE("named", "{loader}", ECHO, "/tmp")},
    {MAPS, "a file without a name, by the loader", "fresh_root", .args = CODE("unnamed", "{loader}", ECHO, "/tmp")},
    {MAPS, "a file of the system", "fresh_root", .args = EXEC("mapped", PROGRAM)},
    {MAPS, "the same, made code later", "fresh_root", .args = EXEC("protected", PROGRAM)},
    {MAPS, "a file of the repository", "fresh_root", .args = EXEC("mapped", "script")},

    {SOCKETS, "a listener on loopback", "seccomp", .args = CALLS("inet", "{port}")},
    {SOCKETS, "a socket in the repository", "seccomp", .args = CALLS("path", "stream.socket")},
    {SOCKETS, "a datagram socket in the repository", "seccomp", .args = CALLS("datagram", "datagram.socket")},
    {SOCKETS, "an abstract socket", "seccomp", .args = CALLS("abstract", "{abstract}")},
    /* Family and type, as numbers: AF_INET and SOCK_DGRAM, and so on. */
    {SOCKETS, "family inet", "seccomp", .args = CALLS("socket", "2", "2")},
    {SOCKETS, "family inet6", "seccomp", .args = CALLS("socket", "10", "2")},
    {SOCKETS, "family netlink", "seccomp", .args = CALLS("socket", "16", "3")},
    {SOCKETS, "family packet", "seccomp", .args = CALLS("socket", "17", "3")},
    {SOCKETS, "family alg", "seccomp", .args = CALLS("socket", "38", "5")},
    {SOCKETS, "family vsock", "seccomp", .args = CALLS("socket", "40", "1")},

    {EGRESS, "a listener on loopback", "egress", CK_ATTACK_EGRESS, .args = NET("reach", "127.0.0.1", "{port}")},
    /*
     * 192.0.2.1 and 2001:db8::1 are reserved for documentation (RFC 5737, RFC 3849): no host has
     * them, so an attempt that succeeds disturbs no one.
     */
    {EGRESS, "another address", "egress", CK_ATTACK_EGRESS, .args = NET("reach", "192.0.2.1", "443")},
    {EGRESS, "another address, over IPv6", "egress", CK_ATTACK_EGRESS, .args = NET("reach", "2001:db8::1", "443")},
    {EGRESS, "another address, by TCP fast open", "egress", CK_ATTACK_EGRESS,
     .args = NET("fastopen", "192.0.2.1", "443")},
    {EGRESS, "a resolver, by datagram", "egress", CK_ATTACK_EGRESS, .args = NET("query", "192.0.2.1", "53")},
    /* AF_INET, SOCK_RAW, IPPROTO_TCP. */
    {EGRESS, "a raw socket", "egress", CK_ATTACK_EGRESS, .args = NET("socket", "2", "3", "6")},
    {EGRESS, "its own server", "egress", CK_ATTACK_EGRESS, .args = NET("bind", "8080")},
    {EGRESS, "a socket in the repository", "egress", CK_ATTACK_EGRESS, .args = CALLS("path", "stream.socket")},

    /* seccomp holds some of these; but without net_ns there is no run with loopback. */
    {LOOPBACK, "a listener on loopback", "net_ns", CK_ATTACK_LOOPBACK, .args = NET("reach", "127.0.0.1", "{port}")},
    {LOOPBACK, "the same by any address", "net_ns", CK_ATTACK_LOOPBACK, .args = NET("reach", "0.0.0.0", "{port}")},
    {LOOPBACK, "the same by IPv6", "net_ns", CK_ATTACK_LOOPBACK, .args = NET("reach", "::ffff:127.0.0.1", "{port}")},
    {LOOPBACK, "an abstract socket", "net_ns", CK_ATTACK_LOOPBACK, .args = CALLS("abstract", "{abstract}")},
    {LOOPBACK, "a socket in the repository", "net_ns", CK_ATTACK_LOOPBACK, .args = CALLS("path", "stream.socket")},
    {LOOPBACK, "another machine", "net_ns", CK_ATTACK_LOOPBACK, .args = NET("reach", "192.0.2.1", "443")},
    {LOOPBACK, "another machine, by datagram", "net_ns", CK_ATTACK_LOOPBACK, .args = NET("query", "192.0.2.1", "53")},
    {LOOPBACK, "a raw socket", "net_ns", CK_ATTACK_LOOPBACK, .args = NET("socket", "2", "3", "6")},

    {CODE_OUTSIDE, "another program", CODE_LAYER, CK_ATTACK_CODE, .args = EXEC("plain", PROGRAM, "--version")},
    {CODE_OUTSIDE, "the same by execveat", CODE_LAYER, CK_ATTACK_CODE, .args = EXEC("execveat", PROGRAM, "--version")},
    {CODE_OUTSIDE, "the same by a script of the repository", CODE_LAYER, CK_ATTACK_CODE,
     .args = EXEC("plain", "./interpreted")},
    {CODE_OUTSIDE, "the same by the loader", CODE_LAYER, CK_ATTACK_CODE, CK_ATTACK_CHECK_FAILED,
     .args = EXEC("plain", "{loader}", PROGRAM, "--version")},
    {CODE_OUTSIDE, "a copy in the scratch directory", CODE_LAYER, CK_ATTACK_CODE,
     .args = EXEC("home", PROGRAM, "--version")},
    {CODE_OUTSIDE, "a copy in memory", CODE_LAYER, CK_ATTACK_CODE, .args = EXEC("memory", PROGRAM, "--version")},
    {CODE_OUTSIDE, "a file without a name, by the loader", CODE_LAYER, CK_ATTACK_CODE,
     .args = CODE("unnamed", "{loader}", ECHO, "/tmp")},

    /*
     * 23 is SIGURG, which attack_fixture.c waits for. In a pid namespace the pid of the host finds
     * no process.
     */
    {PROCESSES, "a signal by pid", "pid_ns", CK_ATTACK_PLAIN, CK_ATTACK_CHECK_FIXTURE,
     .args = PEERS("kill", "{pid}", "23")},
    {PROCESSES, "the first process, traced", "seccomp", .args = PEERS("trace", "init")},
    {PROCESSES, "the memory of the first process", "seccomp", .args = PEERS("write", "init")},
    {PROCESSES, "a descriptor of the first process", "seccomp", .args = PEERS("descriptor", "init")},
    {PROCESSES, "files that the first process has open", "landlock", .args = PEERS("init_descriptors")},
    {PROCESSES, "another process of the run, traced", "seccomp", .args = PEERS("trace", "sibling")},
    {PROCESSES, "inherited descriptors", "no_new_privs", .args = PEERS("descriptors")},

    {PRIVILEGES, "a user namespace", "seccomp", .args = MOUNTS("unshare")},
    {PRIVILEGES, "a user namespace, by clone", "seccomp", .args = MOUNTS("clone")},
    {PRIVILEGES, "a user namespace, by clone3", "seccomp", .args = MOUNTS("clone3")},
    {PRIVILEGES, "the mount namespace of the first process", "seccomp", .args = PEERS("enter", "/proc/1/ns/mnt")},
    {PRIVILEGES, "a mount", "seccomp", .args = MOUNTS("mount", ".")},
    {PRIVILEGES, "the root made writable", "seccomp", .args = MOUNTS("writable", ".")},
    {PRIVILEGES, "the same by mount_setattr", "seccomp", .args = MOUNTS("attributes", ".")},
    {PRIVILEGES, "a copy of the mount tree", "seccomp", .args = MOUNTS("tree", ".")},
    {PRIVILEGES, "a new file system", "seccomp", .args = MOUNTS("context")},
    {PRIVILEGES, "chroot", "no_capabilities", .args = MOUNTS("chroot", ".")},
    {PRIVILEGES, "another user", "no_capabilities", .args = FILES("identity")},

    {KERNEL, "io_uring", "seccomp", .args = CALLS("uring")},
    {KERNEL, "bpf", "seccomp", .args = CALLS("bpf")},
    {KERNEL, "performance counters", "seccomp", .args = CALLS("perf")},
    {KERNEL, "userfaultfd", "seccomp", .args = CALLS("fault")},
    {KERNEL, "the user's keyring", "seccomp", .args = CALLS("find_keyring")},
    /*
     * 0x5412 is TIOCSTI. The kernel uses only the low 32 bits of the request, so a filter that
     * compares all 64 would miss the second form.
     */
    {KERNEL, "typing into a terminal", "seccomp", .args = CALLS("request", "5412")},
    {KERNEL, "the same with high bits", "seccomp", .args = CALLS("request", "100005412")},
    {KERNEL, "calls of i386", "seccomp", .args = CALLS("i386")},
    {KERNEL, "calls of x32", "seccomp", .args = CALLS("x32")},

    /* Each leaves something in a first run, and looks for it in a second one. */
    {TRACES, "a file in /dev/shm", "mount_ns", .args = FILES("find", "{marker}"), .before = FILES("keep", "{marker}")},
    {TRACES, "a segment of System V", "ipc_ns", .args = FILES("find_ipc", "{number}"),
     .before = FILES("keep_ipc", "{number}")},
    {TRACES, "a file in /tmp", "mount_ns", .args = FILES("read", "/tmp/word"), .before = FILES("write", "/tmp/word")},

    /* left_running in attack_fixture.c looks for the marker in the arguments of all processes. */
    {TREE, "a daemon", "pid_ns", CK_ATTACK_PLAIN, CK_ATTACK_CHECK_FIXTURE, .args = {"escape", "double", "{marker}"}},
    {TREE, "a process that holds the output open", "pid_ns", CK_ATTACK_PLAIN, CK_ATTACK_CHECK_FIXTURE,
     .args = {"escape", "holder", "{marker}"}},
    {.promise = NULL},
};
