/*
 * child.c - the process of the tool, from its creation to exec.
 *
 *  Must     execute the plan, step by step; report which step failed and why.
 *  Must not decide anything, allocate, or change memory except the two fields of its report: the
 *           memory belongs to the warden.
 *
 * The steps are a table, so that each has a name for messages and the order is visible. A jail adds
 * steps here.
 */
#include "run/keeper/child.h"

#include "run/create.h"
#include "run/keeper/init.h"
#include "run/keeper/nolibc.h"
#include "sys/raw.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/prctl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

/* The executable while the tool's other descriptors get their numbers, which are lower. */
#define MOVED_EXECUTABLE CK_WIRE_PASSED_NUMBERS
#define NSIG_OLD 32

/* struct sigaction of the kernel: its header has the one of the C library. */
struct kernel_action {
    uint64_t handler, flags, restorer, mask;
};

/*
 * In a new session the tool has no controlling terminal to push input into (TIOCSTI), and its
 * process group has a known number.
 */
static long step_session(const struct ck_child *child)
{
    (void)child;
    return CK_RAW0(setsid);
}

/* If the warden is killed, the kernel kills the tool at once. The keeper kills its descendants. */
static long step_death_signal(const struct ck_child *child)
{
    (void)child;
    return CK_RAW5(prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
}

/* The shell of a cage has its own terminal, and job control with it. */
static long take_terminal(const struct ck_child *child)
{
    if (!child->inherited || child->inherited->terminal == 0)
        return 0;
    return CK_RAW3(ioctl, child->inherited->terminal - 1, TIOCSCTTY, 0);
}

/* The keeper has 0 to 2 open, so none of the three sources is one of the targets. */
static long step_stdio(const struct ck_child *child)
{
    for (int target = 0; target <= 2; target++) {
        long r = CK_RAW3(dup3, target == 0 ? child->stdin_fd : child->fds[target], target, 0);
        if (r < 0)
            return r;
    }
    return take_terminal(child);
}

static long step_cwd(const struct ck_child *child)
{
    return child->cwd ? CK_RAW1(chdir, child->cwd) : CK_RAW1(fchdir, child->fds[CK_WIRE_CWD]);
}

/* Without no_new_privs a setuid program would change its uid, and we could not kill it any more. */
static long step_privileges(const struct ck_child *child)
{
    (void)child;
    return CK_RAW5(prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

/* All descriptors are close-on-exec already. This protects the tool if one ever is not. */
static long step_descriptors(const struct ck_child *child)
{
    (void)child;
    return ck_nolibc_close_on_exec_from(3);
}

/* For a run without an init, which would do this. root keeps its uid and loses all capabilities. */
static long step_calls(const struct ck_child *child)
{
    long r = !child->filter ? 0 : ck_init_drop_capabilities();
    return r < 0 || !child->filter ? r : ck_init_restrict_calls(child->filter, child->filter_count);
}

/*
 * After this the kernel refuses to execute anything that the plan does not list. Landlock needs
 * no_new_privs, which is set.
 */
static long step_execs(const struct ck_child *child)
{
    return child->ruleset_fd < 0 ? 0 : CK_RAW2(landlock_restrict_self, child->ruleset_fd, 0);
}

/*
 * The interpreter opens the script by this number, so it is the one descriptor that stays open. The
 * others are not needed any more.
 */
static long step_script(const struct ck_child *child)
{
    int fd = child->fds[CK_WIRE_EXECUTABLE];
    if (!child->keep_executable)
        return 0;
    return fd == CK_SCRIPT_FD ? CK_RAW3(fcntl, fd, F_SETFD, 0) : CK_RAW3(dup3, fd, CK_SCRIPT_FD, 0);
}

/*
 * The keeper has reset all handlers to the default. The mask is set last, so that no signal ends
 * the process half-way.
 */
static long step_signals(const struct ck_child *child)
{
    static const uint64_t none = 0;
    uint64_t ignored = child->inherited ? child->inherited->ignored : 0;
    for (int sig = 1; sig < NSIG_OLD; sig++) {
        const struct kernel_action action = {.handler = (uint64_t)(uintptr_t)SIG_IGN};
        if ((ignored >> (sig - 1) & 1) != 0)
            (void)CK_RAW4(rt_sigaction, sig, &action, NULL, sizeof(uint64_t));
    }
    return CK_RAW4(rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof(none));
}

/*
 * The other descriptors of the caller, each at its number there. What has such a number now is needed
 * for the execution alone, or not any more, so the sources and the executable are moved above all of
 * them first. The script of a pinned tool keeps its number.
 */
static long step_passed(const struct ck_child *child)
{
    long sources[CK_WIRE_PASSED_MAX];
    long r = 0;
    if (child->passed_count > 0 && !child->keep_executable)
        r = CK_RAW3(dup3, child->execute_fd, MOVED_EXECUTABLE, O_CLOEXEC);
    for (unsigned i = 0; i < child->passed_count && r >= 0; i++)
        r = sources[i] = CK_RAW3(fcntl, child->fds[CK_WIRE_PASSED + i], F_DUPFD_CLOEXEC, MOVED_EXECUTABLE + 1);
    /* What the kernel says of a number that is not below RLIMIT_NOFILE. Nothing is lost: each is open. */
    if (r == -EBADF || r == -EINVAL)
        r = -EMFILE;
    for (unsigned i = 0; i < child->passed_count && r >= 0; i++) {
        int number = child->inherited->numbers[i];
        if (number > 2 && number < MOVED_EXECUTABLE && !(child->keep_executable && number == CK_SCRIPT_FD))
            r = CK_RAW3(dup3, sources[i], number, 0);
    }
    return r < 0 ? r : 0;
}

static long lower_limit(uint32_t resource, uint64_t soft, uint64_t hard)
{
    struct rlimit64 limit;
    long r = CK_RAW4(prlimit64, 0, resource, NULL, &limit);
    if (r < 0)
        return r;
    if (limit.rlim_max > hard)
        limit.rlim_max = hard;
    if (limit.rlim_cur > soft)
        limit.rlim_cur = soft;
    return CK_RAW4(prlimit64, 0, resource, &limit, NULL);
}

static long inherit(const struct ck_wire_inherited *inherited)
{
    long r = 0;
    (void)CK_RAW1(umask, inherited->umask_bits & 0777);
    /* The result of getpriority is 20 - nice. */
    if (inherited->nice > 20 - CK_RAW2(getpriority, PRIO_PROCESS, 0))
        r = CK_RAW3(setpriority, PRIO_PROCESS, 0, inherited->nice);
    for (uint32_t i = 0; i < CK_WIRE_RLIMITS && r == 0; i++)
        r = lower_limit(i, inherited->rlimits[i].soft, inherited->rlimits[i].hard);
    return r;
}

/* Limits are only lowered: a tool never gets more than the caller has. */
static long step_limits(const struct ck_child *child)
{
    long r = child->inherited ? inherit(child->inherited) : 0;
    for (unsigned i = 0; i < child->rlimit_count && r == 0; i++)
        r = lower_limit((uint32_t)child->rlimits[i].resource, child->rlimits[i].soft, child->rlimits[i].hard);
    return r;
}

static long step_execute(const struct ck_child *child)
{
    int fd = child->keep_executable ? CK_SCRIPT_FD : child->execute_fd;
    if (child->passed_count > 0 && !child->keep_executable)
        fd = MOVED_EXECUTABLE;
    /* With a key, init refuses every later execution of a sealed tool (exec_names.c). */
    if (child->sealed && child->exec_key == 0)
        return ck_create_execute_sealed(fd, child->argv, child->envp, child->seal_key);
    return ck_create_execute_unasked(fd, child->path, child->argv, child->envp, child->exec_key);
}

/*
 * The order matters: the kernel refuses the filter and the ruleset without no_new_privs. The signal
 * mask and exec come last. AHEAD: can be taken before the plan is known.
 */
enum { AHEAD = 1, RESTRICTS = 2, NEITHER = 4 };

static const struct {
    enum ck_stage stage;
    unsigned is;
    long (*run)(const struct ck_child *child);
} steps[] = {
    {CK_STAGE_SESSION, AHEAD, step_session},
    {CK_STAGE_DEATH_SIGNAL, AHEAD, step_death_signal},
    {CK_STAGE_PRIVILEGES, AHEAD | RESTRICTS, step_privileges},
    {CK_STAGE_STDIO, NEITHER, step_stdio},
    {CK_STAGE_CWD, NEITHER, step_cwd},
    {CK_STAGE_DESCRIPTORS, NEITHER, step_descriptors},
    {CK_STAGE_CALLS, RESTRICTS, step_calls},
    {CK_STAGE_EXECS, RESTRICTS, step_execs},
    {CK_STAGE_SCRIPT, NEITHER, step_script},
    {CK_STAGE_DESCRIPTORS, NEITHER, step_passed},
    {CK_STAGE_LIMITS, NEITHER, step_limits},
    {CK_STAGE_SIGNALS, NEITHER, step_signals},
    {CK_STAGE_EXECUTE, NEITHER, step_execute},
};

/* Those that are one of `wanted` and none of `unwanted`, in order. */
static long take_steps(struct ck_child *child, unsigned wanted, unsigned unwanted)
{
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        bool taken = (steps[i].is & wanted) != 0 && (steps[i].is & unwanted) == 0;
        long r = taken ? steps[i].run(child) : 0;
        if (r < 0) {
            child->failed_stage = steps[i].stage;
            child->failed_errno = (int32_t)-r;
            return r;
        }
    }
    return 0;
}

long ck_child_map_filter(struct ck_child *child, int fd)
{
    struct stat status = {0};
    long r = CK_RAW2(fstat, fd, &status);
    if (r < 0)
        return r;
    r = CK_RAW6(mmap, NULL, status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (r < 0 && r > -4096)
        return r;
    child->filter = (const void *)r;
    child->filter_count = (uint32_t)((size_t)status.st_size / sizeof(struct sock_filter));
    return 0;
}

void ck_child_unmap_filter(struct ck_child *child)
{
    if (child->filter)
        (void)CK_RAW2(munmap, child->filter, child->filter_count * sizeof(struct sock_filter));
    child->filter = NULL;
}

long ck_child_restrict(struct ck_child *child)
{
    return take_steps(child, RESTRICTS, 0);
}

long ck_child_begin(struct ck_child *child)
{
    return take_steps(child, AHEAD, 0);
}

void ck_child_continue(struct ck_child *child)
{
    (void)take_steps(child, RESTRICTS | NEITHER, AHEAD);
    ck_nolibc_exit(127);
}

void ck_child_main(void *argument)
{
    (void)take_steps(argument, AHEAD | RESTRICTS | NEITHER, 0);
    ck_nolibc_exit(127);
}

/* ---- from a plan ---- */

/* Turns offsets into pointers, in place. */
static char *const *relocate(unsigned char *base, uint64_t table_at, uint32_t count)
{
    uint64_t *table = (void *)(base + table_at);
    for (uint32_t i = 0; i < count; i++)
        table[i] = (uint64_t)(uintptr_t)(base + table[i]);
    return (void *)table;
}

void ck_child_plan(struct ck_child *ret_child, unsigned char *base, const int *fds)
{
    const struct ck_wire_plan *plan = (const void *)base;
    *ret_child = (struct ck_child){
        .fds = fds,
        .argv = relocate(base, plan->argv_at, plan->argc),
        .envp = relocate(base, plan->env_at, plan->envc),
        .path = plan->path_at != 0 ? (const char *)base + plan->path_at : NULL,
        .ruleset_fd = plan->flags & CK_WIRE_HAS_RULESET ? fds[CK_WIRE_RULESET] : -1,
        .keep_executable = (plan->flags & CK_WIRE_KEEP_EXECUTABLE) != 0,
        .sealed = (plan->flags & CK_WIRE_SEALED) != 0,
        .null_stdin = (plan->flags & CK_WIRE_NULL_STDIN) != 0,
        .inherited = plan->inherited_at != 0 ? (const void *)(base + plan->inherited_at) : NULL,
        .passed_count = plan->inherited_at != 0 ? plan->flags >> CK_WIRE_PASSED_SHIFT : 0,
        .stdin_fd = fds[CK_WIRE_STDIN],
        .execute_fd = fds[CK_WIRE_EXECUTABLE],
    };
}

/* A run has a ruleset, maybe with a filter, or is in the bwrap jail, or has descriptors of its caller. */
unsigned ck_child_extra_fds(uint32_t flags)
{
    if (flags >> CK_WIRE_PASSED_SHIFT != 0)
        return flags >> CK_WIRE_PASSED_SHIFT;
    if (flags & CK_WIRE_HAS_FILTER)
        return 2;
    return flags & CK_WIRE_HAS_RULESET ? 1 : flags & CK_WIRE_HAS_BWRAP ? CK_WIRE_BWRAP_FDS : 0;
}
