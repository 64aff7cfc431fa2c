/*
 * witness.c - a separate program: the first process of a container with a traced program. It is
 * beside a copy of strace, in a directory with a name that the image could not know, so nothing of
 * the image is there or links there.
 *
 *  PLACE/witness SECONDS PROGRAM ARG...   runs PROGRAM under strace, and ends the container
 *  PLACE/witness 0 PROGRAM ARG...         executed by strace: runs PROGRAM without access to it
 *
 * Nothing of the image is in strace. Its loader, libraries and own file come only from PLACE, and
 * the loader reads no other file (gather/trace/stage.c). Its environment is empty. The environment
 * of the image is passed to the second witness in memory, by a descriptor, and the program gets it
 * from there.
 *
 * Only the trace is written to stdout. The traced program has no descriptor of it: its own output
 * goes to stderr. It cannot take one from strace either, nor change what strace does: it is in its
 * own Landlock domain, and the kernel denies access to processes outside of the domain. That domain
 * forbids only what a container without capabilities cannot do anyway. Calls that strace could not
 * follow are refused (create.c).
 *
 * A container does not end with the client that started it, because the daemon holds it. So the
 * witness ends it: when its stdin ends, which the client holds open, on a signal, when SECONDS are
 * over, and when the trace has its maximum length. It is the first process of its pid namespace.
 * When it ends, the kernel kills all others, and none of them can end it.
 *
 * Its own lines begin with an equals sign, as no line of strace does:
 *
 *  =guard N    the Landlock ABI, or 0: the program could have changed the trace
 *  =filter N   1, or 0: the program could have left the trace
 *  =end WORD   why the container ends: "program", "time", "stdin", "signal", "length", "trace"
 *              (strace failed), "lost" (strace ended before what it traced)
 */
#include "run/keeper/keeper.h"

#include "run/create.h"
#include "run/keeper/nolibc.h"
#include "sys/raw.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/landlock.h>
#include <linux/prctl.h>
#include <linux/wait.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <time.h>

#define SECONDS_MAX 600
#define TRACE_MAX ((uint64_t)16 << 20)
#define DRAIN_NS 1000000000u /* when all other processes are dead, the rest of the trace is in the pipe already */
#define STRACE_ARGS 16       /* arguments of strace before those of the program */
#define STATIC_AT 3          /* index of strace itself, after its loader */
#define PROGRAM_ARGS_MAX 1024
#define VARIABLES_MAX 4096
#define PLACE_MAX 256 /* bytes, including the name of a file */
#define TRACE_FD 3
#define VARIABLES_FD 4
#define ASIDE_FD 16 /* numbers from here on do not collide with the two above */
#define SCOPED_ABI 6
#define SCOPE_SIGNAL 2u /* LANDLOCK_SCOPE_SIGNAL; older headers lack it */

/*
 * Calls that reach a file, a program or a peer; calls that create processes; and what a program
 * could try on its tracer. "?" marks calls that not every machine has.
 */
#define TRACED \
    "trace=execve,execveat,?open,openat,?openat2,?creat,socket,connect,bind,sendto,sendmsg," \
    "sendmmsg,open_by_handle_at,?fork,?vfork,clone,?clone3,unshare,prctl,?io_uring_setup,ptrace,process_vm_writev,?pidfd_getfd"

static void print(int fd, const char *text)
{
    (void)CK_RAW3(write, fd, text, ck_nolibc_length(text));
}

/* ---- the program ---- */

/*
 * Landlock needs at least one right, so block devices are restricted, which cannot be made without
 * a capability anyway. Signals to processes outside are restricted, too.
 */
