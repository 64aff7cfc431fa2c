/*
 * nolibc.c - the entry point, and the few functions that a C library would provide. See nolibc.h.
 */
#include "run/keeper/nolibc.h"

#include "run/wire.h"
#include "sys/raw.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/prctl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>

#define TRIAL_SECONDS 10 /* run/trial.c waits longer */

/*
 * The kernel starts a program with the stack pointer at argc and no return address. The stack is
 * aligned to 16 bytes before the call, as the ABI requires, and its start is the argument.
 */
#if defined(__x86_64__)
__asm__(
    ".globl _start\n_start:\n\txor %ebp, %ebp\n\tmov %rsp, %rdi\n\tand $-16, %rsp\n\tcall ck_keeper_start\n\thlt\n");
#elif defined(__aarch64__)
__asm__(".globl _start\n_start:\n\tmov x29, #0\n\tmov x30, #0\n\tmov x0, sp\n\tbl ck_keeper_start\n\tbrk #0\n");
#endif

/*
 * Without this the compiler recognizes the loops as memcpy and memset and replaces them by calls of
 * themselves.
 */
#define NOT_A_PATTERN() __asm__ volatile("" ::: "memory")

void *memcpy(void *restrict dst, const void *restrict src, size_t length)
{
    unsigned char *to = dst;
    const unsigned char *from = src;
    while (length-- > 0) {
        *to++ = *from++;
        NOT_A_PATTERN();
    }
    return dst;
}

void *memset(void *dst, int byte, size_t length)
{
    unsigned char *to = dst;
    while (length-- > 0) {
        *to++ = (unsigned char)byte;
        NOT_A_PATTERN();
    }
    return dst;
}

size_t ck_nolibc_length(const char *text)
{
    size_t length = 0;
    while (text[length] != '\0') {
        length++;
        NOT_A_PATTERN();
    }
    return length;
}

char *ck_nolibc_append_text(char *at, const char *text)
{
    while (*text != '\0')
        *at++ = *text++;
    *at = '\0';
    return at;
}

/* The number must not be negative. */
char *ck_nolibc_append_number(char *at, long number)
{
    char digits[24];
    int n = 0;
    do {
        digits[n++] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    while (n > 0)
        *at++ = digits[--n];
    *at = '\0';
    return at;
}

long ck_nolibc_parse_number(const char **at, const char *end)
{
    long number = -1;
    for (; *at < end && **at >= '0' && **at <= '9'; (*at)++)
        number = (number < 0 ? 0 : number) * 10 + (**at - '0');
    return number;
}

uint64_t ck_nolibc_now_ns(void)
{
    struct timespec now;
    (void)CK_RAW2(clock_gettime, CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void ck_nolibc_close(int fd)
{
    if (fd >= 0)
        (void)CK_RAW1(close, fd);
}

void ck_nolibc_exit(int status)
{
    for (;;)
        (void)CK_RAW1(exit_group, status);
}

void ck_nolibc_drain_signals(int signal_fd)
{
    /* sizeof(struct signalfd_siginfo) is 128. One record is enough: waitid reports all children. */
    unsigned char info[128];
    (void)CK_RAW3(read, signal_fd, info, sizeof(info));
}

/* The record of getdents64, struct linux_dirent64 of the kernel, which no header exports. */
struct kernel_dirent {
    uint64_t inode;
    int64_t offset;
    uint16_t length;
    uint8_t type;
    char name[];
};

void ck_nolibc_each_entry(int directory_fd, void (*visit)(void *data, const char *name), void *data)
{
    _Alignas(struct kernel_dirent) char listing[2048];
    for (long got; (got = CK_RAW3(getdents64, directory_fd, listing, sizeof(listing))) > 0;) {
        for (long at = 0; at < got;) {
            const struct kernel_dirent *entry = (const void *)(listing + at);
            visit(data, entry->name);
            at += entry->length;
        }
    }
}

/* The kernel drops descriptors that do not fit the control buffer; those of a plan must fit. */
#define CONTROL_FDS CK_WIRE_FDS_MAX

long ck_nolibc_receive(int socket_fd, void *buffer, size_t size, int *ret_fds, unsigned max_fds, unsigned *ret_fd_count)
{
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(CONTROL_FDS * sizeof(int))];
    } control;
    struct iovec data = {.iov_base = buffer, .iov_len = size};
    struct msghdr message = {
        .msg_iov = &data, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
    *ret_fd_count = 0;
    /* Close-on-exec from the start, so that no tool inherits a received descriptor. */
    long got = CK_RAW3(recvmsg, socket_fd, &message, MSG_CMSG_CLOEXEC);
    if (got <= 0 || message.msg_controllen < sizeof(struct cmsghdr) || control.header.cmsg_type != SCM_RIGHTS)
        return got;
    unsigned count = (unsigned)((control.header.cmsg_len - CMSG_LEN(0)) / sizeof(int));
    for (unsigned i = 0; i < count; i++) {
        int fd;
        memcpy(&fd, CMSG_DATA(&control.header) + i * sizeof(fd), sizeof(fd));
        if (i < max_fds)
            ret_fds[(*ret_fd_count)++] = fd;
        else
            ck_nolibc_close(fd);
    }
    return got;
}

long ck_nolibc_send_fds(int socket_fd, const void *buffer, size_t size, const int *fds, unsigned fd_count)
{
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(CONTROL_FDS * sizeof(int))];
    } control = {
        .header = {.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(fd_count * sizeof(int))}};
    struct iovec data = {.iov_base = (void *)(uintptr_t)buffer, .iov_len = size};
    struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};
    if (fd_count > 0) {
        memcpy(CMSG_DATA(&control.header), fds, fd_count * sizeof(int));
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE(fd_count * sizeof(int));
    }
    /* A closed socket must give EPIPE, not a signal. */
    return CK_RAW3(sendmsg, socket_fd, &message, MSG_NOSIGNAL);
}

