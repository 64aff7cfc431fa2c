/*
 * seccomp.h - the system calls that a tool in a jail cannot make.
 *
 * A closed list of what is refused, not of what is allowed: tools are many, and what they need is their affair; what
 * reaches around namespaces and Landlock is ours. Calls of another architecture (int 0x80, x32) end the process.
 */
#ifndef CK_SYS_SECCOMP_H
#define CK_SYS_SECCOMP_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * The filter as the kernel takes it, to be freed. 0 or a negative errno. tracing: processes of the jail may trace each
 * other, for a tool such as strace.
 */
int ck_seccomp_build(bool tracing, struct sock_filter **ret_filter, size_t *ret_count);

#endif
