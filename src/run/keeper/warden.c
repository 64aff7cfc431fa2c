/*
 * warden.c - one run at a time, from the plan to the report.
 *
 * A run goes through phases, only forward:
 *
 *  running      until the tool ends, the deadline passes, or the caller cancels
 *  terminating  the tree was sent SIGTERM; until it is gone or the grace period is over
 *  killing      the tree is sent SIGKILL, again and again, until no child is left
 *
 * If the tool ends while processes of it remain, the run moves from running to killing. The run is
 * over when waitid returns ECHILD: the warden is a subreaper, so no descendant is alive then. In the
 * native jail it is also over when init says that nothing but itself is left in the pid namespace:
 * the report is sent while the kernel takes the namespaces down, and the end of init is waited for
 * after it. The warden is then in the same state as at its start, and ready for the next plan.
 */
#include "run/keeper/warden.h"

#include "run/create.h"
#include "run/keeper/bwrap.h"
#include "run/keeper/cgroup.h"
#include "run/keeper/child.h"
#include "run/keeper/init.h"
#include "run/keeper/init_report.h"
#include "run/keeper/nolibc.h"
#include "run/keeper/pass_signal.h"
#include "run/keeper/pump.h"
#include "run/keeper/ready.h"
#include "run/keeper/tree.h"
#include "run/keeper/warden_jail.h"
#include "sys/raw.h"

#include <errno.h>
#include <linux/prctl.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define RETRY_NS 2000000u         /* between two walks over the tree with SIGKILL */
#define CANCEL_GRACE_NS 50000000u /* between SIGTERM and SIGKILL of a cancelled run */
#define GIVE_UP_NS 20000000u      /* for processes that SIGKILL cannot be sent to */
#define NS_PER_S UINT64_C(1000000000)
#define NEVER UINT64_MAX

/* How often CPU time is read: more often close to the limit, but not all the time. */
#define CPU_CHECK_MIN_NS 10000000u
#define CPU_CHECK_MAX_NS 500000000u
#define CPU_CHECK_PART 64

enum phase { RUNNING, TERMINATING, KILLING };

struct warden {
    const struct ck_keeper_env *env;
    int socket_fd;
    struct ck_cgroup cgroup;
    struct ck_limiter limiter;
    bool sealed; /* its runs can execute nothing but their tool, by seal_key; the seal is for life */
    uint64_t seal_key;
    int alone_fd; /* an eventfd of init, which says that the run is over; -1: no jail */
    struct ck_warden_jail jail;
    struct ck_ready ready; /* the process of the next tool, without a jail */
    unsigned char *inbox;  /* for messages, CK_WIRE_INLINE_MAX bytes; a plan that does not fit comes in a memfd */
};

struct warden_run {
    int32_t pid;
    int32_t pump_pid;             /* of the process that copies stdin; 0: none */
    bool stdin_cut;               /* that process ended before it had copied everything */
    bool ended;                   /* the tool itself was reaped */
    bool init_ends;               /* the run is over, and its init has still to end */
    bool init_tells;              /* then: init sends the report */
    bool orphaned;                /* the caller is gone */
    const struct ck_child *taken; /* the process received the plan itself (ready.h); NULL: the warden did */
    bool cgroup_killed;
    enum phase phase;
    uint64_t deadline_ns;
    uint64_t kill_ns;    /* time of the next SIGKILL */
    uint64_t give_up_ns; /* if the tree is unreachable: when to stop waiting for what SIGKILL may have missed */
    uint64_t cpu_limit_ns;
    uint64_t cpu_check_ns;         /* when to read CPU time; NEVER: no limit, or no cgroup counts it */
    struct ck_pass_signal signals; /* that came before the tool existed */
    int read_fds[2];
    int overlay_fd;                     /* changes of the run in its overlay; -1: no overlay */
    struct ck_init_status *init_status; /* NULL: not in a jail */
    bool in_bwrap;                      /* bwrap makes the jail */
    struct ck_wire_report report;
};

/* Where there is no memory that a prepared init shares. */
static _Alignas(16) unsigned char own_inbox[CK_WIRE_INLINE_MAX];

static void add_usage(struct ck_wire_report *report, const struct rusage *usage)
{
    report->user_us += ck_nolibc_us(usage->ru_utime);
    report->system_us += ck_nolibc_us(usage->ru_stime);
    if ((uint64_t)usage->ru_maxrss > report->max_rss_kib)
        report->max_rss_kib = (uint32_t)usage->ru_maxrss;
}

/*
 * The child is the tool, or the init of a jail. The init has written how the tool ended, unless it
 * was killed itself.
 */
