/*
 * test_seccomp.c - what the filter answers to a call, without making the call: the BPF program is
 * interpreted here as the kernel would. So the answer is known also for calls that this kernel
 * lacks (AF_ALG, x32), that no test may make (reboot), and for other architectures.
 */
#include "sys/seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <termios.h>

#include <cmocka.h>

#define KILLED SECCOMP_RET_KILL_PROCESS
#define ALLOWED SECCOMP_RET_ALLOW
#define ASKED SECCOMP_RET_USER_NOTIF
#define REFUSED(errno_value) (SECCOMP_RET_ERRNO | (errno_value))
#define X32 0x40000000
#define HIGH (UINT64_C(0xdeadbeef) << 32)
#define NOEXEC_SEAL 8 /* of memfd_create */
#define FILE_SETATTR 469
#define FAMILIES 64

struct program {
    struct sock_filter *code;
    size_t count;
};

static uint32_t load(const struct seccomp_data *data, uint32_t offset)
{
    uint32_t word;
    assert_true(offset % sizeof(word) == 0 && offset <= sizeof(*data) - sizeof(word));
    memcpy(&word, (const char *)data + offset, sizeof(word));
    return word;
}

static bool jumps(const struct sock_filter *at, uint32_t value)
{
    switch (BPF_OP(at->code)) {
    case BPF_JEQ:
        return value == at->k;
    case BPF_JGT:
        return value > at->k;
    case BPF_JGE:
        return value >= at->k;
    case BPF_JSET:
        return (value & at->k) != 0;
    default:
        fail_msg("unknown jump %#x", at->code);
        return false;
    }
}

/* The result of the program. It always ends: BPF jumps go forward only. */
static uint32_t carry_out(const struct program *program, const struct seccomp_data *data)
{
    uint32_t value = 0;
    for (size_t i = 0; i < program->count; i++) {
        const struct sock_filter *at = &program->code[i];
        if (at->code == (BPF_LD | BPF_W | BPF_ABS))
            value = load(data, at->k);
        else if (at->code == (BPF_ALU | BPF_AND | BPF_K))
            value &= at->k;
        else if (at->code == (BPF_JMP | BPF_JA))
            i += at->k;
        else if (BPF_CLASS(at->code) == BPF_JMP && BPF_SRC(at->code) == BPF_K)
            i += jumps(at, value) ? at->jt : at->jf;
        else if (at->code == (BPF_RET | BPF_K))
            return at->k;
        else
            fail_msg("unknown instruction %#x", at->code);
    }
    fail_msg("the program does not end");
    return 0;
}

static struct program build(unsigned options, uint64_t exec_key)
{
    struct program program = {0};
    assert_int_equal(ck_seccomp_build(options, exec_key, &program.code, &program.count), 0);
    assert_true(program.count > 0);
    return program;
}

struct call {
    long number;
    uint64_t args[6];
    uint32_t answer;
};

static uint32_t ask(const struct program *program, uint32_t architecture, const struct call *call)
{
    struct seccomp_data data = {.nr = (int)call->number, .arch = architecture};
    memcpy(data.args, call->args, sizeof(call->args));
    return carry_out(program, &data);
}

static void expect_with(unsigned options, uint64_t exec_key, const struct call *calls, size_t count)
{
    struct program program = build(options, exec_key);
    for (size_t i = 0; i < count; i++) {
        uint32_t answer = ask(&program, seccomp_arch_native(), &calls[i]);
        if (answer != calls[i].answer)
            fail_msg("options %u, row %zu (call %ld): %#x, not %#x", options, i, calls[i].number, answer,
                     calls[i].answer);
    }
    free(program.code);
}

#define EXPECT(options, ...) EXPECT_WITH(options, 0, __VA_ARGS__)
#define EXPECT_WITH(options, exec_key, ...) \
    expect_with((options), (exec_key), (const struct call[]){__VA_ARGS__}, \
                sizeof((const struct call[]){__VA_ARGS__}) / sizeof(struct call))

static void ordinary_calls_are_allowed(void **state)
{
    (void)state;
    EXPECT(0, {SYS_read, {0}, ALLOWED}, {SYS_openat, {0, 0, O_CREAT, 0644}, ALLOWED}, {SYS_clone, {SIGCHLD}, ALLOWED},
           {SYS_ioctl, {0, TCGETS}, ALLOWED}, {SYS_ioctl, {0, FS_IOC_GETFLAGS}, ALLOWED},
           {SYS_fcntl, {0, F_DUPFD_CLOEXEC}, ALLOWED}, {SYS_utimensat, {0}, ALLOWED},
           {SYS_socketpair, {AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC}, ALLOWED}, {SYS_personality, {PER_LINUX}, ALLOWED},
           {SYS_fchmod, {0, 0755}, ALLOWED}, {SYS_prlimit64, {1}, ALLOWED}, {SYS_mount, {0}, ALLOWED});
}

