/*
 * door.c - a separate program: what stands at the path of a tool in the cage of guard.
 *
 * Executing it hands the call to the guard, which judges it and runs the tool outside of the cage
 * (docs/adr/0100, base/door_wire.h, docs/adr/0105):
 *
 *   describe   the open descriptors, limits, mask of permissions, priority; before it opens one itself
 *   connect    the system call that the filter of the cage gives to init
 *   hand over  texts and descriptors, usually in one message
 *   wait       forwards signals until the guard says how the tool ended, and ends in the same way
 *
 * Nothing here protects anything. The tree in the cage can do all of it without this program, and
 * the guard trusts no message. It is made to be fast, for it is executed once for each call: one
 * segment, no writable data, no loader. The arguments and variables are sent from where the kernel
 * put them.
 *
 * The signals that it forwards are blocked from the beginning and read from a signalfd. A handler
 * would need writable data to know the socket, and a signal between a look and the wait would be
 * lost. Signals that the caller ignores or blocks stay so: then the tool does not see them either.
 */
#include "run/keeper/keeper.h"

#include "base/door_wire.h"
#include "run/keeper/nolibc.h"
#include "sys/raw.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/prctl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <time.h>

#define PATH_BYTES 4096
#define PAUSE_MIN_NS 500000u /* between two attempts to connect; doubled up to the maximum */
#define PAUSE_MAX_NS 50000000u
#define PATIENCE_NS (60 * UINT64_C(1000000000)) /* a guard without a place for this long */
#define SEGMENTS 4 /* of texts: directory, own file, executed path, and what the kernel put in one place */
#define TEXT_MAX (CK_DOOR_MESSAGE_MAX - sizeof(struct ck_door_text))
#define FORWARDED_MAX 31

/* SIGCHLD is not for the tool; the others are KILL, STOP and those of a fault of the door itself. */
#define NOT_FORWARDED \
    (MASK_OF(SIGKILL) | MASK_OF(SIGSTOP) | MASK_OF(SIGCHLD) | MASK_OF(SIGILL) | MASK_OF(SIGTRAP) | MASK_OF(SIGBUS) | \
     MASK_OF(SIGFPE) | MASK_OF(SIGSEGV) | MASK_OF(SIGSYS))
/* By default a process does not end by these. */
#define NOT_FATAL \
    (MASK_OF(SIGCONT) | MASK_OF(SIGTSTP) | MASK_OF(SIGTTIN) | MASK_OF(SIGTTOU) | MASK_OF(SIGWINCH) | MASK_OF(SIGURG))
#define MASK_OF(signal) (UINT64_C(1) << ((signal)-1))

/* struct sigaction of the kernel, which no header exports. */
struct kernel_sigaction {
    uintptr_t handler;
    unsigned long flags;
#if defined(__x86_64__)
    uintptr_t restorer;
#endif
    uint64_t mask;
};

struct door_segment {
    const char *text;
    size_t bytes;
};

struct door {
    struct ck_door_begin begin;
    struct door_segment segments[SEGMENTS];
    int32_t numbers[CK_DOOR_FDS_MAX]; /* of the descriptors that were open */
    int32_t null_fd;                  /* handed over in place of 0; -1: it is not */
    bool has_stderr;
    bool too_many; /* descriptors */
    int socket_fd;
    int signal_fd;
    uint64_t sent; /* the mask of the signals that were forwarded */
    char directory[PATH_BYTES], own_file[PATH_BYTES];
};

/* ---- how it ends ---- */

/* A descriptor 2 that the door opened itself is the guard's socket. */
static void say(const struct door *door, const char *text, size_t bytes)
{
    if (door->has_stderr)
        (void)CK_RAW3(write, 2, text, bytes);
}

__attribute__((noreturn)) static void fail(const struct door *door, const char *message)
{
    say(door, message, ck_nolibc_length(message));
    ck_nolibc_exit(CK_DOOR_STATUS_REFUSED);
}