static void note_end(struct warden_run *run, const siginfo_t *info)
{
    const struct ck_init_status *init_status = run->init_status;
    run->ended = true;
    run->report.code = info->si_code;
    run->report.status = info->si_status;
    if (run->taken) {
        run->report.stage = run->taken->failed_stage;
        run->report.error = run->taken->failed_errno;
    }
    if (!init_status)
        return;
    run->report.stage = init_status->stage;
    run->report.error = init_status->error;
    if (init_status->ended != 0)
        ck_init_report_take_end(&run->report, init_status);
}

/* Reaps dead children. True when no child is left. */
static bool reap(struct warden_run *run)
{
    for (;;) {
        siginfo_t info = {0};
        struct rusage usage;
        long r = CK_RAW5(waitid, P_ALL, 0, &info, WEXITED | WNOHANG, &usage);
        if (r == -ECHILD)
            return true;
        if (r < 0 || info.si_pid == 0)
            return false;
        if (info.si_pid == run->pump_pid) {
            run->pump_pid = 0;
            /* In the other phases the pump may have been ended by our own signal. */
            run->stdin_cut = run->phase == RUNNING && ck_pump_cut(info.si_code, info.si_status);
            continue;
        }
        add_usage(&run->report, &usage);
        if (info.si_pid == run->pid) {
            note_end(run, &info);
            bool cut = ck_pump_end(&run->pump_pid);
            run->stdin_cut = run->stdin_cut || (run->phase == RUNNING && cut);
        }
    }
}

/* False: init reports that the run has ended by itself, so it must not be ended in another way. */
static bool may_end(const struct warden_run *run)
{
    return !run->init_status || ck_init_report_claim(&run->init_status->own_report);
}

/* What init has written about the end of the tool, before it said that nothing else is left. */
static void take_end(struct warden_run *run)
{
    note_end(run, &(siginfo_t){.si_code = CLD_EXITED});
    ck_init_report_take_usage(&run->report, run->init_status);
}

/*
 * Init says that the tool has ended and that nothing else is left in its pid namespace. So the report
 * can be sent while the kernel takes the namespace down. False: the run goes on, or it is being
 * ended, and then the end of init is waited for.
 */
static bool take_alone(const struct warden *warden, struct warden_run *run)
{
    const struct ck_init_status *init_status = run->init_status;
    uint64_t count;
    (void)CK_RAW3(read, warden->alone_fd, &count, sizeof(count));
    if (!init_status || init_status->alone == 0 || run->phase != RUNNING || run->ended || !may_end(run))
        return false;
    take_end(run);
    bool cut = ck_pump_end(&run->pump_pid);
    run->stdin_cut = run->stdin_cut || cut;
    run->init_ends = true;
    return true;
}

/*
 * After the report, and after the mounts of the run have been moved away: init uses none of them any
 * more. The next run begins when it is gone.
 */
static void await_init(const struct warden *warden, struct warden_run *run)
{
    siginfo_t info = {0};
    if (!run->init_ends)
        return;
    (void)CK_RAW5(waitid, P_PID, run->pid, &info, WEXITED, NULL);
    ck_nolibc_drain_signals(warden->env->sigchld_fd);
}

/* Without /proc the tree cannot be walked, and without a cgroup it cannot be killed as a whole. */
static bool tree_unreachable(const struct warden *warden)
{
    return warden->env->proc_fd < 0 && warden->cgroup.kill_fd < 0;
}

/*
 * Then only the process group of the tool can be reached. Its number is the pid of the tool, which
 * no other process can get until the tool is reaped. So the group is killed after the tool has
 * ended and before it is reaped.
 */
static void signal_group(const struct warden_run *run, int sig)
{
    if (!run->ended)
        (void)CK_RAW2(kill, -run->pid, sig);
}

static void kill_group_at_end(const struct warden_run *run)
{
    siginfo_t info = {0};
    long r = CK_RAW5(waitid, P_PID, run->pid, &info, WEXITED | WNOHANG | WNOWAIT, NULL);
    if (r == 0 && info.si_pid == run->pid)
        signal_group(run, SIGKILL);
}

static void signal_tree(const struct warden *warden, const struct warden_run *run, int sig)
{
    if (ck_tree_signal(warden->env->proc_fd, sig, NULL, 0) < 0)
        signal_group(run, sig);
}

static enum ck_kill kill_strength(const struct warden *warden)
{
    if (warden->jail.entered)
        return CK_KILL_PIDNS;
    if (warden->cgroup.kill_fd >= 0)
        return CK_KILL_CGROUP;
    return warden->env->proc_fd >= 0 ? CK_KILL_SUBREAPER : CK_KILL_PGROUP;
}

