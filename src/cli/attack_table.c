/*
 * attack_table.c - the attempts of "chokepoint doctor --attack", see attack.h.
 *
 * An attempt is here if it fits into one program, needs nothing but what attack_world.c makes, and harms nothing where it
 * succeeds: on something of the host's it writes what is there already. The tests have more (docs/attacks.md). Each must
 * succeed without a jail where the user has the right to: tests/adversarial/test_doctor_attack.py tries that.
 */
#include "cli/attack.h"

#define READS "no file outside of the root is read"
#define WRITES "nothing of the host is written or changed"
#define EXECUTES "nothing but the tool is executed"
#define MAPS "nothing else is mapped as code"
#define SOCKETS "no socket and no listener of the host is reached"
#define EGRESS "with egress nothing but the proxy is reached"
#define PROCESSES "no process of the host is reached"
#define PRIVILEGES "no privilege is gained"
#define KERNEL "risky parts of the kernel are closed"
#define TRACES "a run leaves nothing to the next"
#define TREE "what a tool started ends with it"

/* Harmless, small, and on every system. */
#define PROGRAM "/usr/bin/env"
#define ECHO "/bin/echo"

const char *const ck_attack_entries[CK_ATTACK_ENTRIES] = {
    [CK_ATTACK_PLAIN] = "attacker",
    [CK_ATTACK_WRITES] = "attacker-writes",
    [CK_ATTACK_EGRESS] = "attacker-egress",
};

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

