/*
 * witness.c - the first process of a container whose program is traced: a program of its own, beside a copy of strace in
 * a directory that the container finds at CK_WITNESS_PLACE.
 *
 *   witness SECONDS PROGRAM ARG...   runs PROGRAM under strace, and ends the container
 *   witness 0 PROGRAM ARG...         what strace executes: PROGRAM, but without a way to strace
 *
 * What is written to stdout is the trace alone. The program that is watched has no descriptor of it: its own output goes
 * to stderr, whatever it prints. Nor can it take one from strace, or change what strace does: it is in a Landlock domain
 * of its own, and the kernel lets nobody look into a process outside of his domain. That domain forbids only what a
 * container without capabilities cannot do anyway.
 *
 * A container does not end with the client that started it; the daemon holds it. So the witness ends it: when its stdin
 * ends, which the client holds open, when it is told to, when SECONDS are over, and when the trace is as long as it may
 * be. It is the first process of its pid namespace: with it the kernel ends every other, and none of them can end it.
 *
 * Lines of its own begin with an equals sign, as no line of strace does:
 *
 *   =guard N    Landlock's version, or 0: the program could have changed the trace
 *   =end WORD   why the container ends: "program", "time", "stdin", "signal", "length", "trace" (strace failed)
 */
#include "run/keeper/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/landlock.h>
#include <linux/prctl.h>
#include <linux/wait.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <time.h>

#define CK_WITNESS_PLACE "/.chokepoint"
#define SECONDS_MAX 600
#define TRACE_MAX ((uint64_t)16 << 20)
#define DRAIN_NS 1000000000u /* what is left in the pipe when everybody is dead is there at once */
#define OWN_WORDS 16         /* of strace's command line, in front of the program's */
#define STATIC_AT 3          /* where strace itself stands */
#define PROGRAM_WORDS_MAX 1024
#define TRACE_FD 3
#define SCOPED_ABI 6
#define SCOPE_SIGNAL 2u /* LANDLOCK_SCOPE_SIGNAL, which older headers do not know */

/* What may be the way to a file, a program or a peer; and what a program would try on its tracer. */
#define TRACED \
    "trace=execve,execveat,?open,openat,?openat2,?creat,socket,connect,bind,sendto,sendmsg," \
    "ptrace,process_vm_writev,?pidfd_getfd"

static size_t length_of(const char *text)
{
    size_t length = 0;
    while (text[length] != '\0')
        length++;
    return length;
}

static void say(int fd, const char *text)
{
    (void)CK_RAW3(write, fd, text, length_of(text));
}

/* ---- the program ---- */