/* For every family that the kernel has, or will have. */
static void no_family_gets_a_socket(void **state)
{
    (void)state;
    struct program program = build(0, 0);
    for (uint64_t family = 0; family < FAMILIES; family++) {
        const struct call one = {SYS_socket, {family, SOCK_SEQPACKET}, 0};
        const struct call pair = {SYS_socketpair, {family, SOCK_SEQPACKET}, 0};
        uint32_t expected = family == AF_UNIX ? ALLOWED : REFUSED(EAFNOSUPPORT);
        assert_int_equal(ask(&program, seccomp_arch_native(), &one), REFUSED(EAFNOSUPPORT));
        assert_int_equal(ask(&program, seccomp_arch_native(), &pair), expected);
    }
    free(program.code);
    EXPECT(0, {SYS_socket, {AF_ALG, SOCK_SEQPACKET}, REFUSED(EAFNOSUPPORT)},
           {SYS_socketpair, {AF_UNIX, SOCK_DGRAM}, REFUSED(EAFNOSUPPORT)},
           {SYS_socketpair, {AF_UNIX, SOCK_RAW | SOCK_CLOEXEC}, REFUSED(EAFNOSUPPORT)});
}

/* Another architecture has other numbers, so nothing about its calls can be trusted. */
static void another_entry_kills(void **state)
{
    (void)state;
    static const uint32_t architectures[] = {AUDIT_ARCH_I386, AUDIT_ARCH_X86_64, AUDIT_ARCH_ARM, AUDIT_ARCH_AARCH64, 0,
                                             UINT32_MAX};
    struct program program = build(0, 0);
    const struct call harmless = {SYS_getpid, {0}, 0};
    for (size_t i = 0; i < sizeof(architectures) / sizeof(architectures[0]); i++) {
        bool ours = architectures[i] == seccomp_arch_native();
        assert_int_equal(ask(&program, architectures[i], &harmless), ours ? ALLOWED : KILLED);
    }
    free(program.code);
}

#ifdef __x86_64__
/* x32 has the architecture of x86-64 and a bit in its numbers; -1 is what a tracer leaves, and not
 * a call. */
static void a_number_of_x32_kills(void **state)
{
    (void)state;
    struct program program = build(0, 0);
    for (int number = 0; number < 600; number++) {
        const struct call call = {X32 | number, {0}, 0};
        assert_int_equal(ask(&program, AUDIT_ARCH_X86_64, &call), KILLED);
    }
    free(program.code);
}
#endif

static void access_past_the_jail_is_refused(void **state)
{
    (void)state;
    static const long calls[] = {
        SYS_pivot_root,
        SYS_chroot,
        SYS_fsopen,
        SYS_fsconfig,
        SYS_fsmount,
        SYS_fspick,
        SYS_unshare,
        SYS_process_madvise,
        SYS_pidfd_getfd,
        SYS_kcmp,
        SYS_bpf,
        SYS_perf_event_open,
        SYS_userfaultfd,
        SYS_io_uring_setup,
        SYS_io_uring_enter,
        SYS_keyctl,
        SYS_add_key,
        SYS_request_key,
        SYS_io_uring_register,
        SYS_fanotify_init,
        SYS_vhangup,
        SYS_kexec_load,
        SYS_init_module,
        SYS_open_by_handle_at,
        SYS_name_to_handle_at,
        SYS_finit_module,
        SYS_delete_module,
        SYS_reboot,
        SYS_swapon,
        SYS_swapoff,
        SYS_acct,
        SYS_quotactl,
        SYS_syslog,
        SYS_settimeofday,
        SYS_clock_settime,
        SYS_clock_adjtime,
        SYS_adjtimex,
        SYS_sethostname,
        SYS_setdomainname,
        SYS_ptrace,
        SYS_process_vm_readv,
        SYS_process_vm_writev,
    };
    struct program program = build(0, 0);
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        const struct call call = {calls[i], {0}, 0};
        if (ask(&program, seccomp_arch_native(), &call) != REFUSED(EPERM))
            fail_msg("call %ld is not refused", calls[i]);
    }
    free(program.code);
}