static void enter_killing(struct warden *warden, struct warden_run *run)
{
    if (run->phase == RUNNING && !may_end(run))
        return;
    if (run->phase != KILLING) {
        run->give_up_ns = ck_nolibc_now_ns() + GIVE_UP_NS;
        if (ck_nolibc_is_written(run->read_fds))
            run->report.ending |= CK_ENDING_STREAM_HELD;
    }
    /*
     * What is still alive after one walk forks faster than we walk, so the whole cgroup is killed.
     */
    if (run->phase == KILLING && !run->cgroup_killed)
        run->cgroup_killed = ck_cgroup_kill(&warden->cgroup);
    run->phase = KILLING;
    signal_tree(warden, run, SIGKILL);
    run->kill_ns = ck_nolibc_now_ns() + RETRY_NS;
}

static void enter_terminating(struct warden *warden, struct warden_run *run, int sig, uint32_t why, uint64_t kill_ns)
{
    if (run->phase != RUNNING || !may_end(run))
        return;
    run->phase = TERMINATING;
    run->report.ending |= why;
    run->kill_ns = kill_ns;
    signal_tree(warden, run, sig);
}

/* CPU time of all processes of the run together. The kernel limits only each one separately. */
static void check_cpu(struct warden *warden, struct warden_run *run, uint64_t now)
{
    uint64_t used = ck_limiter_cpu_ns(&warden->limiter);
    uint64_t span = used < run->cpu_limit_ns ? (run->cpu_limit_ns - used) / CPU_CHECK_PART : 0;
    if (used >= run->cpu_limit_ns) {
        run->report.limit_hit |= 1u << CK_LIMIT_CPU;
        enter_terminating(warden, run, SIGXCPU, 0, now + CANCEL_GRACE_NS);
    }
    span = span < CPU_CHECK_MIN_NS ? CPU_CHECK_MIN_NS : span > CPU_CHECK_MAX_NS ? CPU_CHECK_MAX_NS : span;
    run->cpu_check_ns = now + span;
}

/* During a run: a cancel, a signal, or the end of the socket, by which the caller closes the run. */
static void receive_cancel(struct warden *warden, struct warden_run *run)
{
    struct ck_wire_signal message = {0};
    unsigned fd_count;
    long got = ck_nolibc_receive(warden->socket_fd, &message, sizeof(message), NULL, 0, &fd_count);
    if (got <= 0)
        run->orphaned = true;
    else if (message.kind == CK_WIRE_CANCEL)
        enter_terminating(warden, run, SIGTERM, CK_ENDING_CANCELLED, ck_nolibc_now_ns() + CANCEL_GRACE_NS);
    else if (message.kind == CK_WIRE_SIGNAL && run->phase == RUNNING)
        ck_pass_signal(&run->signals, warden->env->proc_fd, run->pid, message.signal);
}

/*
 * The tool saw the end of the pipe as the end of its input, so what it does is not what was asked
 * for.
 */
static void end_if_stdin_cut(struct warden *warden, struct warden_run *run)
{
    if (!run->stdin_cut || run->phase != RUNNING)
        return;
    run->report.ending |= CK_ENDING_CANCELLED | CK_ENDING_STDIN_CUT;
    if (!run->ended)
        enter_terminating(warden, run, SIGTERM, 0, ck_nolibc_now_ns() + CANCEL_GRACE_NS);
}

static uint64_t next_deadline(const struct warden_run *run)
{
    if (run->phase != RUNNING)
        return run->kill_ns;
    uint64_t first = run->cpu_check_ns < run->deadline_ns ? run->cpu_check_ns : run->deadline_ns;
    return run->signals.again_ns < first ? run->signals.again_ns : first;
}

static void check_deadlines(struct warden *warden, struct warden_run *run)
{
    uint64_t now = ck_nolibc_now_ns();
    if (run->phase == RUNNING && now >= run->deadline_ns)
        enter_terminating(warden, run, SIGTERM, CK_ENDING_TIMED_OUT, run->kill_ns);
    if (run->phase == RUNNING && now >= run->cpu_check_ns)
        check_cpu(warden, run, now);
    if (run->phase == RUNNING && now >= run->signals.again_ns)
        ck_pass_signal_again(&run->signals, warden->env->proc_fd, run->pid);
    if (run->phase != RUNNING && now >= run->kill_ns)
        enter_killing(warden, run);
}