long ck_nolibc_send(int socket_fd, const void *buffer, size_t size, int fd)
{
    return ck_nolibc_send_fds(socket_fd, buffer, size, &fd, fd >= 0 ? 1 : 0);
}

unsigned ck_nolibc_wait_readable(const int fds[CK_NOLIBC_WAITED], uint64_t deadline_ns)
{
    struct pollfd polled[CK_NOLIBC_WAITED];
    for (int i = 0; i < CK_NOLIBC_WAITED; i++)
        polled[i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
    struct timespec left = {0};
    if (deadline_ns != CK_FOREVER) {
        uint64_t now = ck_nolibc_now_ns();
        uint64_t span = deadline_ns > now ? deadline_ns - now : 0;
        left.tv_sec = (time_t)(span / 1000000000u);
        left.tv_nsec = (long)(span % 1000000000u);
    }
    long ready = CK_RAW5(ppoll, polled, CK_NOLIBC_WAITED, deadline_ns == CK_FOREVER ? NULL : &left, NULL, 0);
    unsigned bits = 0;
    for (unsigned i = 0; ready > 0 && i < CK_NOLIBC_WAITED; i++)
        if (polled[i].revents != 0)
            bits |= 1u << i;
    return bits;
}

/* POLLHUP on the read end means that nobody has the write end open. */
bool ck_nolibc_is_written(const int read_fds[2])
{
    struct pollfd polled[2] = {{.fd = read_fds[0]}, {.fd = read_fds[1]}};
    struct timespec now = {0};
    (void)CK_RAW5(ppoll, polled, 2, &now, NULL, 0);
    return (polled[0].revents & POLLHUP) == 0 || (polled[1].revents & POLLHUP) == 0;
}

long ck_nolibc_open(const char *path, int flags)
{
    return CK_RAW4(openat, AT_FDCWD, path, flags | O_CLOEXEC, 0);
}

long ck_nolibc_write_file(const char *path, const char *text, const char *end)
{
    long fd = ck_nolibc_open(path, O_WRONLY);
    if (fd < 0)
        return fd;
    long r = CK_RAW3(write, fd, text, end - text);
    ck_nolibc_close((int)fd);
    return r < 0 ? r : 0;
}

/*
 * CLOSE_RANGE_CLOEXEC came with Linux 5.11; 5.9 and 5.10 answer EINVAL, older kernels ENOSYS. There one
 * descriptor is marked after the other. The keeper has closed what it inherited, and new descriptors
 * get the lowest free numbers: a keeper, a warden or a child never has NUMBERS of them.
 */
#define NUMBERS 1024

long ck_nolibc_close_on_exec_from(int first)
{
    long r = CK_RAW3(close_range, first, ~0u, CLOSE_RANGE_CLOEXEC);
    if (r != -EINVAL && r != -ENOSYS)
        return r;
    for (int fd = first; fd < NUMBERS; fd++) {
        r = CK_RAW3(fcntl, fd, F_SETFD, FD_CLOEXEC);
        if (r < 0 && r != -EBADF)
            return r;
    }
    return 0;
}

/*
 * The descriptors are first copied to numbers above all targets: one may be the target of another.
 */
long ck_nolibc_enter_trial(int *fds, unsigned count)
{
    static const struct itimerval time = {.it_value = {.tv_sec = TRIAL_SECONDS}};
    static const uint64_t none = 0;
    long moved[CK_TRIAL_FDS_MAX];
    int place = CK_TRIAL_FIRST_FD;
    for (unsigned i = 0; i < count; i++)
        moved[i] = fds[i] < 0 ? -1 : CK_RAW3(fcntl, fds[i], F_DUPFD_CLOEXEC, CK_TRIAL_FIRST_FD + CK_TRIAL_FDS_MAX);
    for (unsigned i = 0; i < count; i++) {
        if (fds[i] < 0)
            continue;
        long r = CK_RAW3(dup3, moved[i], place, O_CLOEXEC);
        if (r < 0)
            return r;
        fds[i] = place++;
    }
    /*
     * SIGALRM must be able to end the process, so the signals are unblocked; the keeper has blocked
     * all.
     */
    (void)CK_RAW5(prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    (void)CK_RAW3(setitimer, ITIMER_REAL, &time, NULL);
    (void)CK_RAW4(rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof(none));
    return CK_RAW3(close_range, place, ~0u, 0);
}