/* The caller sees the same as from the tool. A core file would show the door, not the tool. */
__attribute__((noreturn)) static void end_by_signal(int signal)
{
    const struct kernel_sigaction usual = {0};
    const uint64_t mask = MASK_OF(signal);
    (void)CK_RAW5(prctl, PR_SET_DUMPABLE, 0, 0, 0, 0);
    (void)CK_RAW4(rt_sigaction, signal, &usual, NULL, sizeof(usual.mask));
    (void)CK_RAW2(kill, CK_RAW0(getpid), signal);
    (void)CK_RAW4(rt_sigprocmask, SIG_UNBLOCK, &mask, NULL, sizeof(mask));
    ck_nolibc_exit(128 + signal);
}

/* ---- describe ---- */

static void note_descriptor(struct door *door, int32_t number)
{
    if (door->begin.fd_count == CK_DOOR_FDS_MAX) {
        door->too_many = true;
        return;
    }
    door->numbers[door->begin.fd_count++] = number;
    door->has_stderr = door->has_stderr || number == 2;
}

/* The listing itself is one of them for as long as it is open. */
static void note_entry(void *data, const char *name)
{
    struct door *door = data;
    const char *at = name;
    long number = ck_nolibc_parse_number(&at, name + ck_nolibc_length(name));
    if (number >= 0 && number != door->socket_fd)
        note_descriptor(door, (int32_t)number);
}

/* False: the limit of this process is lower than the numbers that it may have, or memory is short. */
static bool ask_for_descriptors(struct door *door)
{
    const struct timespec at_once = {0};
    struct pollfd asked[CK_DOOR_NUMBERS];
    for (int32_t i = 0; i < CK_DOOR_NUMBERS; i++)
        asked[i] = (struct pollfd){.fd = i};
    if (CK_RAW5(ppoll, asked, CK_DOOR_NUMBERS, &at_once, NULL, 0) < 0)
        return false;
    for (int32_t i = 0; i < CK_DOOR_NUMBERS; i++)
        if ((asked[i].revents & POLLNVAL) == 0)
            note_descriptor(door, i);
    return true;
}

static void list_descriptors(struct door *door)
{
    long fd = ck_nolibc_open("/proc/self/fd", O_RDONLY | O_DIRECTORY);
    if (fd < 0)
        fail(door, "chokepoint: the door cannot list its descriptors\n");
    door->socket_fd = (int)fd;
    ck_nolibc_each_entry((int)fd, note_entry, door);
    ck_nolibc_close((int)fd);
    door->socket_fd = -1;
}

/*
 * The files of /proc about a process are made for the first that asks, and removed when the process ends: that
 * costs as much as all else that a door does, so it asks without them where it can.
 */
static void find_descriptors(struct door *door)
{
    if (!ask_for_descriptors(door))
        list_descriptors(door);
    if (door->too_many)
        fail(door, "chokepoint: more than 64 descriptors are open: the door cannot hand them over; close some\n");
}

/*
 * The kernel stops a background process that reads from its terminal. The tool is in no group of
 * this terminal, so it would read what is typed for the foreground.
 */
static void give_no_terminal(struct door *door)
{
    int foreground = 0;
    if (door->begin.fd_count > 0 && door->numbers[0] == 0 && CK_RAW3(ioctl, 0, TIOCGPGRP, &foreground) == 0 &&
        foreground != CK_RAW1(getpgid, 0))
        door->null_fd = (int32_t)ck_nolibc_open("/dev/null", O_RDONLY);
}

static void describe_process(struct door *door)
{
    struct ck_door_begin *begin = &door->begin;
    begin->kind = CK_DOOR_BEGIN;
    begin->umask_bits = (uint32_t)CK_RAW1(umask, 0);
    (void)CK_RAW1(umask, begin->umask_bits);
    begin->nice = 20 - (int32_t)CK_RAW2(getpriority, PRIO_PROCESS, 0); /* the system call returns 20 - nice */
    for (int i = 0; i < CK_DOOR_RLIMITS; i++)
        (void)CK_RAW4(prlimit64, 0, i, NULL, &begin->rlimits[i]);
}