/* The kernel reads only the lower half of some arguments; the upper half must change nothing. */
static void bits_that_the_kernel_does_not_look_at_do_not_help(void **state)
{
    (void)state;
    EXPECT(0, {SYS_ioctl, {0, TIOCSTI}, REFUSED(EPERM)}, {SYS_ioctl, {0, HIGH | TIOCSTI}, REFUSED(EPERM)},
           {SYS_ioctl, {0, TIOCLINUX}, REFUSED(EPERM)}, {SYS_ioctl, {0, HIGH | TIOCLINUX}, REFUSED(EPERM)},
           {SYS_ioctl, {0, HIGH | TIOCSETD}, REFUSED(EPERM)}, {SYS_clone, {CLONE_NEWUSER}, REFUSED(EPERM)},
           {SYS_clone, {HIGH | CLONE_NEWUSER | SIGCHLD}, REFUSED(EPERM)}, {SYS_clone, {CLONE_NEWNS}, REFUSED(EPERM)},
           {SYS_memfd_create, {0, 0}, REFUSED(EPERM)}, {SYS_memfd_create, {0, NOEXEC_SEAL}, REFUSED(EPERM)},
           {SYS_memfd_secret, {0}, REFUSED(EPERM)}, {SYS_fcntl, {0, HIGH | F_SETLEASE}, REFUSED(EPERM)},
           {SYS_ioctl, {0, HIGH | FS_IOC_SETFLAGS}, REFUSED(EPERM)},
           {SYS_ioctl, {0, FS_IOC_FSSETXATTR}, REFUSED(EPERM)}, {SYS_ioctl, {0, FS_IOC_SETVERSION}, REFUSED(EPERM)},
           {SYS_socketpair, {AF_UNIX, HIGH | SOCK_DGRAM}, REFUSED(EAFNOSUPPORT)},
           {SYS_personality, {HIGH | ADDR_NO_RANDOMIZE}, REFUSED(EPERM)},
           {SYS_fchmod, {0, HIGH | 04755}, REFUSED(EPERM)}, {SYS_fchmodat, {0, 0, 02755}, REFUSED(EPERM)},
           {SYS_openat, {0, 0, O_CREAT, HIGH | 04755}, REFUSED(EPERM)});
}

/* Space that is reserved and never written cannot be freed in pieces; punching a hole frees it. */
static void reserving_is_not_supported_and_holes_are(void **state)
{
    (void)state;
    EXPECT(0, {SYS_fallocate, {0, 0}, REFUSED(EOPNOTSUPP)}, {SYS_fallocate, {0, HIGH}, REFUSED(EOPNOTSUPP)},
           {SYS_fallocate, {0, FALLOC_FL_KEEP_SIZE}, REFUSED(EOPNOTSUPP)},
           {SYS_fallocate, {0, FALLOC_FL_ZERO_RANGE}, REFUSED(EOPNOTSUPP)},
           {SYS_fallocate, {0, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE}, ALLOWED});
}

/* A call with arguments that the filter cannot see is answered with ENOSYS; libc has a fallback. */
static void what_hides_its_arguments_is_not_there(void **state)
{
    (void)state;
    EXPECT(0, {SYS_clone3, {0}, REFUSED(ENOSYS)}, {SYS_openat2, {0}, REFUSED(ENOSYS)});
}

static void options_change_what_they_name(void **state)
{
    (void)state;
    EXPECT(CK_SECCOMP_TRACING, {SYS_ptrace, {0}, ALLOWED}, {SYS_process_vm_readv, {0}, ALLOWED},
           {SYS_bpf, {0}, REFUSED(EPERM)});
    EXPECT(CK_SECCOMP_NO_USERNS, {SYS_mount, {0}, REFUSED(EPERM)}, {SYS_setns, {0}, REFUSED(EPERM)},
           {SYS_shmget, {0}, REFUSED(EPERM)}, {SYS_fchmodat, {0}, REFUSED(EPERM)}, {SYS_prlimit64, {1}, REFUSED(EPERM)},
           {SYS_prlimit64, {0}, ALLOWED}, {SYS_clone, {CLONE_NEWPID}, REFUSED(EPERM)},
           {SYS_utimensat, {0, 0}, REFUSED(EPERM)}, {SYS_utimensat, {0, 1}, REFUSED(EPERM)}, {452, {0}, REFUSED(EPERM)},
           {SYS_fchmod, {0}, REFUSED(EPERM)}, {SYS_fchown, {0}, REFUSED(EPERM)}, {SYS_fsetxattr, {0}, REFUSED(EPERM)},
           {SYS_fremovexattr, {0}, REFUSED(EPERM)}, {FILE_SETATTR, {0}, REFUSED(EPERM)});
}

/* The system call of a door: only in a cage is somebody there to answer it. */
static void only_a_cage_answers_doors(void **state)
{
    (void)state;
    EXPECT_WITH(0, UINT64_C(0x8877665544332211), {SYS_nfsservctl, {0}, REFUSED(EPERM)});
    EXPECT_WITH(CK_SECCOMP_CAGE, UINT64_C(0x8877665544332211), {SYS_nfsservctl, {0}, ASKED},
                {SYS_memfd_create, {0}, REFUSED(EPERM)}, {SYS_pidfd_getfd, {0}, REFUSED(EPERM)},
                {SYS_ptrace, {0}, REFUSED(EPERM)}, {SYS_socket, {0}, REFUSED(EAFNOSUPPORT)});
}