/* False: processes are left that cannot be found. */
static bool watch(struct warden *warden, struct warden_run *run)
{
    for (;;) {
        /* Once orphaned, the closed socket would wake us for ever, so it is not polled any more. */
        const int fds[CK_NOLIBC_WAITED] = {warden->env->sigchld_fd, run->orphaned ? -1 : warden->socket_fd,
                                           run->orphaned ? -1 : warden->env->caller_fd, warden->alone_fd};
        unsigned ready = ck_nolibc_wait_readable(fds, next_deadline(run));
        /* Before the socket is read: the next plan may be there already. */
        if (run->init_status && ck_init_report_is_init(&run->init_status->own_report)) {
            run->init_ends = run->init_tells = true;
            return true;
        }
        if ((ready & 8) && take_alone(warden, run)) {
            end_if_stdin_cut(warden, run);
            return true;
        }
        if (ready & 1) {
            ck_nolibc_drain_signals(fds[0]);
            if (tree_unreachable(warden))
                kill_group_at_end(run);
            bool alone = reap(run);
            end_if_stdin_cut(warden, run);
            if (alone)
                return true;
            if (run->ended && run->phase == RUNNING)
                enter_killing(warden, run);
        }
        if (ready & 2)
            receive_cancel(warden, run);
        if (ready & 4)
            run->orphaned = true;
        if (run->orphaned && run->phase != KILLING)
            enter_killing(warden, run);
        check_deadlines(warden, run);
        if (tree_unreachable(warden) && run->ended && run->phase == KILLING && ck_nolibc_now_ns() >= run->give_up_ns)
            return false;
    }
}

/* If the run has limits, creates the process in the leaf that holds them. */
static long create_borrowed(const struct warden *warden, ck_create_child child, void *argument)
{
    int leaf_fd = warden->limiter.leaf_fd;
    return leaf_fd < 0 ? ck_create_borrowed(child, argument, NULL) : ck_create_borrowed_in(child, argument, leaf_fd);
}

/* The status begins with a failure: bwrap has not started init until init writes otherwise. */
static long create_bwrap(const struct warden *warden, struct warden_run *run, struct ck_child *child, bool gate)
{
    struct ck_bwrap_child bwrap_child = {
        .child = child, .bwrap_fds = child->fds + CK_WIRE_BWRAP, .gate_fd = gate ? warden->socket_fd : -1};
    long status_fd = ck_bwrap_make_status(&run->init_status);
    if (status_fd < 0)
        return status_fd;
    bwrap_child.status_fd = (int)status_fd;
    *run->init_status = (struct ck_init_status){.stage = CK_STAGE_JAIL,
                                                .error = EPROTO,
                                                .rlimit_count = child->rlimit_count,
                                                .null_stdin = child->null_stdin ? 1 : 0,
                                                .sealed = child->sealed ? 1 : 0};
    memcpy(run->init_status->rlimits, child->rlimits, sizeof(child->rlimits));
    run->in_bwrap = true;
    long pid = create_borrowed(warden, ck_bwrap_main, &bwrap_child);
    if (pid > 0 && child->failed_stage != CK_STAGE_NONE) {
        run->init_status->stage = child->failed_stage;
        run->init_status->error = child->failed_errno;
    }
    ck_nolibc_close(bwrap_child.status_fd);
    return pid;
}

/*
 * If the tool did not run, takes the first line that bwrap wrote. A run that we ended before that
 * has not failed. If init was killed from outside, bwrap exits with a number made from the signal,
 * so the status is corrected.
 */
static void take_status(struct warden_run *run)
{
    if (run->report.stage != CK_STAGE_NONE && run->phase != RUNNING)
        run->report.stage = CK_STAGE_NONE;
    if (run->report.stage == CK_STAGE_NONE && run->init_status->ended == 0 && run->report.code == CLD_EXITED) {
        run->report.code = CLD_KILLED;
        run->report.status = SIGKILL;
    }
    run->report.held = run->init_status->held;
    if (run->report.stage == CK_STAGE_NONE)
        run->report.error = run->init_status->shortage;
    const char *message = (const char *)run->init_status + CK_INIT_STATUS_MESSAGE_AT;
    uint32_t length = 0;
    while (run->report.stage != CK_STAGE_NONE && length < CK_WIRE_MESSAGE_MAX - 1 && message[length] != '\0' &&
           message[length] != '\n') {
        run->report.message[length] = message[length];
        length++;
    }
    run->report.message[length] = '\0';
    (void)CK_RAW2(munmap, run->init_status, CK_INIT_STATUS_BYTES);
}

static struct ck_init_run jailed_run(struct warden *warden, const struct ck_wire_plan *plan, struct ck_child *child)
{
    return (struct ck_init_run){
        .jail = &warden->jail.native,
        .child = child,
        .main = ck_child_main,
        .argument = child,
        .root_fd = child->fds[CK_WIRE_CWD],
        .root_path = (const char *)plan + plan->root_at,
        .workspace = plan->workspace,
        .overlay_fd = -1,
        .enter_fd = warden->limiter.enter_fd,
        .ended_fd = warden->env->sigchld_fd,
        .alone_fd = warden->alone_fd,
        .report_fd = warden->socket_fd,
        .gate_fd = warden->socket_fd,
        .failed_stage = CK_STAGE_JAIL,
    };
}