static const char *executed_path(char **variables_end)
{
    for (const Elf64_auxv_t *entry = (const void *)(variables_end + 1); entry->a_type != AT_NULL; entry++)
        if (entry->a_type == AT_EXECFN)
            return (const char *)(uintptr_t)entry->a_un.a_val;
    return "";
}

/*
 * Whether the path is absolute and no name in it is a link. openat2 would say it at once, but the filter of the cage
 * refuses that: its flags are in memory. part: room for a path.
 */
static bool is_real_path(const char *path, char part[PATH_BYTES])
{
    char target;
    size_t length = ck_nolibc_length(path);
    if (path[0] != '/' || length >= PATH_BYTES)
        return false;
    for (size_t i = 0; i <= length; i++) {
        bool ends = path[i] == '/' || path[i] == '\0';
        if (ends && i > 0) {
            bool dots = path[i - 1] == '/' || path[i - 1] == '.'; /* "//", "/./", "/../", and what ends so */
            part[i] = '\0';
            if (dots || CK_RAW4(readlinkat, AT_FDCWD, part, &target, sizeof(target)) != -EINVAL)
                return false;
        }
        part[i] = path[i];
    }
    return true;
}

/* As /proc/self/exe has it. */
static const char *own_file(struct door *door, const char *executed)
{
    if (is_real_path(executed, door->own_file))
        return executed;
    long length = CK_RAW4(readlinkat, AT_FDCWD, "/proc/self/exe", door->own_file, sizeof(door->own_file) - 1);
    door->own_file[length > 0 ? length : 0] = '\0';
    return door->own_file;
}

static struct door_segment text_of(const char *text)
{
    return (struct door_segment){text, ck_nolibc_length(text) + 1};
}

/* The kernel puts arguments and variables next to each other, in their order, each with its NUL. */
static void describe_texts(struct door *door, const long *stack)
{
    char **arguments = (char **)(uintptr_t)(stack + 1);
    char **variables = arguments + stack[0] + 1;
    door->begin.argc = (uint32_t)stack[0];
    while (variables[door->begin.envc])
        door->begin.envc++;
    if (CK_RAW2(getcwd, door->directory, sizeof(door->directory)) < 0)
        door->directory[0] = '\0';
    const char *executed = executed_path(variables + door->begin.envc);
    const char *last = door->begin.envc > 0 ? variables[door->begin.envc - 1] : arguments[stack[0] - 1];
    size_t bytes = (size_t)(last - arguments[0]) + ck_nolibc_length(last) + 1;
    door->segments[0] = text_of(door->directory);
    door->segments[1] = text_of(own_file(door, executed));
    door->segments[2] = text_of(executed);
    door->segments[3] = (struct door_segment){arguments[0], bytes};
    for (int i = 0; i < SEGMENTS; i++)
        bytes += i < SEGMENTS - 1 ? door->segments[i].bytes : 0;
    if (bytes > CK_DOOR_TEXT_MAX || (uint64_t)door->begin.argc + door->begin.envc > CK_DOOR_STRINGS_MAX)
        fail(door, "chokepoint: the arguments and variables are too large for the door\n");
    door->begin.text_bytes = (uint32_t)bytes;
}

/* ---- connect ---- */

static void pause_ns(uint64_t span)
{
    const struct timespec time = {.tv_nsec = (long)span};
    (void)CK_RAW2(nanosleep, &time, NULL);
}

/* Returns false when the patience is over. */
static bool pause_longer(uint64_t *pause, uint64_t deadline_ns)
{
    pause_ns(*pause);
    *pause = *pause * 2 > PAUSE_MAX_NS ? PAUSE_MAX_NS : *pause * 2;
    return ck_nolibc_now_ns() < deadline_ns;
}