const struct ck_attempt ck_attempts[] = {
    {READS, "a file beside the root", "landlock", .words = FILES("read", "{secret}")},
    {READS, "the same by ..", "landlock", .words = FILES("read", "../secret")},
    {READS, "the same by a symlink in the root", "landlock", .words = FILES("read", "link")},
    {READS, "the same by /proc/self/root", "landlock", .words = FILES("read", "proc-link")},
    {READS, "the same by its file handle", "seccomp", .words = MOUNTS("guess", "{inode}", ".")},
    {READS, "the password file", "landlock", .words = FILES("read", "/etc/shadow")},
    {READS, "the memory map of the first process", "landlock", .words = FILES("read", "/proc/1/maps")},
    {READS, "the keys of the user", "landlock", .words = FILES("read", "/proc/keys")},
    {READS, "the root of the first process", "pid_ns", .words = FILES("list", "/proc/1/root/.")},

    {WRITES, "a file beside the root", "landlock", .words = FILES("write", "{secret}")},
    {WRITES, "a file in a read-only root", "landlock", .words = FILES("write", "victim")},
    {WRITES, "a new file", "landlock", .words = FILES("write", "new")},
    {WRITES, "a hard link", "landlock", .words = FILES("link", "victim", "new")},
    {WRITES, "a rename", "landlock", .words = FILES("rename", "victim", "new")},
    {WRITES, "a symlink", "landlock", .words = FILES("symlink", "victim", "new")},
    {WRITES, "a FIFO", "landlock", .words = FILES("mkfifo", "new")},
    {WRITES, "a removal", "landlock", .words = FILES("remove", "victim")},
    {WRITES, "times of a file", "landlock", .words = FILES("touch", "victim")},
    {WRITES, "the mode of a file", "landlock", .words = FILES("mode", "victim")},
    {WRITES, "modes, owner, times and flags of its own file", "seccomp", .words = METADATA("any", "/proc/self/exe")},
    {WRITES, "the same of a device node", "seccomp", .words = METADATA("any", "/dev/full")},
    {WRITES, "the same of its stdin", "seccomp", .words = METADATA("any", "fd:0")},
    {WRITES, "the same of a file in a read-only root", "seccomp", .words = METADATA("any", "victim")},
    {WRITES, "a setting of the kernel", "landlock", .words = PEERS("rewrite", "/proc/sys/kernel/core_pattern")},
    {WRITES, "a device node", "landlock", .words = MOUNTS("device", "/tmp/node")},

    {EXECUTES, "another program", "execs", .words = EXEC("plain", PROGRAM, "--version")},
    {EXECUTES, "the same in a child", "execs", .words = EXEC("child", PROGRAM, "--version")},
    {EXECUTES, "the same in a thread", "execs", .words = EXEC("thread", PROGRAM, "--version")},
    {EXECUTES, "the same by /proc/self/fd", "execs", .words = EXEC("procfd", PROGRAM, "--version")},
    {EXECUTES, "the same by execveat", "execs", .words = EXEC("execveat", PROGRAM, "--version")},
    {EXECUTES, "the same by O_PATH", "execs", .words = EXEC("opath", PROGRAM, "--version")},
    {EXECUTES, "a copy in the scratch directory", "execs", .words = EXEC("home", PROGRAM, "--version")},
    {EXECUTES, "a copy in memory", "execs", .words = EXEC("memory", PROGRAM, "--version")},
    {EXECUTES, "a copy in sealed memory", "execs", .words = EXEC("sealed", PROGRAM, "--version")},
    {EXECUTES, "a copy in a root that it may write", "execs", CK_ATTACK_WRITES,
     .words = EXEC("copy", PROGRAM, "--version")},
    {EXECUTES, "a script of the repository", "execs", .words = EXEC("plain", "./script")},
    {EXECUTES, "a set-user-ID program", "execs", .words = EXEC("plain", "/bin/su", "--version")},

    {MAPS, "another program, by the loader", "fresh_root", CK_ATTACK_PLAIN, CK_ATTACK_FAILS,
     .words = EXEC("plain", "{loader}", PROGRAM, "--version")},
    {MAPS, "a copy in memory, by the loader", "seccomp", .words = CODE("memory", "{loader}", ECHO)},
    {MAPS, "a copy in sealed memory, by the loader", "seccomp", .words = CODE("sealed", "{loader}", ECHO)},
    {MAPS, "a copy in /tmp, by the loader", "fresh_root", .words = CODE("named", "{loader}", ECHO, "/tmp")},
    {MAPS, "a file without a name, by the loader", "fresh_root", .words = CODE("unnamed", "{loader}", ECHO, "/tmp")},
    {MAPS, "a file of the system", "fresh_root", .words = EXEC("mapped", PROGRAM)},
    {MAPS, "the same, made code later", "fresh_root", .words = EXEC("protected", PROGRAM)},
    {MAPS, "a file of the repository", "fresh_root", .words = EXEC("mapped", "script")},

    {SOCKETS, "a listener on loopback", "seccomp", .words = CALLS("inet", "{port}")},
    {SOCKETS, "a socket in the repository", "seccomp", .words = CALLS("path", "stream.socket")},
    {SOCKETS, "a datagram socket in the repository", "seccomp", .words = CALLS("datagram", "datagram.socket")},
    {SOCKETS, "an abstract socket", "seccomp", .words = CALLS("abstract", "{abstract}")},
    {SOCKETS, "family inet", "seccomp", .words = CALLS("socket", "2", "2")},
    {SOCKETS, "family inet6", "seccomp", .words = CALLS("socket", "10", "2")},
    {SOCKETS, "family netlink", "seccomp", .words = CALLS("socket", "16", "3")},
    {SOCKETS, "family packet", "seccomp", .words = CALLS("socket", "17", "3")},
    {SOCKETS, "family alg", "seccomp", .words = CALLS("socket", "38", "5")},
    {SOCKETS, "family vsock", "seccomp", .words = CALLS("socket", "40", "1")},

    {EGRESS, "a listener on loopback", "egress", CK_ATTACK_EGRESS, .words = NET("reach", "127.0.0.1", "{port}")},
    {EGRESS, "another address", "egress", CK_ATTACK_EGRESS, .words = NET("reach", "192.0.2.1", "443")},
    {EGRESS, "another address, over IPv6", "egress", CK_ATTACK_EGRESS, .words = NET("reach", "2001:db8::1", "443")},
    {EGRESS, "another address, by TCP fast open", "egress", CK_ATTACK_EGRESS,
     .words = NET("fastopen", "192.0.2.1", "443")},
    {EGRESS, "a resolver, by datagram", "egress", CK_ATTACK_EGRESS, .words = NET("query", "192.0.2.1", "53")},
    {EGRESS, "a raw socket", "egress", CK_ATTACK_EGRESS, .words = NET("socket", "2", "3", "6")},
    {EGRESS, "a server of its own", "egress", CK_ATTACK_EGRESS, .words = NET("bind", "8080")},
    {EGRESS, "a socket in the repository", "egress", CK_ATTACK_EGRESS, .words = CALLS("path", "stream.socket")},

    {PROCESSES, "a signal by pid", "pid_ns", CK_ATTACK_PLAIN, CK_ATTACK_SEEN, .words = PEERS("kill", "{pid}", "23")},
    {PROCESSES, "the first process, traced", "seccomp", .words = PEERS("trace", "init")},
    {PROCESSES, "the memory of the first process", "seccomp", .words = PEERS("write", "init")},
    {PROCESSES, "a descriptor of the first process", "seccomp", .words = PEERS("descriptor", "init")},
    {PROCESSES, "files that the first process has open", "landlock", .words = PEERS("init_descriptors")},
    {PROCESSES, "another process of the run, traced", "seccomp", .words = PEERS("trace", "sibling")},
    {PROCESSES, "inherited descriptors", "no_new_privs", .words = PEERS("descriptors")},

    {PRIVILEGES, "a user namespace", "seccomp", .words = MOUNTS("unshare")},
    {PRIVILEGES, "a user namespace, by clone", "seccomp", .words = MOUNTS("clone")},
    {PRIVILEGES, "a user namespace, by clone3", "seccomp", .words = MOUNTS("clone3")},
    {PRIVILEGES, "the mount namespace of the first process", "seccomp", .words = PEERS("enter", "/proc/1/ns/mnt")},
    {PRIVILEGES, "a mount", "seccomp", .words = MOUNTS("mount", ".")},
    {PRIVILEGES, "the root made writable", "seccomp", .words = MOUNTS("writable", ".")},
    {PRIVILEGES, "the same by mount_setattr", "seccomp", .words = MOUNTS("attributes", ".")},
    {PRIVILEGES, "a copy of the mount tree", "seccomp", .words = MOUNTS("tree", ".")},
    {PRIVILEGES, "a new file system", "seccomp", .words = MOUNTS("context")},
    {PRIVILEGES, "chroot", "no_capabilities", .words = MOUNTS("chroot", ".")},
    {PRIVILEGES, "another user", "no_capabilities", .words = FILES("identity")},

    {KERNEL, "io_uring", "seccomp", .words = CALLS("uring")},
    {KERNEL, "bpf", "seccomp", .words = CALLS("bpf")},
    {KERNEL, "performance counters", "seccomp", .words = CALLS("perf")},
    {KERNEL, "userfaultfd", "seccomp", .words = CALLS("fault")},
    {KERNEL, "the user's keyring", "seccomp", .words = CALLS("find_keyring")},
    {KERNEL, "typing into a terminal", "seccomp", .words = CALLS("request", "5412")},
    {KERNEL, "the same with high bits", "seccomp", .words = CALLS("request", "100005412")},
    {KERNEL, "calls of i386", "seccomp", .words = CALLS("i386")},
    {KERNEL, "calls of x32", "seccomp", .words = CALLS("x32")},

    {TRACES, "a file in /dev/shm", "mount_ns", .words = FILES("find", "{marker}"), .before = FILES("keep", "{marker}")},
    {TRACES, "a segment of System V", "ipc_ns", .words = FILES("find_ipc", "{number}"),
     .before = FILES("keep_ipc", "{number}")},
    {TRACES, "a file in /tmp", "mount_ns", .words = FILES("read", "/tmp/word"), .before = FILES("write", "/tmp/word")},

    {TREE, "a daemon", "pid_ns", CK_ATTACK_PLAIN, CK_ATTACK_SEEN, .words = {"escape", "double", "{marker}"}},
    {TREE, "a process that holds the output open", "pid_ns", CK_ATTACK_PLAIN, CK_ATTACK_SEEN,
     .words = {"escape", "holder", "{marker}"}},
    {.promise = NULL},
};
