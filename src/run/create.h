/*
 * create.h - the one place where processes are created.
 *
 * Compiled twice: into the library, which creates the keeper with it, and into the keeper, which
 * creates wardens and tools. No other file may create or replace a process (docs/adr/0003).
 */
#ifndef CK_RUN_CREATE_H
#define CK_RUN_CREATE_H

#include <stdbool.h>
#include <stdint.h>

/* AT_EXECVE_CHECK, from Linux 6.14; the headers of the build may be older. */
#define CK_CREATE_ONLY_CHECK 0x10000

/* Runs in the new process and never returns: it executes something or exits. */
typedef __attribute__((noreturn)) void (*ck_create_child)(void *argument);

/*
 * A child that uses the caller's memory and stack until it executes or exits. Only the calling
 * thread waits for that. The cost does not depend on the size of the caller.
 *
 *  Must     block all signals first: a handler would run in the child, in the parent's memory.
 *  Must not return from child, change memory that the parent needs, or use libc there.
 *
 * ret_pidfd may be NULL. Returns the pid or a negative errno.
 */
long ck_create_borrowed(ck_create_child child, void *argument, int *ret_pidfd);

/* The same, created in a cgroup v2 directory. */
long ck_create_borrowed_in(ck_create_child child, void *argument, int cgroup_fd);

/*
 * A child with a copy of the caller's memory. For the keeper only, which has little memory.
 * cgroup_fd: the cgroup v2 directory to create it in, or -1.
 */
long ck_create_copied(ck_create_child child, void *argument, int cgroup_fd);

/*
 * A child that uses the caller's memory and descriptors beside the caller, on a stack of its own, until
 * it executes, exits, or takes copies. For the keeper only, which has one thread and no libc.
 * stack_top: the end of that stack, a multiple of 16.
 */
long ck_create_beside(ck_create_child child, void *argument, void *stack_top);

/*
 * As ck_create_copied, in new pid and ipc namespaces. The child is the first process of its pid namespace; when
 * it ends, the kernel kills all others in it. own_net: in a new network namespace, too.
 */
long ck_create_in_namespaces(ck_create_child child, void *argument, bool own_net);

/*
 * After this the process and its descendants cannot do what a tracer does not see or cannot read:
 * CLONE_UNTRACED, io_uring, memory that is not dumpable, clone3, user namespaces; neither by 64-bit
 * nor by 32-bit calls. no_new_privs must be set. 0 or a negative errno.
 */
long ck_create_keep_traceable(void);

/*
 * Executes the open file, or path if it is not NULL. Returns only on failure, with a negative
 * errno.
 */
long ck_create_execute(int fd, const char *path, char *const *argv, char *const *envp);

/*
 * The same where a filter notifies a listener of executions. It lets those pass that have the key
 * in their last argument, which the kernel ignores. The new program cannot learn the key: a filter
 * cannot be read, and exec clears the registers and replaces the memory.
 */
long ck_create_execute_unasked(int fd, const char *path, char *const *argv, char *const *envp, uint64_t key);

/*
 * Whether the calling process could execute the open file: 0, or a negative errno. -EINVAL: the
 * kernel cannot say (before Linux 6.14). Nothing is executed.
 */
long ck_create_may_execute(int fd, uint64_t key);

/* How a system call names the file that it executes. */
enum ck_create_naming { CK_CREATE_EXECUTES_NOTHING, CK_CREATE_BY_PATH, CK_CREATE_BY_DESCRIPTOR };
enum ck_create_naming ck_create_naming_of(int number);

/*
 * After this the process and its descendants can execute nothing, except with the key, a random
 * number. It holds for every process that is created from now on, so one call serves many tools: to
 * compile a filter takes longer than to create a process. no_new_privs must be set. 0 or a negative
 * errno.
 */
long ck_create_seal(uint64_t *ret_key);

/*
 * Executes the open file with the key of the seal, which neither the new program nor its
 * descendants can learn.
 */
long ck_create_execute_sealed(int fd, char *const *argv, char *const *envp, uint64_t key);

#endif
