/*
 * child.c - the tool's process, from its creation to exec.
 *
 *   Must     carry out the plan, step by step; say which step failed and why.
 *   Must not decide anything, allocate, or change memory but the two fields of its report: the memory is the warden's.
 *
 * The steps are a table so that each has a name in messages and an order that can be read. A jail adds steps here.
 */
#include "run/keeper/child.h"

#include "run/create.h"
#include "run/keeper/init.h"
#include "run/keeper/nolibc.h"
#include "run/raw.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/filter.h>
#include <linux/prctl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

/* A session of its own: no controlling terminal to push input into, and a process group that can be named. */
static long step_session(const struct ck_child *child)
{
    (void)child;
    return CK_RAW0(setsid);
}

/* If the warden is killed, at least the tool itself goes at once; the keeper sees to the rest. */
static long step_death_signal(const struct ck_child *child)
{
    (void)child;
    return CK_RAW5(prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
}

/* The keeper keeps 0 to 2 occupied, so none of the three sources is one of the targets. */
static long step_stdio(const struct ck_child *child)
{
    for (int target = 0; target <= 2; target++) {
        long result = CK_RAW3(dup3, target == 0 ? child->stdin_fd : child->fds[target], target, 0);
        if (result < 0)
            return result;
    }
    return 0;
}

static long step_cwd(const struct ck_child *child)
{
    return child->cwd != NULL ? CK_RAW1(chdir, child->cwd) : CK_RAW1(fchdir, child->fds[CK_WIRE_CWD]);
}

/* Without it a setuid program would leave our uid, and with it our power to end it. */
static long step_privileges(const struct ck_child *child)
{
    (void)child;
    return CK_RAW5(prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

/* Everything is close-on-exec from birth; this holds even if one day something is not. */
static long step_descriptors(const struct ck_child *child)
{
    (void)child;
    return CK_RAW3(close_range, 3, ~0u, CLOSE_RANGE_CLOEXEC);
}

/* Where no init of a jail has done it. A user that is root keeps that name, and nothing that comes with it. */
static long step_calls(const struct ck_child *child)
{
    long result = child->filter == NULL ? 0 : ck_init_drop_capabilities();
    return result < 0 || child->filter == NULL ? result : ck_init_restrict_calls(child->filter, child->filter_count);
}

/* From here on the kernel refuses to execute anything but what the plan lists; no_new_privs, which it asks for, is set. */
static long step_execs(const struct ck_child *child)
{
    return child->ruleset_fd < 0 ? 0 : CK_RAW2(landlock_restrict_self, child->ruleset_fd, 0);
}

/* The interpreter opens the script by this number, so it is the one descriptor that stays. Nothing else is needed now. */
static long step_script(const struct ck_child *child)
{
    int fd = child->fds[CK_WIRE_EXECUTABLE];
    if (!child->keep_executable)
        return 0;
    return fd == CK_SCRIPT_FD ? CK_RAW3(fcntl, fd, F_SETFD, 0) : CK_RAW3(dup3, fd, CK_SCRIPT_FD, 0);
}

/* The keeper reset every disposition to its default; the mask is the last thing, so nothing is delivered half-way. */
static long step_signals(const struct ck_child *child)
{
    (void)child;
    static const uint64_t none = 0;
    return CK_RAW4(rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof none);
}

/* Only ever lower: what the caller itself may not have, a tool does not get. */
static long step_limits(const struct ck_child *child)
{
    for (unsigned i = 0; i < child->rlimit_count; i++) {
        const struct ck_rlimit *wanted = &child->rlimits[i];
        struct rlimit64 limit;
        long result = CK_RAW4(prlimit64, 0, wanted->resource, NULL, &limit);
        if (result < 0)
            return result;
        if (limit.rlim_max > wanted->hard)
            limit.rlim_max = wanted->hard;
        if (limit.rlim_cur > wanted->soft)
            limit.rlim_cur = wanted->soft;
        result = CK_RAW4(prlimit64, 0, wanted->resource, &limit, NULL);
        if (result < 0)
            return result;
    }
    return 0;
}

static long step_execute(const struct ck_child *child)
{
    int fd = child->keep_executable ? CK_SCRIPT_FD : child->execute_fd;
    if (child->sealed)
        return ck_create_execute_last(fd, child->argv, child->envp);
    return ck_create_execute(fd, child->path, child->argv, child->envp);
}

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

/* all: and not only those that confine. */
static long take_steps(struct ck_child *child, bool all)
{
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        long result = all || steps[i].restricts ? steps[i].run(child) : 0;
        if (result < 0) {
            child->failed_stage = steps[i].stage;
            child->failed_errno = (int32_t)-result;
            return result;
        }
    }
    return 0;
}

long ck_child_map_filter(struct ck_child *child, int fd)
{
    struct stat status = {0};
    long result = CK_RAW2(fstat, fd, &status);
    if (result < 0)
        return result;
    result = CK_RAW6(mmap, NULL, status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (result < 0 && result > -4096)
        return result;
    child->filter = (const void *)result;
    child->filter_count = (uint32_t)((size_t)status.st_size / sizeof(struct sock_filter));
    return 0;
}

void ck_child_unmap_filter(struct ck_child *child)
{
    if (child->filter != NULL)
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