/* Each refusal of the one is a notification of the other, and nothing else is, except connect. */
static void what_egress_refuses_can_be_asked_about(void **state)
{
    (void)state;
    EXPECT(CK_SECCOMP_EGRESS, {SYS_socket, {AF_INET, SOCK_STREAM}, ALLOWED}, {SYS_connect, {0}, ALLOWED},
           {SYS_socket, {AF_INET, SOCK_DGRAM}, REFUSED(EAFNOSUPPORT)},
           {SYS_socket, {AF_UNIX, SOCK_STREAM}, REFUSED(EAFNOSUPPORT)},
           {SYS_sendto, {0, 0, 0, MSG_FASTOPEN}, REFUSED(EOPNOTSUPP)}, {SYS_bind, {0}, REFUSED(EPERM)});
    EXPECT(CK_SECCOMP_EGRESS | CK_SECCOMP_REPORT_ATTEMPTS, {SYS_socket, {AF_INET, SOCK_STREAM}, ALLOWED},
           {SYS_connect, {0}, ASKED}, {SYS_socket, {AF_INET, SOCK_DGRAM}, ASKED},
           {SYS_socket, {AF_UNIX, SOCK_STREAM}, ASKED}, {SYS_socket, {AF_PACKET, SOCK_RAW}, ASKED},
           {SYS_socket, {AF_INET6, SOCK_STREAM, 262}, ASKED}, {SYS_sendto, {0, 0, 0, MSG_FASTOPEN}, ASKED},
           {SYS_sendto, {0}, ALLOWED}, {SYS_sendmsg, {0, 0, MSG_FASTOPEN}, ASKED},
           {SYS_sendmmsg, {0, 0, 0, MSG_FASTOPEN}, ASKED}, {SYS_bind, {0}, REFUSED(EPERM)},
           {SYS_io_uring_setup, {0}, REFUSED(EPERM)});
}

/* Only the whole key passes, and only questions about execution are notified. */
static void executions_without_the_key_are_asked_about(void **state)
{
    (void)state;
    const uint64_t key = UINT64_C(0x8877665544332211), half = key >> 32 << 32;
    EXPECT_WITH(0, key, {SYS_execve, {0}, ASKED}, {SYS_execveat, {0}, ASKED},
                {SYS_execve, {0, 0, 0, 0, 0, key}, ALLOWED}, {SYS_execveat, {3, 0, 0, 0, 0, key}, ALLOWED},
                {SYS_execve, {0, 0, 0, 0, 0, key ^ 1}, ASKED},
                {SYS_execve, {0, 0, 0, 0, 0, key ^ UINT64_C(1) << 63}, ASKED}, {SYS_execve, {0, 0, 0, 0, key}, ASKED},
                {SYS_faccessat, {0, 0, X_OK}, ASKED}, {SYS_faccessat2, {0, 0, R_OK | X_OK}, ASKED},
                {SYS_faccessat, {0, 0, R_OK}, ALLOWED}, {SYS_faccessat2, {0, 0, F_OK}, ALLOWED},
                {SYS_process_vm_readv, {half | 7}, ALLOWED}, {SYS_process_vm_readv, {7}, REFUSED(EPERM)},
                {SYS_process_vm_readv, {half - 1}, REFUSED(EPERM)},
                {SYS_process_vm_readv, {half + (UINT64_C(1) << 32)}, REFUSED(EPERM)},
                {SYS_process_vm_writev, {half | 7}, REFUSED(EPERM)}, {SYS_ptrace, {half}, REFUSED(EPERM)});
    EXPECT_WITH(0, 0, {SYS_execve, {0}, ALLOWED}, {SYS_faccessat, {0, 0, X_OK}, ALLOWED},
                {SYS_process_vm_readv, {0}, REFUSED(EPERM)});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ordinary_calls_are_allowed),
        cmocka_unit_test(no_family_gets_a_socket),
        cmocka_unit_test(another_entry_kills),
#ifdef __x86_64__
        cmocka_unit_test(a_number_of_x32_kills),
#endif
        cmocka_unit_test(access_past_the_jail_is_refused),
        cmocka_unit_test(bits_that_the_kernel_does_not_look_at_do_not_help),
        cmocka_unit_test(reserving_is_not_supported_and_holes_are),
        cmocka_unit_test(what_hides_its_arguments_is_not_there),
        cmocka_unit_test(options_change_what_they_name),
        cmocka_unit_test(only_a_cage_answers_doors),
        cmocka_unit_test(what_egress_refuses_can_be_asked_about),
        cmocka_unit_test(executions_without_the_key_are_asked_about),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