/* After a run: it has been reset, and its init has ended. */
static void prepare_next(struct warden *warden, const struct ck_wire_plan *plan, const int *fds)
{
    struct ck_child child = {.fds = fds};
    struct ck_init_run jailed = jailed_run(warden, plan, &child);
    if ((plan->flags & CK_WIRE_AGAIN) == 0)
        return;
    if (!warden->jail.entered) {
        ck_ready_make(&warden->ready, plan, warden->seal_key);
        return;
    }
    ck_limiter_prefer_oom(&warden->limiter, true);
    ck_warden_jail_prepare(&warden->jail, &jailed, ck_limiter_prefers_oom(&warden->limiter));
    ck_limiter_prefer_oom(&warden->limiter, false);
}

/*
 * Creates the tool, or the init of its jail. How a tool in a jail ended is known when init has
 * ended.
 */
static long create_process(struct warden *warden, struct warden_run *run, const struct ck_wire_plan *plan,
                           struct ck_child *child)
{
    if (plan->flags & CK_WIRE_HAS_BWRAP) {
        long pid = create_bwrap(warden, run, child, (plan->flags & CK_WIRE_HAS_GATE) != 0);
        run->report.stage = pid < 0 ? CK_STAGE_CREATE : CK_STAGE_NONE;
        run->report.error = pid < 0 ? (int32_t)-pid : 0;
        return pid;
    }
    if (!warden->jail.entered) {
        long pid = create_borrowed(warden, ck_child_main, child);
        run->report.stage = pid < 0 ? CK_STAGE_CREATE : child->failed_stage;
        run->report.error = pid < 0 ? (int32_t)-pid : child->failed_errno;
        return pid;
    }
    struct ck_init_run jailed = jailed_run(warden, plan, child);
    child->cwd = (const char *)plan + plan->cwd_at;
    run->init_status = warden->jail.native.init_status;
    long pid = ck_warden_jail_start(&warden->jail, &jailed, ck_limiter_prefers_oom(&warden->limiter));
    run->overlay_fd = jailed.overlay_fd;
    run->report.stage = pid < 0 ? jailed.failed_stage : CK_STAGE_NONE;
    run->report.error = pid < 0 ? (int32_t)-pid : 0;
    return pid;
}

/* False: a limit cannot be enforced. */
static bool apply_limits(struct warden *warden, struct warden_run *run, const struct ck_wire_plan *plan,
                         struct ck_child *child)
{
    struct ck_limiter *limiter = &warden->limiter;
    bool in_bwrap = (plan->flags & CK_WIRE_HAS_BWRAP) != 0;
    /* The init, and bwrap itself, which stays outside. */
    unsigned helpers = in_bwrap ? 2 : warden->jail.entered ? 1 : 0;
    limiter->own_userns = warden->jail.own_userns || in_bwrap;
    limiter->extra_in_group = plan->flags & CK_WIRE_PUMP_STDIN ? 1 : 0;
    limiter->extra_of_user = in_bwrap ? 0 : limiter->extra_in_group;
    long r =
        ck_limiter_begin(limiter, plan->limits, helpers, child->rlimits, &child->rlimit_count, run->report.limit_held);
    run->report.stage = r < 0 ? CK_STAGE_LIMITS : CK_STAGE_NONE;
    run->report.error = (int32_t)-r;
    run->cpu_limit_ns = plan->limits[CK_LIMIT_CPU] * NS_PER_S;
    if (run->cpu_limit_ns != 0 && run->report.limit_held[CK_LIMIT_CPU] != CK_HELD_RLIMIT)
        run->cpu_check_ns = ck_nolibc_now_ns() + CPU_CHECK_MIN_NS;
    return r == 0;
}

/*
 * False: the stdin of the tool could not be made. The source is closed: no process of the run may
 * have it.
 */
static bool make_stdin(struct warden_run *run, const struct ck_wire_plan *plan, int *fds)
{
    if ((plan->flags & CK_WIRE_PUMP_STDIN) == 0)
        return true;
    int pipe_fd = -1;
    long pid = ck_pump_make(fds[CK_WIRE_STDIN], &pipe_fd);
    ck_nolibc_close(fds[CK_WIRE_STDIN]);
    fds[CK_WIRE_STDIN] = pipe_fd;
    run->pump_pid = pid < 0 ? 0 : (int32_t)pid;
    run->report.stage = pid < 0 ? CK_STAGE_STDIO : CK_STAGE_NONE;
    run->report.error = pid < 0 ? (int32_t)-pid : 0;
    return pid > 0;
}