/* The kernel asks for one right at least: devices cannot be made without a capability. Signals to the outside, too. */
static long guard(void)
{
    uint64_t attr[3] = {LANDLOCK_ACCESS_FS_MAKE_BLOCK, 0, SCOPE_SIGNAL};
    long abi = CK_RAW3(landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (abi < 0)
        return abi;
    size_t size = abi >= SCOPED_ABI ? sizeof attr : sizeof attr[0];
    long fd = CK_RAW3(landlock_create_ruleset, attr, size, 0);
    long result = fd < 0 ? fd : CK_RAW5(prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (result == 0)
        result = CK_RAW2(landlock_restrict_self, fd, 0);
    ck_close((int)fd);
    return result < 0 ? result : abi;
}

static const char *search_path(char **envp)
{
    for (; *envp != NULL; envp++)
        if ((*envp)[0] == 'P' && (*envp)[1] == 'A' && (*envp)[2] == 'T' && (*envp)[3] == 'H' && (*envp)[4] == '=')
            return *envp + 5;
    return "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
}

/* A name without a slash is looked for as the daemon would: in the image's own PATH. */
static long execute(char **argv, char **envp)
{
    static char path[4096];
    size_t name = length_of(argv[0]);
    for (size_t i = 0; i < name; i++)
        if (argv[0][i] == '/')
            return ck_create_execute(-1, argv[0], argv, envp);
    long result = -ENOENT;
    for (const char *at = search_path(envp); *at != '\0';) {
        size_t length = 0;
        while (at[length] != '\0' && at[length] != ':')
            length++;
        if (length > 0 && length + name + 2 <= sizeof path) {
            memcpy(path, at, length);
            path[length] = '/';
            memcpy(path + length + 1, argv[0], name + 1);
            long tried = ck_create_execute(-1, path, argv, envp);
            result = tried == -EACCES ? tried : result;
        }
        at += at[length] == ':' ? length + 1 : length;
    }
    return result;
}

__attribute__((noreturn)) static void be_program(char **argv, char **envp)
{
    char line[32];
    long abi = guard();
    (void)ck_put_text(ck_put_number(ck_put_text(line, "=guard "), abi > 0 ? abi : 0), "\n");
    say(TRACE_FD, line);
    (void)CK_RAW3(close_range, TRACE_FD, ~0u, 0);
    long result = execute(argv, envp);
    ck_leave(result == -ENOENT ? 127 : 126);
}

/* ---- strace ---- */

struct tracing {
    char **words; /* the program's, NULL behind them */
    char **envp;
    int trace_fd;
};

__attribute__((noreturn)) static void be_strace(void *argument)
{
    static char loader[] = CK_WITNESS_PLACE "/loader", path[] = "--library-path", lib[] = CK_WITNESS_PLACE "/lib";
    static char strace[] = CK_WITNESS_PLACE "/strace", self[] = CK_WITNESS_PLACE "/witness", zero[] = "0";
    static char follow[] = "-fqyx", blocked[] = "-I4", length[] = "-s256", e[] = "-e", traced[] = TRACED;
    static char signals[] = "signal=none", o[] = "-o", out[] = "/proc/self/fd/3", ends[] = "--";
    static char *argv[OWN_WORDS + PROGRAM_WORDS_MAX + 1];
    char *const own[] = {loader, path, lib,     strace, follow, blocked, length, e,
                         traced, e,    signals, o,      out,    ends,    self,   zero};
    _Static_assert(sizeof own / sizeof own[0] == OWN_WORDS, "the words of strace have their places");
    const struct tracing *tracing = argument;
    memcpy(argv, own, sizeof own);
    for (unsigned i = 0; tracing->words[i] != NULL; i++)
        argv[OWN_WORDS + i] = tracing->words[i];
    uint64_t none = 0;
    long null = CK_RAW4(openat, AT_FDCWD, "/dev/null", O_RDONLY, 0);
    (void)CK_RAW3(dup3, null, 0, 0);
    (void)CK_RAW3(dup3, 2, 1, 0);
    if (tracing->trace_fd == TRACE_FD)
        (void)CK_RAW3(fcntl, tracing->trace_fd, F_SETFD, 0);
    else
        (void)CK_RAW3(dup3, tracing->trace_fd, TRACE_FD, 0);
    (void)CK_RAW3(close_range, TRACE_FD + 1, ~0u, 0);
    (void)CK_RAW4(rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof none);
    (void)ck_create_execute(-1, loader, argv, tracing->envp);
    (void)ck_create_execute(-1, strace, argv + STATIC_AT, tracing->envp); /* one without a loader has none beside it */
    ck_leave(127);
}

/* ---- the watch ---- */

struct watch {
    int pipe_fd; /* of strace; -1: at its end */
    int signal_fd;
    int32_t strace_pid;
    uint64_t deadline_ns;
    uint64_t relayed_bytes;
    bool in_line; /* the last byte was not the end of a line */
};

/* Never waits longer than the watch lasts: a client that does not read must not keep the container alive. */
static bool put(const struct watch *watch, const char *bytes, size_t length)
{
    while (length > 0) {
        struct pollfd polled = {.fd = 1, .events = POLLOUT};
        uint64_t now = ck_now_ns(), last = watch->deadline_ns + DRAIN_NS;
        uint64_t span = last > now ? last - now : 0;
        const struct timespec left = {.tv_sec = (time_t)(span / 1000000000u), .tv_nsec = (long)(span % 1000000000u)};
        if (CK_RAW5(ppoll, &polled, 1, &left, NULL, 0) <= 0)
            return false;
        long wrote = CK_RAW3(write, 1, bytes, length);
        if (wrote < 0 && wrote != -EAGAIN)
            return false;
        bytes += wrote > 0 ? wrote : 0;
        length -= wrote > 0 ? (size_t)wrote : 0;
    }
    return true;
}

/* Why the watch is over, or NULL. */
static const char *relay(struct watch *watch)
{
    static char bytes[4096];
    long got = CK_RAW3(read, watch->pipe_fd, bytes, sizeof bytes);
    if (got == -EINTR)
        return NULL;
    if (got <= 0) {
        ck_close(watch->pipe_fd);
        watch->pipe_fd = -1;
        return NULL;
    }
    watch->in_line = bytes[got - 1] != '\n';
    watch->relayed_bytes += (uint64_t)got;
    if (!put(watch, bytes, (size_t)got))
        return "stdin";
    return watch->relayed_bytes >= TRACE_MAX ? "length" : NULL;
}

static const char *take_signals(struct watch *watch)
{
    struct signalfd_siginfo info = {0};
    (void)CK_RAW3(read, watch->signal_fd, &info, sizeof info);
    if (info.ssi_signo != SIGCHLD && info.ssi_signo != 0)
        return "signal";
    /* Others are orphans of the program: they came to us, and are reaped. */
    int status = 0;
    for (long pid; (pid = CK_RAW4(wait4, -1, &status, WNOHANG, NULL)) > 0;)
        if (pid == watch->strace_pid)
            watch->strace_pid = 0;
    if (watch->strace_pid != 0)
        return NULL;
    /* strace ends as the program did; by a signal it ends itself in the same way, and as 127 or 1 before it began. */
    return watch->relayed_bytes > 0 ? "program" : "trace";
}

static const char *hear_stdin(void)
{
    char bytes[256];
    long got = CK_RAW3(read, 0, bytes, sizeof bytes);
    return got > 0 || got == -EINTR || got == -EAGAIN ? NULL : "stdin";
}

static const char *await_end(struct watch *watch)
{
    for (const char *why = NULL;;) {
        const int fds[3] = {0, watch->pipe_fd, watch->signal_fd};
        unsigned ready = ck_wait_readable(fds, watch->deadline_ns);
        if ((ready & 2) != 0)
            why = relay(watch);
        if (why == NULL && (ready & 4) != 0)
            why = take_signals(watch);
        if (why == NULL && (ready & 1) != 0)
            why = hear_stdin();
        if (why == NULL && ck_now_ns() >= watch->deadline_ns)
            why = "time";
        if (why != NULL)
            return why;
    }
}

/* Everybody else is ended first: what strace has written by then is all that there will be. */
__attribute__((noreturn)) static void end(struct watch *watch, const char *why)
{
    (void)CK_RAW2(kill, -1, SIGKILL);
    uint64_t last = ck_now_ns() + DRAIN_NS;
    const int fds[3] = {-1, watch->pipe_fd, -1};
    while (watch->pipe_fd >= 0 && ck_wait_readable(fds, last) != 0)
        if (relay(watch) != NULL)
            break;
    char line[32];
    (void)ck_put_text(ck_put_text(ck_put_text(line, watch->in_line ? "\n=end " : "=end "), why), "\n");
    (void)put(watch, line, length_of(line));
    ck_leave(0);
}

static uint64_t mask_of(int signal)
{
    return (uint64_t)1 << (signal - 1);
}

__attribute__((noreturn)) static void be_witness(long seconds, char **words, char **envp)
{
    int ends[2] = {-1, -1};
    uint64_t heard = mask_of(SIGCHLD) | mask_of(SIGTERM) | mask_of(SIGINT) | mask_of(SIGHUP) | mask_of(SIGQUIT);
    (void)CK_RAW5(prctl, PR_SET_DUMPABLE, 0, 0, 0, 0);
    (void)CK_RAW4(rt_sigprocmask, SIG_SETMASK, &heard, NULL, sizeof heard);
    long signal_fd = CK_RAW4(signalfd4, -1, &heard, sizeof heard, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signal_fd < 0 || CK_RAW2(pipe2, ends, O_CLOEXEC) < 0)
        ck_leave(125);
    struct tracing tracing = {.words = words, .envp = envp, .trace_fd = ends[1]};
    struct watch watch = {
        .pipe_fd = ends[0], .signal_fd = (int)signal_fd, .deadline_ns = ck_now_ns() + (uint64_t)seconds * 1000000000u};
    long pid = ck_create_copied(be_strace, &tracing, -1);
    if (pid < 0)
        ck_leave(125);
    watch.strace_pid = (int32_t)pid;
    ck_close(ends[1]);
    (void)CK_RAW3(fcntl, 1, F_SETFL, O_WRONLY | O_NONBLOCK);
    end(&watch, await_end(&watch));
}

void ck_main(const long *stack)
{
    char **argv = (char **)(uintptr_t)(stack + 1);
    char **envp = argv + stack[0] + 1;
    if (stack[0] < 3 || stack[0] > PROGRAM_WORDS_MAX)
        ck_leave(125);
    const char *at = argv[1];
    long seconds = ck_take_number(&at, at + length_of(at));
    if (*at != '\0' || seconds < 0 || seconds > SECONDS_MAX)
        ck_leave(125);
    if (seconds == 0)
        be_program(argv + 2, envp);
    be_witness(seconds, argv + 2, envp);
}
