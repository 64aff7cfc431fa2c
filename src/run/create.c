/*
 * create.c - the only file that creates or replaces a process. See create.h.
 *
 * The clone system call is the usual one, because the seccomp profiles of container engines answer
 * clone3 with ENOSYS. clone3 is used only to create a process in a cgroup. Nothing else can do that
 * without a moment in which the child is outside.
 */
#include "run/create.h"

#include "sys/raw.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>

/*
 * OTHER_: the 32-bit system calls of the same processor. clone and prctl have the same numbers in
 * both 32-bit tables.
 */
#if defined(__x86_64__)
#define OWN_ARCH AUDIT_ARCH_X86_64
#define OTHER_ARCH AUDIT_ARCH_I386
#define OTHER_UNSHARE 310
#elif defined(__aarch64__)
#define OWN_ARCH AUDIT_ARCH_AARCH64
#define OTHER_ARCH AUDIT_ARCH_ARM
#define OTHER_UNSHARE 337
#else
#error "the audit architecture of this machine is not known to create.c"
#endif
#define FOREIGN_BIT 0x40000000u /* set in the numbers of x32 calls; no other table has calls up there */
#define OTHER_CLONE 120
#define OTHER_PRCTL 172

/*
 * The child returns from the system call in this same stack frame and calls child() below it, so
 * nothing above the stack pointer changes while the parent waits. noinline makes sure that the
 * frame has only what is written here.
 */
__attribute__((noinline)) long ck_create_borrowed(ck_create_child child, void *argument, int *ret_pidfd)
{
    uint64_t flags = CLONE_VM | CLONE_VFORK | (ret_pidfd ? (uint64_t)CLONE_PIDFD : 0);
    long pid = CK_RAW5(clone, flags | SIGCHLD, 0, ret_pidfd, 0, 0);
    if (pid == 0)
        child(argument);
    return pid;
}

__attribute__((noinline)) long ck_create_borrowed_in(ck_create_child child, void *argument, int cgroup_fd)
{
    struct clone_args args = {
        .flags = CLONE_VM | CLONE_VFORK | CLONE_INTO_CGROUP, .exit_signal = SIGCHLD, .cgroup = (unsigned)cgroup_fd};
    long pid = CK_RAW2(clone3, &args, sizeof(args));
    if (pid == 0)
        child(argument);
    return pid;
}

long ck_create_copied(ck_create_child child, void *argument, int cgroup_fd)
{
    long pid;
    if (cgroup_fd >= 0) {
        struct clone_args args = {.flags = CLONE_INTO_CGROUP, .exit_signal = SIGCHLD, .cgroup = (unsigned)cgroup_fd};
        pid = CK_RAW2(clone3, &args, sizeof(args));
    } else {
        pid = CK_RAW5(clone, SIGCHLD, 0, 0, 0, 0);
    }
    if (pid == 0)
        child(argument);
    return pid;
}

/*
 * The child returns from the system call with another stack pointer, so nothing of this frame exists for
 * it: it takes its function and argument from the new stack.
 */
#if defined(__x86_64__)
static long clone_on(void **top, uint64_t flags)
{
    long r;
    register long none __asm__("r10") = 0;
    register long tls __asm__("r8") = 0;
    __asm__ volatile("syscall\n\t"
                     "test %%rax, %%rax\n\t"
                     "jnz 1f\n\t"
                     "xor %%ebp, %%ebp\n\t"
                     "pop %%rax\n\t"
                     "pop %%rdi\n\t"
                     "call *%%rax\n\t"
                     "ud2\n"
                     "1:"
                     : "=a"(r)
                     : "0"((long)__NR_clone), "D"(flags), "S"(top), "d"(0L), "r"(none), "r"(tls)
                     : "rcx", "r11", "memory");
    return r;
}
#else
static long clone_on(void **top, uint64_t flags)
{
    register long number __asm__("x8") = __NR_clone;
    register long r __asm__("x0") = (long)flags;
    register void **stack __asm__("x1") = top;
    register long parent_tid __asm__("x2") = 0;
    register long tls __asm__("x3") = 0;
    register long child_tid __asm__("x4") = 0;
    __asm__ volatile("svc 0\n\t"
                     "cbnz x0, 1f\n\t"
                     "mov x29, xzr\n\t"
                     "ldp x1, x0, [sp], #16\n\t"
                     "blr x1\n\t"
                     "brk #0\n"
                     "1:"
                     : "+r"(r)
                     : "r"(number), "r"(stack), "r"(parent_tid), "r"(tls), "r"(child_tid)
                     : "memory");
    return r;
}
#endif

long ck_create_beside(ck_create_child child, void *argument, void *stack_top)
{
    void **top = (void **)stack_top - 2;
    top[0] = (void *)(uintptr_t)child;
    top[1] = argument;
    return clone_on(top, CLONE_VM | CLONE_FILES | SIGCHLD);
}

long ck_create_in_namespaces(ck_create_child child, void *argument, bool own_net)
{
    uint64_t flags = CLONE_NEWPID | CLONE_NEWIPC | (own_net ? (uint64_t)CLONE_NEWNET : 0);
    long pid = CK_RAW5(clone, flags | SIGCHLD, 0, 0, 0, 0);
    if (pid == 0)
        child(argument);
    return pid;
}

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, field))
#define LOAD_NEXT(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, field) + 4)
#define GO_ON_IF(value, skip) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(value), 0, skip)

/*
 * A Landlock rule names a file, and the file of the tool and its loader must be among the allowed
 * ones, or the tool does not start. Both can act as other programs: git runs the command that its
 * name says, and a loader runs any file that it is given. So if the policy entry lists no helper,
 * this filter refuses every execution but one. It recognizes that one by a random number in the
 * sixth argument of execveat, which the kernel ignores. The tool cannot learn the number: a filter
 * cannot be read from inside, exec clears the registers and replaces the memory, and the memory of
 * the warden or init, which keeps the number, is not dumpable.
 *
 * The key is compared in two halves of 32 bits. Both supported machines are little-endian, so the
 * lower half comes first.
 */
