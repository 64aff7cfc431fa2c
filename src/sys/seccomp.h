/*
 * seccomp.h - the system calls that a tool in a jail cannot make.
 *
 * A closed list of what is refused, not of what is allowed: tools are many, and what they need is their affair; what
 * reaches around namespaces and Landlock is ours. Calls of another architecture (int 0x80, x32) end the process.
 *
 * The filter is put on once, by the warden of a jail, because putting it on costs as much as a tenth of a run. What the
 * warden still needs then for every run (mount, umount2, open_tree, move_mount, mount_setattr, setns, and clone with new
 * pid and ipc namespaces) is therefore not in it. All of these want a capability in the jail's user namespace;
 * a tool has none, cannot get one back, and cannot make a user namespace to have some in: that is in the filter. Where
 * there are no namespaces (CK_SECCOMP_NO_USERNS) it is the tool's own process that puts the filter on, and they are in it.
 */
#ifndef CK_SYS_SECCOMP_H
#define CK_SYS_SECCOMP_H

#include <linux/filter.h>
#include <stddef.h>

enum ck_seccomp_option {
    CK_SECCOMP_TRACING = 1, /* processes of the jail may trace each other, for a tool such as strace */
    /*
     * There are no namespaces around the tool, and no warden that needs a mount: refused too are mounts, what Landlock
     * does not look at (modes, owners, times and attributes of files, by path and by descriptor), and what other
     * processes of the same user could be reached by (IPC, their limits).
     */
    CK_SECCOMP_NO_USERNS = 2,
    /*
     * The tool may make TCP sockets, of both families, and connect them; not bind one or listen. Who may be connected to
     * cannot be seen here: there is nobody but one listener in the network namespace.
     */
    CK_SECCOMP_EGRESS = 8,
    /*
     * With it: what EGRESS refuses of sockets and of sending is not answered by the kernel, but asked from whoever puts the
     * filter on, with SECCOMP_FILTER_FLAG_NEW_LISTENER, and so is each connect. Without an answer there is none of it.
     */
    CK_SECCOMP_REPORT_ATTEMPTS = 16,
};

/* The filter as the kernel takes it, to be freed. options: of the above. 0 or a negative errno. */
int ck_seccomp_build(unsigned options, struct sock_filter **ret_filter, size_t *ret_count);

#endif