/* A call is counted once: the second argument says whether it has had a connection before. */
static void connect_to_guard(struct door *door, bool again, uint64_t *pause, uint64_t deadline_ns)
{
    for (;;) {
        long fd = ck_raw(CK_DOOR_CONNECT, (long)CK_DOOR_MAGIC, again, 0, 0, 0, 0);
        if (fd >= 0) {
            door->socket_fd = (int)fd;
            return;
        }
        if (fd == -EMFILE)
            fail(door, "chokepoint: the door cannot open one more descriptor; close some, or raise their limit\n");
        if (fd == -EPERM)
            fail(door, "chokepoint: this file is no door of this guard\n");
        if (fd != -EAGAIN && fd != -EINTR)
            fail(door, "chokepoint: this is a door, and only works in the cage of chokepoint guard\n");
        if (!pause_longer(pause, deadline_ns))
            fail(door, "chokepoint: the guard has no place for this call; fewer calls at a time will help\n");
    }
}

/* ---- hand over ---- */

/* What has been sent of the call. */
struct progress {
    unsigned segment;
    size_t offset; /* in the segment */
    size_t text_bytes;
    unsigned fd_count;
};

/* One message: its head, the next texts and the next descriptors. */
struct door_part {
    void *head;
    size_t head_bytes;
    size_t text_bytes;
    unsigned fd_count;
    int32_t *numbers; /* in the head */
};

/* The kernel bounds a user's descriptors in flight: ETOOMANYREFS until the guard has received some. */
static bool may_pass(long r)
{
    return r == -EAGAIN || r == -EINTR || r == -ETOOMANYREFS || r == -ENOBUFS || r == -ENOMEM;
}

/* Returns the count of entries in parts. */
static size_t put_texts(const struct door *door, struct progress *progress, size_t left, struct iovec *parts)
{
    size_t count = 0;
    progress->text_bytes += left;
    while (left > 0) {
        const struct door_segment *segment = &door->segments[progress->segment];
        size_t bytes = segment->bytes - progress->offset < left ? segment->bytes - progress->offset : left;
        parts[count++] =
            (struct iovec){.iov_base = (void *)(uintptr_t)(segment->text + progress->offset), .iov_len = bytes};
        left -= bytes;
        progress->offset += bytes;
        if (progress->offset == segment->bytes) {
            progress->offset = 0;
            progress->segment++;
        }
    }
    return count;
}

/* Returns false if the guard has closed the socket; its answer says why. */
static bool send_part(const struct door *door, struct progress *progress, const struct door_part *part,
                      uint64_t deadline_ns)
{
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(CK_DOOR_FDS_PER_MESSAGE * sizeof(int))];
    } control = {.header = {.cmsg_level = SOL_SOCKET,
                            .cmsg_type = SCM_RIGHTS,
                            .cmsg_len = CMSG_LEN(part->fd_count * sizeof(int))}};
    struct iovec parts[1 + SEGMENTS] = {{.iov_base = part->head, .iov_len = part->head_bytes}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 1};
    uint64_t pause = PAUSE_MIN_NS;
    for (unsigned i = 0; i < part->fd_count; i++) {
        int32_t number = door->numbers[progress->fd_count++];
        int fd = number == 0 && door->null_fd >= 0 ? door->null_fd : number;
        part->numbers[i] = number;
        memcpy(CMSG_DATA(&control.header) + i * sizeof(fd), &fd, sizeof(fd));
    }
    if (part->fd_count > 0) {
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE(part->fd_count * sizeof(int));
    }
    message.msg_iovlen += put_texts(door, progress, part->text_bytes, parts + 1);
    for (;;) {
        long r = CK_RAW3(sendmsg, door->socket_fd, &message, MSG_NOSIGNAL);
        if (r >= 0 || !may_pass(r) || !pause_longer(&pause, deadline_ns))
            return r >= 0;
    }
}

static size_t smaller(size_t one, size_t other)
{
    return one < other ? one : other;
}

