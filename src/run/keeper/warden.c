/*
 * warden.c - one run at a time, from the plan to the report.
 *
 * A run goes through phases, forward only:
 *
 *   running      until the tool ends, the deadline comes, or the caller cancels
 *   terminating  the tree has been sent SIGTERM; until it is gone or the grace is over
 *   killing      the tree is sent SIGKILL, again and again, until there is no child left
 *
 * The tool's own end moves a running run to killing if it left anything behind. The run is over when waitid says
 * ECHILD: being a subreaper, the warden then knows that no descendant is alive, and it is as clean as on the first
 * day, ready for the next plan.
 */
#include "run/keeper/keeper.h"

#include "run/create.h"

#include <errno.h>
#include <linux/prctl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define RETRY_NS 2000000u
#define CANCEL_GRACE_NS 50000000u
#define GIVE_UP_NS 20000000u

enum phase { RUNNING, TERMINATING, KILLING };

struct warden {
    const struct ck_keep *keep;
    int socket_fd;
    struct ck_cgroup cgroup;
};

struct run {
    int32_t pid;
    bool ended;    /* the tool itself was reaped */
    bool orphaned; /* the caller is gone */
    bool cgroup_killed;
    enum phase phase;
    uint64_t deadline_ns;
    uint64_t kill_ns;    /* of the first SIGKILL; then of the next */
    uint64_t give_up_ns; /* when blind: how long to wait for what SIGKILL may not have reached */
    int read_fds[2];
    struct ck_wire_report report;
};

/* Plans that fit are received here; larger ones come as a memfd. */
static _Alignas(16) unsigned char inbox[CK_WIRE_INLINE_MAX];

static void add_usage(struct ck_wire_report *report, const struct rusage *usage)
{
    report->user_us += (uint64_t)usage->ru_utime.tv_sec * 1000000u + (uint64_t)usage->ru_utime.tv_usec;
    report->system_us += (uint64_t)usage->ru_stime.tv_sec * 1000000u + (uint64_t)usage->ru_stime.tv_usec;
    if ((uint64_t)usage->ru_maxrss > report->max_rss_kib)
        report->max_rss_kib = (uint32_t)usage->ru_maxrss;
}

/* Reaps what is dead. True when no child is left. */
static bool reap(struct run *run)
{
    for (;;) {
        siginfo_t info = {0};
        struct rusage usage;
        long result = CK_RAW5(waitid, P_ALL, 0, &info, WEXITED | WNOHANG, &usage);
        if (result == -ECHILD)
            return true;
        if (result < 0 || info.si_pid == 0)
            return false;
        add_usage(&run->report, &usage);
        if (info.si_pid == run->pid) {
            run->ended = true;
            run->report.code = info.si_code;
            run->report.status = info.si_status;
        }
    }
}

/* Without /proc the tree cannot be walked, and without a cgroup it cannot be killed as a whole. */
static bool blind(const struct warden *warden)
{
    return warden->keep->proc_fd < 0 && warden->cgroup.kill_fd < 0;
}

/*
 * What can be reached then is the tool's process group. Its number is the tool's pid, which nobody else can have until
 * the tool is reaped; so the group is killed when the tool has ended and before it is reaped.
 */
static void signal_group(const struct run *run, int sig)
{
    if (!run->ended)
        (void)CK_RAW2(kill, -run->pid, sig);
}

static void kill_group_at_end(const struct run *run)
{
    siginfo_t info = {0};
    long result = CK_RAW5(waitid, P_PID, run->pid, &info, WEXITED | WNOHANG | WNOWAIT, NULL);
    if (result == 0 && info.si_pid == run->pid)
        signal_group(run, SIGKILL);
}

static void signal_tree(const struct warden *warden, const struct run *run, int sig)
{
    if (ck_tree_signal(warden->keep->proc_fd, sig, NULL, 0) < 0)
        signal_group(run, sig);
}

static enum ck_kill kill_strength(const struct warden *warden)
{
    if (warden->cgroup.kill_fd >= 0)
        return CK_KILL_CGROUP;
    return warden->keep->proc_fd >= 0 ? CK_KILL_SUBREAPER : CK_KILL_PGROUP;
}

/* POLLHUP on the reading end means that no process has the writing end any more. */
static bool stream_held(const struct run *run)
{
    struct pollfd polled[2] = {{.fd = run->read_fds[0]}, {.fd = run->read_fds[1]}};
    struct timespec now = {0};
    (void)CK_RAW5(ppoll, polled, 2, &now, NULL, 0);
    return (polled[0].revents & POLLHUP) == 0 || (polled[1].revents & POLLHUP) == 0;
}

