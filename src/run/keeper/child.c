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
#include <linux/close_range.h>
#include <linux/filter.h>
#include <linux/prctl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

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

/* The keeper has 0 to 2 open, so none of the three sources is one of the targets. */
static long step_stdio(const struct ck_child *child)
{
    for (int target = 0; target <= 2; target++) {
        long r = CK_RAW3(dup3, target == 0 ? child->stdin_fd : child->fds[target], target, 0);
        if (r < 0)
            return r;
    }
    return 0;
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
    return CK_RAW3(close_range, 3, ~0u, CLOSE_RANGE_CLOEXEC);
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
    (void)child;
    static const uint64_t none = 0;
    return CK_RAW4(rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof(none));
}

/* Limits are only lowered: a tool never gets more than the caller has. */
static long step_limits(const struct ck_child *child)
{
    for (unsigned i = 0; i < child->rlimit_count; i++) {
        const struct ck_rlimit *wanted = &child->rlimits[i];
        struct rlimit64 limit;
        long r = CK_RAW4(prlimit64, 0, wanted->resource, NULL, &limit);
        if (r < 0)
            return r;
        if (limit.rlim_max > wanted->hard)
            limit.rlim_max = wanted->hard;
        if (limit.rlim_cur > wanted->soft)
            limit.rlim_cur = wanted->soft;
        r = CK_RAW4(prlimit64, 0, wanted->resource, &limit, NULL);
        if (r < 0)
            return r;
    }
    return 0;
}

static long step_execute(const struct ck_child *child)
{
    int fd = child->keep_executable ? CK_SCRIPT_FD : child->execute_fd;
    /* With a key, init refuses every later execution of a sealed tool (exec_names.c). */
    if (child->sealed && child->exec_key == 0)
        return ck_create_execute_sealed(fd, child->argv, child->envp, child->seal_key);
    return ck_create_execute_unasked(fd, child->path, child->argv, child->envp, child->exec_key);
}

/*
 * The order matters: the kernel refuses the filter and the ruleset without no_new_privs. The signal
 * mask and exec come last.
 */
static const struct {
    enum ck_stage stage;
    bool restricts;
    long (*run)(const struct ck_child *child);
} steps[] = {
    {CK_STAGE_SESSION, false, step_session},      {CK_STAGE_DEATH_SIGNAL, false, step_death_signal},
    {CK_STAGE_STDIO, false, step_stdio},          {CK_STAGE_CWD, false, step_cwd},
    {CK_STAGE_PRIVILEGES, true, step_privileges}, {CK_STAGE_DESCRIPTORS, false, step_descriptors},
    {CK_STAGE_CALLS, true, step_calls},           {CK_STAGE_EXECS, true, step_execs},
    {CK_STAGE_SCRIPT, false, step_script},        {CK_STAGE_LIMITS, false, step_limits},
    {CK_STAGE_SIGNALS, false, step_signals},      {CK_STAGE_EXECUTE, false, step_execute},
};

/* all: false runs only the steps that restrict. */
static long take_steps(struct ck_child *child, bool all)
{
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        long r = all || steps[i].restricts ? steps[i].run(child) : 0;
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
    return take_steps(child, false);
}

void ck_child_main(void *argument)
{
    (void)take_steps(argument, true);
    ck_nolibc_exit(127);
}