/*
 * False: the seal could not be made. Made once, before the first sealed run: the warden executes
 * nothing itself. bwrap does, so its init makes the seal. Where init names what is refused, it
 * refuses every execution of a sealed tool itself (exec_names.c): of two filters the kernel follows
 * the one that refuses, and would notify nobody.
 */
static bool seal(struct warden *warden, struct warden_run *run, const struct ck_wire_plan *plan, struct ck_child *child)
{
    bool names_execs =
        warden->jail.entered && warden->jail.native.program && warden->jail.native.program->exec_key != 0;
    if ((plan->flags & CK_WIRE_SEALED) == 0 || (plan->flags & CK_WIRE_HAS_BWRAP) != 0 || names_execs)
        return true;
    long r = warden->sealed ? 0 : CK_RAW5(prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (r == 0 && !warden->sealed)
        r = ck_create_seal(&warden->seal_key);
    warden->sealed = r == 0;
    child->seal_key = warden->seal_key;
    run->report.stage = r < 0 ? CK_STAGE_EXECS : CK_STAGE_NONE;
    run->report.error = (int32_t)-r;
    return r == 0;
}

static void create(struct warden *warden, struct warden_run *run, unsigned char *base, int *fds)
{
    const struct ck_wire_plan *plan = (const void *)base;
    struct ck_child child;
    ck_child_plan(&child, base, fds);
    run->deadline_ns = plan->deadline_ns;
    run->kill_ns = plan->kill_ns;
    if (!seal(warden, run, plan, &child) || !apply_limits(warden, run, plan, &child) || !make_stdin(run, plan, fds))
        return;
    child.stdin_fd = fds[CK_WIRE_STDIN];
    long r = plan->flags & CK_WIRE_HAS_FILTER ? ck_child_map_filter(&child, fds[CK_WIRE_FILTER]) : 0;
    if (r < 0) {
        run->report.stage = CK_STAGE_CALLS;
        run->report.error = (int32_t)-r;
        return;
    }
    ck_limiter_prefer_oom(&warden->limiter, true);
    run->pid = (int32_t)create_process(warden, run, plan, &child);
    ck_limiter_prefer_oom(&warden->limiter, false);
    ck_child_unmap_filter(&child);
}

/*
 * Limits without a cgroup are recognized by how the tool ended, unless we ended it. The kernel
 * sends SIGKILL to a process that continues after SIGXCPU.
 */
static void note_hits(const struct warden *warden, struct warden_run *run, const uint64_t *limits)
{
    struct ck_wire_report *report = &run->report;
    bool killed =
        run->ended && report->code != CLD_EXITED && (report->ending & (CK_ENDING_TIMED_OUT | CK_ENDING_CANCELLED)) == 0;
    uint64_t used_us = report->user_us + report->system_us;
    if (report->stage != CK_STAGE_NONE)
        return;
    report->limit_hit |= ck_limiter_hits(&warden->limiter);
    if (killed && limits[CK_LIMIT_FILE_SIZE] != 0 && report->status == SIGXFSZ)
        report->limit_hit |= 1u << CK_LIMIT_FILE_SIZE;
    if (killed && limits[CK_LIMIT_CPU] != 0 &&
        (report->status == SIGXCPU || (report->status == SIGKILL && used_us / 1000000u >= limits[CK_LIMIT_CPU])))
        report->limit_hit |= 1u << CK_LIMIT_CPU;
}

/* False when the caller is gone. */
static bool report(const struct warden *warden, const struct warden_run *run)
{
    if (run->orphaned)
        return false;
    if (run->pid > 0)
        ck_warden_jail_send_denials(&warden->jail, warden->socket_fd);
    return ck_nolibc_send(warden->socket_fd, &run->report, sizeof(run->report), run->overlay_fd) >= 0;
}

/*
 * begun: the process that runs the plan already; 0: none does. A plan with a deadline in the past is not
 * started: the caller may have given it up.
 */
static void begin(struct warden *warden, struct warden_run *run, unsigned char *base, int *fds, int32_t begun)
{
    const struct ck_wire_plan *plan = (const void *)base;
    if (begun > 0) {
        run->pid = begun;
        run->taken = warden->jail.entered ? NULL : &warden->ready.child;
        run->init_status = warden->jail.native.init_status;
        run->deadline_ns = plan->deadline_ns;
        run->kill_ns = plan->kill_ns;
    } else if (ck_nolibc_now_ns() >= plan->deadline_ns) {
        run->report.ending = CK_ENDING_TIMED_OUT;
    } else {
        create(warden, run, base, fds);
    }
    for (int i = 0; i < CK_WIRE_STDOUT_READ; i++)
        ck_nolibc_close(fds[i]);
    for (unsigned i = CK_WIRE_FDS; i < CK_WIRE_FDS + ck_child_extra_fds(plan->flags); i++)
        ck_nolibc_close(fds[i]);
}

/* False when the caller is gone, or when this warden must not serve another run. */
static bool serve_plan(struct warden *warden, unsigned char *base, int *fds, int32_t begun)
{
    const struct ck_wire_plan *plan = (const void *)base;
    struct warden_run run = {.read_fds = {fds[CK_WIRE_STDOUT_READ], fds[CK_WIRE_STDERR_READ]},
                             .overlay_fd = -1,
                             .cpu_check_ns = NEVER,
                             .signals = {.again_ns = NEVER},
                             .report = {.kind = CK_WIRE_REPORT, .number = plan->number}};
    begin(warden, &run, base, fds, begun);
    run.report.kill = run.in_bwrap ? CK_KILL_PIDNS : kill_strength(warden);
    /* Not before: the caller would find that the streams are still open, here. */
    if (run.pid > 0 && warden->jail.entered && ck_init_report_is_possible(plan))
        ck_init_report_allow(&run.init_status->own_report, &run.report);
    /*
     * The tool is running, so there is time for it now. If it fails, it is tried again before the
     * next run.
     */
    (void)ck_native_jail_unmount_stale(&warden->jail.native);
    bool clean = run.pid <= 0 || watch(warden, &run);
    (void)ck_pump_end(&run.pump_pid);
    if (run.init_status && !run.in_bwrap)
        run.report.counts = run.init_status->counts;
    if (run.init_status && run.in_bwrap)
        take_status(&run);
    note_hits(warden, &run, plan->limits);
    clean = clean && run.report.stage != CK_STAGE_LIMITS;
    run.report.ended_ns = ck_nolibc_now_ns();
    /*
     * The warden must not serve another run if a process is left among its children, if it has left
     * its cgroup, if it has no jail, or if another file is at the path of the tool inside. Another
     * warden tries again.
     */
    bool stale = run.report.stage == CK_STAGE_EXECUTE && run.report.error == ESTALE;
    bool reusable = clean && !run.cgroup_killed && warden->jail.error >= 0 && !stale;
    if (!reusable)
        run.report.ending |= CK_ENDING_LAST;
    bool sent = run.init_tells || report(warden, &run);
    /* After the report, so that the caller does not wait for it. */
    ck_nolibc_close(run.overlay_fd);
    for (int i = CK_WIRE_STDOUT_READ; i < CK_WIRE_FDS; i++)
        ck_nolibc_close(fds[i]);
    bool next = sent && reusable;
    if (next)
        ck_warden_jail_reset(&warden->jail);
    await_init(warden, &run);
    /* Somebody killed init while it reported: the caller may get the report twice, and knows it by its number. */
    if (run.init_tells && !ck_init_report_is_sent(&run.init_status->own_report)) {
        take_end(&run);
        next = report(warden, &run) && next;
    }
    if (next)
        prepare_next(warden, plan, fds);
    return next;
}

/* Refuses a plan that was not received completely. False when the caller is gone. */
static bool refuse_plan(const struct warden *warden, const int *fds, unsigned fd_count, long error)
{
    struct ck_wire_report report = {
        .kind = CK_WIRE_REPORT, .stage = CK_STAGE_CREATE, .error = (int32_t)-error, .ended_ns = ck_nolibc_now_ns()};
    for (unsigned i = 0; i < fd_count; i++)
        ck_nolibc_close(fds[i]);
    return ck_nolibc_send(warden->socket_fd, &report, sizeof(report), -1) >= 0;
}

static bool serve_large(struct warden *warden, int *fds, unsigned fd_count)
{
    const struct ck_wire_large *large = (const void *)warden->inbox;
    size_t size = large->size_bytes;
    long memory = CK_RAW6(mmap, NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fds[fd_count - 1], 0);
    if (memory < 0 && memory > -4096)
        return refuse_plan(warden, fds, fd_count, memory);
    bool alive = serve_plan(warden, (unsigned char *)memory, fds, 0);
    (void)CK_RAW2(munmap, memory, size);
    ck_nolibc_close(fds[fd_count - 1]);
    return alive;
}

/* False when there will be no other message. */
static bool serve_message(struct warden *warden, long got, int *fds, unsigned fd_count)
{
    if (got < (long)sizeof(struct ck_wire_simple))
        return false;
    const struct ck_wire_order *order = (const void *)warden->inbox;
    /*
     * A cancel or a signal may arrive after our report: it is late, not wrong. Any other message means a broken
     * caller.
     */
    if (order->kind != CK_WIRE_PLAN && order->kind != CK_WIRE_LARGE)
        return order->kind == CK_WIRE_CANCEL || order->kind == CK_WIRE_SIGNAL;
    bool large = order->kind == CK_WIRE_LARGE;
    if (((order->flags & CK_WIRE_NATIVE_JAIL) != 0) != warden->jail.entered ||
        (warden->sealed && (order->flags & CK_WIRE_SEALED) == 0))
        return refuse_plan(warden, fds, fd_count, -EPROTO);
    /* The kernel drops descriptors for which our table (limited by the caller) has no room. */
    if (fd_count != CK_WIRE_FDS + (large ? 1u : 0u) + ck_child_extra_fds(order->flags))
        return refuse_plan(warden, fds, fd_count, -EMFILE);
    return large ? serve_large(warden, fds, fd_count) : serve_plan(warden, warden->inbox, fds, 0);
}

/* The process of the next tool receives the message in our place. */
static bool serve_received(struct warden *warden)
{
    int fds[CK_WIRE_FDS_MAX];
    unsigned count = 0;
    struct ck_receiver *receiver =
        warden->jail.entered ? &warden->jail.prepared.memory->receiver : &warden->ready.receiver;
    enum ck_receiver_outcome outcome = warden->jail.entered
                                           ? ck_warden_jail_wait(&warden->jail, warden->env, fds, &count)
                                           : ck_ready_wait(&warden->ready, warden->env, fds, &count);
    int32_t *pid = warden->jail.entered ? &warden->jail.prepared.pid : &warden->ready.pid;
    int32_t begun = *pid;
    if (outcome == CK_RECEIVER_RECEIVED)
        return serve_message(warden, receiver->got, fds, count);
    if (outcome != CK_RECEIVER_RUNS)
        return outcome != CK_RECEIVER_LOST;
    *pid = 0;
    return serve_plan(warden, receiver->inbox, fds, begun);
}

/* Waits for one message of the caller; false when there will be none. */
static bool serve(struct warden *warden)
{
    int fds[CK_WIRE_FDS_MAX];
    unsigned fd_count;
    const int waited[CK_NOLIBC_WAITED] = {warden->socket_fd, warden->env->caller_fd, -1, -1};
    if (warden->ready.pid != 0 || ck_warden_jail_receives(&warden->jail))
        return serve_received(warden);
    unsigned ready = ck_nolibc_wait_readable(waited, ck_warden_jail_idle_until(&warden->jail));
    if (ready == 0)
        return ck_warden_jail_use_idle_time(&warden->jail);
    if (ready & 2)
        return false;
    long got = ck_nolibc_receive(warden->socket_fd, warden->inbox, CK_WIRE_INLINE_MAX, fds, CK_WIRE_FDS_MAX, &fd_count);
    return serve_message(warden, got, fds, fd_count);
}

static void enter_jail(struct warden *warden, int program_fd)
{
    ck_warden_jail_enter(&warden->jail, warden->env, warden->socket_fd, program_fd);
    if (warden->jail.prepared.memory)
        warden->inbox = warden->jail.prepared.memory->plan;
    /* Without it, the end of init is waited for. */
    long fd = CK_RAW2(eventfd2, 0, EFD_CLOEXEC | EFD_NONBLOCK);
    warden->alone_fd = fd < 0 ? -1 : (int)fd;
}

void ck_warden_main(const struct ck_keeper_env *env, const struct ck_warden_start *start)
{
    struct warden warden = {.env = env, .socket_fd = start->socket_fd, .alone_fd = -1, .inbox = own_inbox};
    (void)CK_RAW5(prctl, PR_SET_NAME, "choke-warden", 0, 0, 0);
    (void)CK_RAW5(prctl, PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    ck_cgroup_open(&warden.cgroup, env->cgroup_fd, start->cgroup_fd);
    warden.limiter.proc_fd = env->proc_fd;
    /* Before enter_jail: inside, none of the cgroup files can be opened. */
    ck_limiter_open(&warden.limiter, &start->groups, start->cgroup_fd, start->jailed);
    ck_nolibc_close(start->cgroup_fd);
    if (warden.limiter.leaf_fd >= 0)
        ck_cgroup_open_leaf(&warden.cgroup, warden.limiter.leaf_fd);
    if (start->jailed)
        enter_jail(&warden, start->jail_fd);
    else
        ck_ready_init(&warden.ready, start->socket_fd, warden.inbox);
    struct ck_wire_simple hello = {.kind = CK_WIRE_HELLO};
    long pidfd = CK_RAW2(pidfd_open, CK_RAW0(getpid), 0);
    (void)ck_nolibc_send(start->socket_fd, &hello, sizeof(hello), (int)pidfd);
    ck_nolibc_close((int)pidfd);
    while (serve(&warden))
        ;
    /* The keeper removes our directory. It outlives us, and does it for killed wardens, too. */
    ck_nolibc_exit(0);
}
