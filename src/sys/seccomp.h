/*
 * seccomp.h - the system calls that a tool in a jail cannot make.
 *
 * It is a list of what is refused, not of what is allowed. Tools are many, and differ in what they
 * need; the filter only stops what gets around namespaces and Landlock. A call of another
 * architecture (int 0x80, x32) ends the process.
 *
 * The warden of a jail installs the filter once, because installing it costs as much as a tenth of
 * a run. So the filter must allow what the warden still needs for every run: mount, umount2,
 * open_tree, move_mount, mount_setattr, setns, and clone with new pid and ipc namespaces. All of
 * these need a capability in the jail's user namespace. A tool has none, cannot regain one, and
 * cannot make a user namespace to get one: the filter refuses that. Without namespaces
 * (CK_SECCOMP_NO_USERNS) the tool's own process installs the filter, and those calls are refused
 * too.
 */
#ifndef CK_SYS_SECCOMP_H
#define CK_SYS_SECCOMP_H

#include <linux/filter.h>
#include <stddef.h>
#include <stdint.h>

enum ck_seccomp_option {
    CK_SECCOMP_TRACING = 1, /* processes of the jail may trace each other, for a tool such as strace */
    /*
     * There are no namespaces around the tool, and no warden that needs a mount. Also refused are
     * mounts, what Landlock does not check (modes, owners, times and attributes of files, by path
     * and by descriptor), and what reaches other processes of the same user (IPC, their limits).
     */
    CK_SECCOMP_NO_USERNS = 2,
    /*
     * The tool may make and connect TCP sockets of both families, but not bind or listen. A filter
     * cannot see the peer: the network namespace holds nothing but one listener.
     */
    CK_SECCOMP_EGRESS = 8,
    /*
     * The kernel does not answer what is refused of sockets, with EGRESS of sending, nor any
     * connect. It asks the process that installed the filter with
     * SECCOMP_FILTER_FLAG_NEW_LISTENER. If that process does not answer, the call fails.
     */
    CK_SECCOMP_REPORT_ATTEMPTS = 16,
    /*
     * The tool may make TCP and UDP sockets of both families, and bind and listen. The network
     * namespace belongs to the run and has nothing but loopback. Together with EGRESS too.
     */
    CK_SECCOMP_LOOPBACK = 32,
    /*
     * With exec_key and REPORT_ATTEMPTS: that process is also notified of calls that open or change
     * a file by its path, and of mappings of files as code. Without notification are those with the
     * key as the sixth argument.
     */
    CK_SECCOMP_WHY = 64,
    /* With exec_key: that process is also notified of the system call of a door. */
    CK_SECCOMP_CAGE = 128,
    /* No memory that can be written elsewhere is mapped as code. Beside PR_SET_MDWE, which does the rest. */
    CK_SECCOMP_NO_NEW_CODE = 256,
};

/*
 * The filter in the kernel's format, to be freed. options are those above. Returns 0 or a negative
 * errno.
 *
 * exec_key not 0: the process that installs the filter with SECCOMP_FILTER_FLAG_NEW_LISTENER is
 * notified of each execution, and of each question whether a file could be executed
 * (access with X_OK). Without notification are executions with the key as the sixth argument, which
 * the kernel ignores. process_vm_readv is then allowed with the upper half of the key in the upper
 * half of the pid, which the kernel ignores too: the process that is notified reads the path.
 */
int ck_seccomp_build(unsigned options, uint64_t exec_key, struct sock_filter **ret_filter, size_t *ret_count);

#endif