static void enter_killing(struct warden *warden, struct run *run)
{
    if (run->phase != KILLING) {
        run->give_up_ns = ck_now_ns() + GIVE_UP_NS;
        if (stream_held(run))
            run->report.ending |= CK_ENDING_STREAM_HELD;
    }
    /* What is still there after one walk forks faster than we walk. */
    if (run->phase == KILLING && !run->cgroup_killed)
        run->cgroup_killed = ck_cgroup_kill(&warden->cgroup);
    run->phase = KILLING;
    signal_tree(warden, run, SIGKILL);
    run->kill_ns = ck_now_ns() + RETRY_NS;
}

static void enter_terminating(struct warden *warden, struct run *run, uint32_t why, uint64_t kill_ns)
{
    if (run->phase != RUNNING)
        return;
    run->phase = TERMINATING;
    run->report.ending |= why;
    run->kill_ns = kill_ns;
    signal_tree(warden, run, SIGTERM);
}

/* A message during a run can only be a cancel; an end of the socket means that the caller let go of the run. */
static void hear(struct warden *warden, struct run *run)
{
    struct ck_wire_simple message;
    unsigned fd_count;
    long got = ck_receive(warden->socket_fd, &message, sizeof message, NULL, 0, &fd_count);
    if (got <= 0)
        run->orphaned = true;
    else if (message.kind == CK_WIRE_CANCEL)
        enter_terminating(warden, run, CK_ENDING_CANCELLED, ck_now_ns() + CANCEL_GRACE_NS);
}

static uint64_t next_deadline(const struct run *run)
{
    return run->phase == RUNNING ? run->deadline_ns : run->kill_ns;
}

static void on_time(struct warden *warden, struct run *run)
{
    uint64_t now = ck_now_ns();
    if (run->phase == RUNNING && now >= run->deadline_ns)
        enter_terminating(warden, run, CK_ENDING_TIMED_OUT, run->kill_ns);
    if (run->phase != RUNNING && now >= run->kill_ns)
        enter_killing(warden, run);
}

/* False: something is left that cannot be found. */
static bool watch(struct warden *warden, struct run *run)
{
    for (;;) {
        /* Once orphaned there is nobody to listen to, and the closed socket would wake us for ever. */
        const int fds[3] = {warden->keep->sigchld_fd, run->orphaned ? -1 : warden->socket_fd,
                            run->orphaned ? -1 : warden->keep->caller_fd};
        unsigned ready = ck_wait_readable(fds, next_deadline(run));
        if (ready & 1) {
            ck_drain_signals(fds[0]);
            if (blind(warden))
                kill_group_at_end(run);
            if (reap(run))
                return true;
            if (run->ended && run->phase == RUNNING)
                enter_killing(warden, run);
        }
        if (ready & 2)
            hear(warden, run);
        if (ready & 4)
            run->orphaned = true;
        if (run->orphaned && run->phase != KILLING)
            enter_killing(warden, run);
        on_time(warden, run);
        if (blind(warden) && run->ended && run->phase == KILLING && ck_now_ns() >= run->give_up_ns)
            return false;
    }
}

/* Offsets into pointers, in place. */
static char *const *relocate(unsigned char *base, uint64_t table_at, uint32_t count)
{
    uint64_t *table = (void *)(base + table_at);
    for (uint32_t i = 0; i < count; i++)
        table[i] = (uint64_t)(uintptr_t)(base + table[i]);
    return (void *)table;
}

static void create(struct run *run, unsigned char *base, const int *fds)
{
    const struct ck_wire_plan *plan = (const void *)base;
    struct ck_child child = {
        .fds = fds,
        .argv = relocate(base, plan->argv_at, plan->argc),
        .envp = relocate(base, plan->env_at, plan->envc),
        .path = plan->path_at != 0 ? (const char *)base + plan->path_at : NULL,
        .ruleset_fd = plan->flags & CK_WIRE_HAS_RULESET ? fds[CK_WIRE_RULESET] : -1,
        .keep_executable = (plan->flags & CK_WIRE_KEEP_EXECUTABLE) != 0,
        .sealed = (plan->flags & CK_WIRE_SEALED) != 0,
    };
    run->deadline_ns = plan->deadline_ns;
    run->kill_ns = plan->kill_ns;
    long pid = ck_create_borrowed(ck_child_main, &child, NULL);
    run->pid = (int32_t)pid;
    run->report.stage = pid < 0 ? CK_STAGE_CREATE : child.failed_stage;
    run->report.error = pid < 0 ? (int32_t)-pid : child.failed_errno;
}