long ck_create_seal(uint64_t *ret_key)
{
    uint32_t key[2] = {0};
    long r = CK_RAW3(getrandom, key, sizeof(key), 0);
    if (r != (long)sizeof(key))
        return r < 0 ? r : -EIO;
    struct sock_filter code[] = {
        LOAD(arch),
        GO_ON_IF(OWN_ARCH, 9),
        LOAD(nr),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, FOREIGN_BIT, 7, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_execve, 6, 0),
        GO_ON_IF(__NR_execveat, 4),
        LOAD(args[5]),
        GO_ON_IF(key[0], 3),
        LOAD_NEXT(args[5]),
        GO_ON_IF(key[1], 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
    };
    const struct sock_fprog program = {.len = sizeof(code) / sizeof(code[0]), .filter = code};
    *ret_key = (uint64_t)key[1] << 32 | key[0];
    return CK_RAW5(prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

long ck_create_execute_sealed(int fd, char *const *argv, char *const *envp, uint64_t key)
{
    return CK_RAW6(execveat, fd, "", argv, envp, AT_EMPTY_PATH, key);
}

/* ---- only what a tracer can follow ---- */

#define IF(test, value, yes, no) BPF_JUMP(BPF_JMP | BPF_K | (test), (uint32_t)(value), yes, no)
#define REFUSE(errnum) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (errnum))
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/*
 * The calls that are refused, and why:
 *
 *   clone        CLONE_UNTRACED: a tracer is not notified of such a process. CLONE_NEWUSER, also of
 *                unshare: it is needed for a new pid namespace, and there clone returns a pid that
 *                the tracer does not know.
 *   prctl        PR_SET_DUMPABLE with a value other than 1: a tracer without capabilities could not
 *                read the memory of the process.
 *   clone3       Its flags are in memory, which a filter cannot read. C libraries then use clone.
 *   io_uring_*   The kernel opens and connects for the process, and no system call of the process
 *                shows it.
 *
 * The filter reads the lower half of a 64-bit argument. It comes first on both machines, and all
 * flags are in it. Since Linux 5.1 a new system call has the same number on all machines.
 */
#define CALLS_OF(clone_nr, unshare_nr, prctl_nr) \
    LOAD(nr), IF(BPF_JGE, FOREIGN_BIT, 0, 1), REFUSE(ENOSYS), IF(BPF_JEQ, clone_nr, 0, 4), LOAD(args[0]), \
        IF(BPF_JSET, CLONE_UNTRACED | CLONE_NEWUSER, 0, 1), REFUSE(EPERM), ALLOW, IF(BPF_JEQ, unshare_nr, 0, 4), \
        LOAD(args[0]), IF(BPF_JSET, CLONE_NEWUSER, 0, 1), REFUSE(EPERM), ALLOW, IF(BPF_JEQ, prctl_nr, 0, 6), \
        LOAD(args[0]), IF(BPF_JEQ, PR_SET_DUMPABLE, 0, 3), LOAD(args[1]), IF(BPF_JEQ, 1, 1, 0), REFUSE(EPERM), ALLOW, \
        IF(BPF_JEQ, __NR_clone3, 0, 1), REFUSE(ENOSYS), IF(BPF_JGE, __NR_io_uring_setup, 0, 2), \
        IF(BPF_JGT, __NR_io_uring_register, 1, 0), REFUSE(ENOSYS), ALLOW
#define CALLS_LENGTH 26

long ck_create_keep_traceable(void)
{
    struct sock_filter code[] = {
        LOAD(arch),
        IF(BPF_JEQ, OWN_ARCH, 0, CALLS_LENGTH),
        CALLS_OF(__NR_clone, __NR_unshare, __NR_prctl),
        IF(BPF_JEQ, OTHER_ARCH, 0, CALLS_LENGTH),
        CALLS_OF(OTHER_CLONE, OTHER_UNSHARE, OTHER_PRCTL),
        REFUSE(ENOSYS),
    };
    const unsigned short length = sizeof(code) / sizeof(code[0]);
    _Static_assert(sizeof(code) / sizeof(code[0]) == 2 * CALLS_LENGTH + 4,
                   "CALLS_LENGTH must be the length of CALLS_OF, which the two jumps skip");
    const struct sock_fprog program = {.len = length, .filter = code};
    return CK_RAW5(prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

long ck_create_execute(int fd, const char *path, char *const *argv, char *const *envp)
{
    return ck_create_execute_unasked(fd, path, argv, envp, 0);
}

long ck_create_execute_unasked(int fd, const char *path, char *const *argv, char *const *envp, uint64_t key)
{
    if (path)
        return CK_RAW6(execve, path, argv, envp, 0, 0, key);
    return CK_RAW6(execveat, fd, "", argv, envp, AT_EMPTY_PATH, key);
}

/* An older kernel refuses the flag with EINVAL and executes nothing. */
long ck_create_may_execute(int fd, uint64_t key)
{
    static char name[] = "";
    static char *const argv[] = {name, 0};
    return CK_RAW6(execveat, fd, "", argv, argv + 1, AT_EMPTY_PATH | CK_CREATE_ONLY_CHECK, key);
}

enum ck_create_naming ck_create_naming_of(int number)
{
    if (number == __NR_execve)
        return CK_CREATE_BY_PATH;
    return number == __NR_execveat ? CK_CREATE_BY_DESCRIPTOR : CK_CREATE_EXECUTES_NOTHING;
}