static bool hand_over(struct door *door, uint64_t deadline_ns)
{
    struct progress progress = {0};
    struct door_part part = {.head = &door->begin,
                             .head_bytes = sizeof(door->begin),
                             .text_bytes = smaller(door->begin.text_bytes, CK_DOOR_MESSAGE_MAX - sizeof(door->begin)),
                             .fd_count = (unsigned)smaller(door->begin.fd_count, CK_DOOR_FDS_PER_MESSAGE),
                             .numbers = door->begin.numbers};
    door->begin.fds_here = part.fd_count;
    bool sent = send_part(door, &progress, &part, deadline_ns);
    while (sent && progress.text_bytes < door->begin.text_bytes) {
        size_t bytes = smaller(door->begin.text_bytes - progress.text_bytes, TEXT_MAX);
        struct ck_door_text text = {.kind = CK_DOOR_TEXT, .bytes = (uint32_t)bytes};
        part = (struct door_part){.head = &text, .head_bytes = sizeof(text), .text_bytes = bytes};
        sent = send_part(door, &progress, &part, deadline_ns);
    }
    while (sent && progress.fd_count < door->begin.fd_count) {
        unsigned count = (unsigned)smaller(door->begin.fd_count - progress.fd_count, CK_DOOR_FDS_PER_MESSAGE);
        struct ck_door_fds fds = {.kind = CK_DOOR_FDS, .count = count};
        part = (struct door_part){.head = &fds, .head_bytes = sizeof(fds), .fd_count = count, .numbers = fds.numbers};
        sent = send_part(door, &progress, &part, deadline_ns);
    }
    return sent;
}

/* ---- wait ---- */

static void take_signals(struct door *door)
{
    uint64_t blocked = 0, wanted = 0;
    for (int signal = 1; signal <= FORWARDED_MAX; signal++) {
        struct kernel_sigaction now = {0};
        (void)CK_RAW4(rt_sigaction, signal, NULL, &now, sizeof(now.mask));
        if (now.handler == (uintptr_t)SIG_IGN)
            door->begin.ignored |= MASK_OF(signal);
        else if ((MASK_OF(signal) & NOT_FORWARDED) == 0)
            wanted |= MASK_OF(signal);
    }
    (void)CK_RAW4(rt_sigprocmask, SIG_BLOCK, &wanted, &blocked, sizeof(blocked));
    wanted &= ~blocked;
    long fd = CK_RAW4(signalfd4, -1, &wanted, sizeof(wanted), SFD_CLOEXEC | SFD_NONBLOCK);
    if (fd < 0)
        fail(door, "chokepoint: the door cannot wait for signals: no descriptor or memory is left\n");
    door->signal_fd = (int)fd;
}

static void send_signal(struct door *door, uint32_t signal)
{
    const struct ck_door_signal message = {.kind = CK_DOOR_SIGNAL, .signal = signal};
    (void)ck_nolibc_send(door->socket_fd, &message, sizeof(message), -1);
    door->sent |= MASK_OF(signal);
}

/*
 * By the same signal and not by SIGSTOP: the kernel ignores it where nobody could continue the process,
 * because no shell is above it (an orphaned process group). Then the tool, which has been stopped
 * meanwhile, continues, too. After a stop SIGCONT comes as a signal of its own.
 */
static void stop_by(struct door *door, uint32_t signal)
{
    const uint64_t mask = MASK_OF(signal);
    uint64_t pending = 0;
    (void)CK_RAW2(kill, CK_RAW0(getpid), signal);
    (void)CK_RAW4(rt_sigprocmask, SIG_UNBLOCK, &mask, NULL, sizeof(mask));
    (void)CK_RAW4(rt_sigprocmask, SIG_BLOCK, &mask, NULL, sizeof(mask));
    (void)CK_RAW2(rt_sigpending, &pending, sizeof(pending));
    if ((pending & MASK_OF(SIGCONT)) == 0)
        send_signal(door, SIGCONT);
}