/* Returns false when the caller is gone. */
static bool serve_plan(struct warden *warden, unsigned char *base, const int *fds)
{
    const struct ck_wire_plan *plan = (const void *)base;
    struct run run = {.read_fds = {fds[CK_WIRE_STDOUT_READ], fds[CK_WIRE_STDERR_READ]},
                      .report = {.kind = CK_WIRE_REPORT}};
    /* A plan whose time is over is not begun: the caller may have given it up. */
    if (ck_now_ns() >= plan->deadline_ns)
        run.report.ending = CK_ENDING_TIMED_OUT;
    else
        create(&run, base, fds);
    for (int i = 0; i < CK_WIRE_STDOUT_READ; i++)
        ck_close(fds[i]);
    if (plan->flags & CK_WIRE_HAS_RULESET)
        ck_close(fds[CK_WIRE_RULESET]);
    bool clean = run.pid <= 0 || watch(warden, &run);
    for (int i = CK_WIRE_STDOUT_READ; i < CK_WIRE_FDS; i++)
        ck_close(fds[i]);
    run.report.kill = kill_strength(warden);
    run.report.ended_ns = ck_now_ns();
    /* With a stranger among its children, or outside of its cgroup, a warden is of no use for the next run. */
    bool fit = clean && !run.cgroup_killed;
    if (!fit)
        run.report.ending |= CK_ENDING_LAST;
    return !run.orphaned && ck_send(warden->socket_fd, &run.report, sizeof run.report, -1) >= 0 && fit;
}

/* A plan that could not be received whole. False when the caller is gone. */
static bool refuse_plan(const struct warden *warden, const int *fds, unsigned fd_count, long error)
{
    struct ck_wire_report report = {
        .kind = CK_WIRE_REPORT, .stage = CK_STAGE_CREATE, .error = (int32_t)-error, .ended_ns = ck_now_ns()};
    for (unsigned i = 0; i < fd_count; i++)
        ck_close(fds[i]);
    return ck_send(warden->socket_fd, &report, sizeof report, -1) >= 0;
}

static bool serve_large(struct warden *warden, const int *fds, unsigned fd_count)
{
    const struct ck_wire_large *large = (const void *)inbox;
    size_t size = large->size_bytes;
    long memory = CK_RAW6(mmap, NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fds[fd_count - 1], 0);
    if (memory < 0 && memory > -4096)
        return refuse_plan(warden, fds, fd_count, memory);
    bool alive = serve_plan(warden, (unsigned char *)memory, fds);
    (void)CK_RAW2(munmap, memory, size);
    ck_close(fds[fd_count - 1]);
    return alive;
}

/* Waits for one message of the caller's; false when there will be none. */
static bool serve(struct warden *warden)
{
    int fds[CK_WIRE_FDS_MAX];
    unsigned fd_count;
    const int waited[3] = {warden->socket_fd, warden->keep->caller_fd, -1};
    if (ck_wait_readable(waited, CK_FOREVER) & 2)
        return false;
    long got = ck_receive(warden->socket_fd, inbox, sizeof inbox, fds, CK_WIRE_FDS_MAX, &fd_count);
    if (got < (long)sizeof(struct ck_wire_simple))
        return false;
    const struct ck_wire_simple *message = (const void *)inbox;
    /* A cancel that crossed the report on its way is late, not wrong; anything else is a broken caller. */
    if (message->kind != CK_WIRE_PLAN && message->kind != CK_WIRE_LARGE)
        return message->kind == CK_WIRE_CANCEL;
    const struct ck_wire_order *order = (const void *)inbox;
    bool large = order->kind == CK_WIRE_LARGE;
    bool ruleset = (order->flags & CK_WIRE_HAS_RULESET) != 0;
    /* The kernel drops descriptors for which our table (the caller's limit) has no room. */
    if (fd_count != CK_WIRE_FDS + (large ? 1u : 0u) + (ruleset ? 1u : 0u))
        return refuse_plan(warden, fds, fd_count, -EMFILE);
    return large ? serve_large(warden, fds, fd_count) : serve_plan(warden, inbox, fds);
}

void ck_warden_main(const struct ck_keep *keep, int socket_fd, int cgroup_fd)
{
    struct warden warden = {.keep = keep, .socket_fd = socket_fd};
    (void)CK_RAW5(prctl, PR_SET_NAME, "choke-warden", 0, 0, 0);
    (void)CK_RAW5(prctl, PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    ck_cgroup_open(&warden.cgroup, keep->cgroup_fd, cgroup_fd);
    ck_close(cgroup_fd);
    struct ck_wire_simple hello = {.kind = CK_WIRE_HELLO};
    long pidfd = CK_RAW2(pidfd_open, CK_RAW0(getpid), 0);
    (void)ck_send(socket_fd, &hello, sizeof hello, (int)pidfd);
    ck_close((int)pidfd);
    while (serve(&warden))
        ;
    /* An empty directory is removed by the keeper, which outlives us and does it for killed wardens too. */
    ck_leave(0);
}
