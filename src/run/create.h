/*
 * create.h - the one place where processes come from.
 *
 * Compiled twice: into the library, which makes the keeper with it, and into the keeper, which makes wardens and
 * tools. No other file may create or replace a process (docs/adr/0003).
 */
#ifndef CK_RUN_CREATE_H
#define CK_RUN_CREATE_H

#include <stdbool.h>
#include <stdint.h>

/* Runs in the new process and never returns: it executes something or exits. */
typedef __attribute__((noreturn)) void (*ck_create_child)(void *argument);

/*
 * A child that borrows the caller's memory and stack until it executes or exits; only the calling thread waits for
 * that. The cost does not depend on how much memory the caller has.
 *
 *   Must     block all signals first: a handler would run in the child, in the parent's memory.
 *   Must not return from child, change memory that the parent needs, or use libc there.
 *
 * ret_pidfd may be NULL. Returns the pid or a negative errno.
 */
long ck_create_borrowed(ck_create_child child, void *argument, int *ret_pidfd);

/* The same, born in a cgroup v2 directory. */
long ck_create_borrowed_in(ck_create_child child, void *argument, int cgroup_fd);

/*
 * A child with a copy of the caller's memory. For the keeper only, whose memory is tiny. cgroup_fd: a cgroup v2 directory
 * to be born in, or -1.
 */
long ck_create_copied(ck_create_child child, void *argument, int cgroup_fd);

/*
 * The same in pid and ipc namespaces of its own: the child is the first process of its pid namespace, and when
 * it ends the kernel ends all others in it. own_net: in a network namespace of its own, too.
 */
long ck_create_in_namespaces(ck_create_child child, void *argument, bool own_net);

/*
 * From here on this process and its descendants cannot do what a tracer is not told of or cannot read: CLONE_UNTRACED,
 * io_uring, memory that is closed, clone3, user namespaces; by the calls of 64 bits and of 32. no_new_privs must be set. 0 or
 * a negative errno.
 */
long ck_create_keep_traceable(void);

/* Executes the open file, or path where it is not NULL. Returns only on failure, with a negative errno. */
long ck_create_execute(int fd, const char *path, char *const *argv, char *const *envp);

/* Executes the open file; neither what runs then nor its descendants execute anything more. no_new_privs must be set. */
long ck_create_execute_last(int fd, char *const *argv, char *const *envp);

#endif