static void forward_signal(struct door *door)
{
    struct signalfd_siginfo info = {0};
    if (CK_RAW3(read, door->signal_fd, &info, sizeof(info)) != (long)sizeof(info))
        return;
    send_signal(door, info.ssi_signo);
    if (info.ssi_signo == SIGTSTP || info.ssi_signo == SIGTTIN || info.ssi_signo == SIGTTOU)
        stop_by(door, info.ssi_signo);
}

/*
 * What the caller waits for must not wait for the door: a pipe whose other end the tool has closed.
 * Descriptor 2 stays for what the guard has to say.
 */
static void close_streams(struct door *door)
{
    for (unsigned i = 0; i < door->begin.fd_count; i++)
        if (door->numbers[i] != 2)
            ck_nolibc_close(door->numbers[i]);
    ck_nolibc_close(door->null_fd);
    door->begin.fd_count = 0;
}

__attribute__((noreturn)) static void end_as(const struct door *door, const struct ck_door_end *end, const char *says)
{
    say(door, says, end->says_bytes < CK_DOOR_SAYS_MAX ? end->says_bytes : CK_DOOR_SAYS_MAX);
    if (end->how == CK_DOOR_SIGNALED && end->value >= 1 && end->value <= 64)
        end_by_signal((int)end->value);
    ck_nolibc_exit((int)(end->value & 0xff));
}

/* Returns if the guard had no place. */
static void wait_for_end(struct door *door)
{
    struct {
        struct ck_door_end end;
        char says[CK_DOOR_SAYS_MAX];
    } answer;
    for (;;) {
        const int fds[CK_NOLIBC_WAITED] = {door->socket_fd, door->signal_fd, -1, -1};
        unsigned ready = ck_nolibc_wait_readable(fds, CK_FOREVER);
        if ((ready & 2) != 0)
            forward_signal(door);
        if ((ready & 1) == 0)
            continue;
        answer.end.says_bytes = 0;
        long got = CK_RAW6(recvfrom, door->socket_fd, &answer, sizeof(answer), 0, NULL, NULL);
        if (got == -EINTR || got == -EAGAIN)
            continue;
        if (got < (long)sizeof(struct ck_door_simple))
            fail(door, "chokepoint: the guard is gone\n");
        if (answer.end.kind == CK_DOOR_BUSY)
            return;
        if (answer.end.kind == CK_DOOR_STARTED)
            close_streams(door);
        if (answer.end.kind == CK_DOOR_END && got >= (long)(sizeof(answer.end) + answer.end.says_bytes))
            end_as(door, &answer.end, answer.says);
    }
}

/* No tool exists, so what was meant to end it ends the door. */
static void take_back_signals(const struct door *door)
{
    for (int signal = 1; signal <= FORWARDED_MAX; signal++)
        if ((door->sent & ~NOT_FATAL & MASK_OF(signal)) != 0)
            end_by_signal(signal);
}

void ck_keeper_start(const long *stack)
{
    struct door door;
    uint64_t pause = PAUSE_MIN_NS, deadline_ns = ck_nolibc_now_ns() + PATIENCE_NS;
    memset(&door.begin, 0, sizeof(door.begin));
    door.has_stderr = door.too_many = false;
    door.sent = 0;
    door.null_fd = door.socket_fd = door.signal_fd = -1;
    find_descriptors(&door);
    give_no_terminal(&door);
    describe_process(&door);
    describe_texts(&door, stack);
    take_signals(&door);
    for (bool again = false;; again = true) {
        connect_to_guard(&door, again, &pause, deadline_ns);
        (void)hand_over(&door, deadline_ns);
        wait_for_end(&door);
        ck_nolibc_close(door.socket_fd);
        take_back_signals(&door);
        if (!pause_longer(&pause, deadline_ns))
            fail(&door, "chokepoint: the guard has no place for this call; fewer calls at a time will help\n");
    }
}