static long isolate_tracer(void)
{
    uint64_t attr[3] = {LANDLOCK_ACCESS_FS_MAKE_BLOCK, 0, SCOPE_SIGNAL};
    long abi = CK_RAW3(landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (abi < 0)
        return abi;
    size_t size = abi >= SCOPED_ABI ? sizeof(attr) : sizeof(attr[0]);
    long fd = CK_RAW3(landlock_create_ruleset, attr, size, 0);
    long r = fd < 0 ? fd : CK_RAW5(prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (r == 0)
        r = CK_RAW2(landlock_restrict_self, fd, 0);
    ck_nolibc_close((int)fd);
    return r < 0 ? r : abi;
}

static const char *search_path(char **envp)
{
    for (; *envp; envp++)
        if ((*envp)[0] == 'P' && (*envp)[1] == 'A' && (*envp)[2] == 'T' && (*envp)[3] == 'H' && (*envp)[4] == '=')
            return *envp + 5;
    return "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
}

/* A name without a slash is searched as the daemon would do it: in the PATH of the image. */
static long execute(char **argv, char **envp)
{
    static char path[4096];
    size_t name = ck_nolibc_length(argv[0]);
    for (size_t i = 0; i < name; i++)
        if (argv[0][i] == '/')
            return ck_create_execute(-1, argv[0], argv, envp);
    long r = -ENOENT;
    for (const char *at = search_path(envp); *at != '\0';) {
        size_t length = 0;
        while (at[length] != '\0' && at[length] != ':')
            length++;
        if (length > 0 && length + name + 2 <= sizeof(path)) {
            memcpy(path, at, length);
            path[length] = '/';
            memcpy(path + length + 1, argv[0], name + 1);
            long tried = ck_create_execute(-1, path, argv, envp);
            r = tried == -EACCES ? tried : r;
        }
        at += at[length] == ':' ? length + 1 : length;
    }
    return r;
}

/* ---- the environment ---- */

/* A descriptor of a memory file with the variables, each with a NUL; or a negative errno. */
static long put_variables(char **envp)
{
    long fd = CK_RAW2(memfd_create, "variables", MFD_CLOEXEC);
    for (; fd >= 0 && *envp; envp++)
        for (size_t left = ck_nolibc_length(*envp) + 1, at = 0; left > 0;) {
            long wrote = CK_RAW3(write, fd, *envp + at, left);
            if (wrote <= 0)
                return wrote < 0 ? wrote : -EIO;
            at += (size_t)wrote;
            left -= (size_t)wrote;
        }
    return fd;
}

/* NULL if they are missing or too many. */
static char **take_variables(void)
{
    static char *variables[VARIABLES_MAX + 1];
    long length = CK_RAW3(lseek, VARIABLES_FD, 0, SEEK_END);
    if (length <= 0)
        return length == 0 ? variables : NULL;
    long mapped = CK_RAW6(mmap, NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE, VARIABLES_FD, 0);
    if (mapped < 0 && mapped > -4096)
        return NULL;
    char *at = (char *)mapped, *end = at + length;
    for (unsigned i = 0; at < end; i++) {
        if (i == VARIABLES_MAX)
            return NULL;
        variables[i] = at;
        at += ck_nolibc_length(at) + 1;
    }
    return variables;
}

static void print_number(const char *name, long number)
{
    char line[32];
    (void)ck_nolibc_append_text(ck_nolibc_append_number(ck_nolibc_append_text(line, name), number), "\n");
    print(TRACE_FD, line);
}

static long filter(void)
{
    long r = CK_RAW5(prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    return r < 0 ? r : ck_create_keep_traceable();
}

__attribute__((noreturn)) static void run_program(char **argv)
{
    char **envp = take_variables();
    if (!envp)
        ck_nolibc_exit(125);
    long abi = isolate_tracer();
    print_number("=guard ", abi > 0 ? abi : 0);
    print_number("=filter ", filter() == 0 ? 1 : 0);
    (void)CK_RAW3(close_range, TRACE_FD, ~0u, 0);
    long r = execute(argv, envp);
    ck_nolibc_exit(r == -ENOENT ? 127 : 126);
}

/* ---- strace ---- */

struct tracing {
    const char *self;    /* the path of this program */
    char **program_argv; /* of the program, NULL-terminated */
    int trace_fd;
    int variables_fd;
};

/* The path of another file in the directory of this program; the buffer has room for it. */
static char *beside(const char *self, const char *name, char path[PLACE_MAX])
{
    size_t length = ck_nolibc_length(self);
    while (length > 0 && self[length - 1] != '/')
        length--;
    memcpy(path, self, length);
    (void)ck_nolibc_append_text(path + length, name);
    return path;
}

static void arrange_descriptors(const struct tracing *tracing)
{
    uint64_t none = 0;
    long null = CK_RAW4(openat, AT_FDCWD, "/dev/null", O_RDONLY | O_NONBLOCK, 0);
    long trace = CK_RAW3(fcntl, tracing->trace_fd, F_DUPFD, ASIDE_FD);
    long variables = CK_RAW3(fcntl, tracing->variables_fd, F_DUPFD, ASIDE_FD);
    (void)CK_RAW3(dup3, null, 0, 0);
    (void)CK_RAW3(dup3, 2, 1, 0);
    (void)CK_RAW3(dup3, trace, TRACE_FD, 0);
    (void)CK_RAW3(dup3, variables, VARIABLES_FD, 0);
    (void)CK_RAW3(close_range, VARIABLES_FD + 1, ~0u, 0);
    (void)CK_RAW4(rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof(none));
}

__attribute__((noreturn)) static void exec_strace(void *argument)
{
    static char loader[PLACE_MAX], strace[PLACE_MAX], lib[PLACE_MAX], self[PLACE_MAX], path[] = "--library-path";
    static char follow[] = "-fqyx", blocked[] = "-I4", length[] = "-s256", e[] = "-e", traced[] = TRACED;
    /* Not signal=none: that would also hide which process was ended by a signal. */
    static char signals[] = "signal=all", o[] = "-o", out[] = "/proc/self/fd/3", ends[] = "--", zero[] = "0";
    static char *argv[STRACE_ARGS + PROGRAM_ARGS_MAX + 1], *none[] = {NULL};
    const struct tracing *tracing = argument;
    char *const own[] = {beside(tracing->self, "loader", loader),
                         path,
                         beside(tracing->self, "lib", lib),
                         beside(tracing->self, "strace", strace),
                         follow,
                         blocked,
                         length,
                         e,
                         traced,
                         e,
                         signals,
                         o,
                         out,
                         ends,
                         beside(tracing->self, "witness", self),
                         zero};
    _Static_assert(sizeof(own) / sizeof(own[0]) == STRACE_ARGS, "STRACE_ARGS must be the number of arguments");
    memcpy(argv, own, sizeof(own));
    for (unsigned i = 0; tracing->program_argv[i]; i++)
        argv[STRACE_ARGS + i] = tracing->program_argv[i];
    arrange_descriptors(tracing);
    (void)ck_create_execute(-1, loader, argv, none);
    (void)ck_create_execute(-1, strace, argv + STATIC_AT, none); /* a static strace has no loader beside it */
    ck_nolibc_exit(127);
}

/* ---- the watch ---- */

struct trace_watch {
    int pipe_fd; /* of strace; -1 after its end */
    int signal_fd;
    int32_t strace_pid;
    uint64_t deadline_ns;
    uint64_t relayed_bytes;
    bool in_line; /* the last byte was not a newline */
};

/*
 * Does not wait longer than the watch lasts: a client that does not read must not keep the
 * container alive.
 */
static bool put(const struct trace_watch *watch, const char *bytes, size_t length)
{
    while (length > 0) {
        struct pollfd polled = {.fd = 1, .events = POLLOUT};
        uint64_t now = ck_nolibc_now_ns(), last = watch->deadline_ns + DRAIN_NS;
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

/* Returns why the watch is over, or NULL. */
static const char *relay(struct trace_watch *watch)
{
    static char bytes[4096];
    long got = CK_RAW3(read, watch->pipe_fd, bytes, sizeof(bytes));
    if (got == -EINTR)
        return NULL;
    if (got <= 0) {
        ck_nolibc_close(watch->pipe_fd);
        watch->pipe_fd = -1;
        return NULL;
    }
    watch->in_line = bytes[got - 1] != '\n';
    watch->relayed_bytes += (uint64_t)got;
    if (!put(watch, bytes, (size_t)got))
        return "stdin";
    return watch->relayed_bytes >= TRACE_MAX ? "length" : NULL;
}

static const char *take_signals(struct trace_watch *watch)
{
    struct signalfd_siginfo info = {0};
    (void)CK_RAW3(read, watch->signal_fd, &info, sizeof(info));
    if (info.ssi_signo != SIGCHLD && info.ssi_signo != 0)
        return "signal";
    /* The others are orphans of the program, which have moved to us. */
    int status = 0;
    for (long pid; (pid = CK_RAW4(wait4, -1, &status, WNOHANG, NULL)) > 0;)
        if (pid == watch->strace_pid)
            watch->strace_pid = 0;
    if (watch->strace_pid != 0)
        return NULL;
    /*
     * strace ends as the program did: with its status, or by the same signal; with 127 or 1 if it
     * could not start. It waits for all that it traces, so if any process is left, strace was
     * killed. kill returns ESRCH if no process is left.
     */
    if (CK_RAW2(kill, -1, SIGKILL) != -ESRCH)
        return "lost";
    return watch->relayed_bytes > 0 ? "program" : "trace";
}

static const char *read_stdin(void)
{
    char bytes[256];
    long got = CK_RAW3(read, 0, bytes, sizeof(bytes));
    return got > 0 || got == -EINTR || got == -EAGAIN ? NULL : "stdin";
}

static const char *await_end(struct trace_watch *watch)
{
    for (const char *why = NULL;;) {
        const int fds[CK_NOLIBC_WAITED] = {0, watch->pipe_fd, watch->signal_fd, -1};
        unsigned ready = ck_nolibc_wait_readable(fds, watch->deadline_ns);
        if ((ready & 2) != 0)
            why = relay(watch);
        if (!why && (ready & 4) != 0)
            why = take_signals(watch);
        if (!why && (ready & 1) != 0)
            why = read_stdin();
        if (!why && ck_nolibc_now_ns() >= watch->deadline_ns)
            why = "time";
        if (why)
            return why;
    }
}

/* All other processes are killed first: then what strace has written is complete. */
__attribute__((noreturn)) static void end(struct trace_watch *watch, const char *why)
{
    (void)CK_RAW2(kill, -1, SIGKILL);
    uint64_t last = ck_nolibc_now_ns() + DRAIN_NS;
    const int fds[CK_NOLIBC_WAITED] = {-1, watch->pipe_fd, -1, -1};
    while (watch->pipe_fd >= 0 && ck_nolibc_wait_readable(fds, last) != 0)
        if (relay(watch))
            break;
    char line[32];
    (void)ck_nolibc_append_text(
        ck_nolibc_append_text(ck_nolibc_append_text(line, watch->in_line ? "\n=end " : "=end "), why), "\n");
    (void)put(watch, line, ck_nolibc_length(line));
    ck_nolibc_exit(0);
}

static uint64_t mask_of(int signal)
{
    return (uint64_t)1 << (signal - 1);
}

__attribute__((noreturn)) static void run_witness(long seconds, char **argv, char **envp)
{
    int ends[2] = {-1, -1};
    long variables_fd = put_variables(envp);
    uint64_t handled = mask_of(SIGCHLD) | mask_of(SIGTERM) | mask_of(SIGINT) | mask_of(SIGHUP) | mask_of(SIGQUIT);
    (void)CK_RAW5(prctl, PR_SET_DUMPABLE, 0, 0, 0, 0);
    (void)CK_RAW4(rt_sigprocmask, SIG_SETMASK, &handled, NULL, sizeof(handled));
    long signal_fd = CK_RAW4(signalfd4, -1, &handled, sizeof(handled), SFD_CLOEXEC | SFD_NONBLOCK);
    if (signal_fd < 0 || variables_fd < 0 || CK_RAW2(pipe2, ends, O_CLOEXEC) < 0)
        ck_nolibc_exit(125);
    struct tracing tracing = {
        .self = argv[0], .program_argv = argv + 2, .trace_fd = ends[1], .variables_fd = (int)variables_fd};
    struct trace_watch watch = {.pipe_fd = ends[0],
                                .signal_fd = (int)signal_fd,
                                .deadline_ns = ck_nolibc_now_ns() + (uint64_t)seconds * 1000000000u};
    long pid = ck_create_copied(exec_strace, &tracing, -1);
    if (pid < 0)
        ck_nolibc_exit(125);
    watch.strace_pid = (int32_t)pid;
    ck_nolibc_close(ends[1]);
    ck_nolibc_close((int)variables_fd);
    (void)CK_RAW3(fcntl, 1, F_SETFL, O_WRONLY | O_NONBLOCK);
    end(&watch, await_end(&watch));
}

void ck_keeper_start(const long *stack)
{
    char **argv = (char **)(uintptr_t)(stack + 1);
    char **envp = argv + stack[0] + 1;
    if (stack[0] < 3 || stack[0] > PROGRAM_ARGS_MAX || ck_nolibc_length(argv[0]) + sizeof("witness") > PLACE_MAX)
        ck_nolibc_exit(125);
    const char *at = argv[1];
    long seconds = ck_nolibc_parse_number(&at, at + ck_nolibc_length(at));
    if (*at != '\0' || seconds < 0 || seconds > SECONDS_MAX)
        ck_nolibc_exit(125);
    if (seconds == 0)
        run_program(argv + 2);
    run_witness(seconds, argv, envp);
}
