/*
 * main.c - the keeper: makes wardens, and is the reaper of last resort. See keeper.h for the whole.
 *
 * It ends when the caller dies or lets go of the control socket; before that every warden has ended, and with it
 * every tool.
 */
#include "run/keeper/keeper.h"

#include "run/create.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/prctl.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#define RETRY_NS 5000000u

struct keeper {
    struct ck_keep keep;
    int cgroup_parent_fd;
    int group_parent_fds[CK_CONTROLS]; /* of version 1 */
    int leaf_parent_fd, leaf_base_fd;  /* of version 2, where directories with controllers are made; or -1 */
    bool leaves_known;
    char cgroup_prefix[64];
    size_t warden_count;
    long last_number;
};

/* Apart from the rest, so that they are zero pages and not bytes of the image. */
static int32_t wardens[CK_WARDENS_MAX];
static long numbers[CK_WARDENS_MAX]; /* of their cgroups */

static struct keeper keeper = {
    .keep = {.caller_fd = -1, .sigchld_fd = -1, .proc_fd = -1, .cgroup_fd = -1, .group_fds = {-1, -1, -1}},
    .cgroup_parent_fd = -1,
    .group_parent_fds = {-1, -1, -1},
    .leaf_parent_fd = -1,
    .leaf_base_fd = -1};

/* What rt_sigaction takes, as far as it matters for resetting. */
struct disposition {
    void *handler;
    unsigned long flags;
    void *restorer;
    uint64_t mask;
};

/* The caller's ignored signals would be ignored in every tool: start from the defaults. */
static void reset_signals(void)
{
    static const struct disposition standard;
    for (int sig = 1; sig <= 64; sig++)
        (void)CK_RAW4(rt_sigaction, sig, &standard, NULL, sizeof standard.mask);
    static const uint64_t all = ~UINT64_C(0);
    (void)CK_RAW4(rt_sigprocmask, SIG_SETMASK, &all, NULL, sizeof all);
}

/*
 * Not dumpable: no process of the same user may trace us or look into our descriptors. A session of our own: what a
 * terminal sends to the caller's group is for the caller to act on. Nothing of the caller's stays open, and no
 * directory busy.
 */
static void detach(void)
{
    (void)CK_RAW5(prctl, PR_SET_NAME, "choke-keeper", 0, 0, 0);
    (void)CK_RAW5(prctl, PR_SET_DUMPABLE, 0, 0, 0, 0);
    (void)CK_RAW5(prctl, PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    (void)CK_RAW3(close_range, CK_KEEPER_SOCKET_FD + 1, ~0u, 0);
    (void)CK_RAW0(setsid);
    (void)CK_RAW1(chdir, "/");
    (void)CK_RAW1(umask, 022);
}

/* /proc, if it is there and counts processes as we do. */
static int open_proc(void)
{
    char self[32];
    long length = CK_RAW4(readlinkat, AT_FDCWD, "/proc/self", self, sizeof self);
    const char *at = self;
    if (length <= 0 || ck_take_number(&at, self + length) != CK_RAW0(getpid))
        return -1;
    char path[64];
    long fd = CK_RAW4(openat, AT_FDCWD, "/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    char *end = ck_put_text(ck_put_number(path, CK_RAW0(getpid)), "/task/");
    (void)ck_put_text(ck_put_number(end, CK_RAW0(getpid)), "/children");
    if (fd >= 0 && CK_RAW3(faccessat, fd, path, 4) != 0) {
        ck_close((int)fd);
        return -1;
    }
    return (int)fd;
}

static bool set_up(void)
{
    struct ck_wire_setup setup;
    int fds[2] = {-1, -1};
    unsigned count;
    long got = ck_receive(CK_KEEPER_SOCKET_FD, &setup, sizeof setup, fds, 2, &count);
    if (got != (long)sizeof setup || setup.kind != CK_WIRE_SETUP || count != (setup.has_cgroup ? 2u : 1u))
        return false;
    static const uint64_t sigchld = UINT64_C(1) << (SIGCHLD - 1);
    keeper.keep.caller_fd = fds[0];
    keeper.keep.sigchld_fd = (int)CK_RAW4(signalfd4, -1, &sigchld, sizeof sigchld, SFD_CLOEXEC | SFD_NONBLOCK);
    keeper.keep.proc_fd = open_proc();
    memcpy(keeper.cgroup_prefix, setup.cgroup_prefix, sizeof keeper.cgroup_prefix);
    if (setup.has_cgroup) {
        keeper.cgroup_parent_fd = fds[1];
        keeper.keep.cgroup_fd = ck_cgroup_base(fds[1], keeper.cgroup_prefix, keeper.keep.proc_fd, "cgroup.kill");
    }
    return keeper.keep.sigchld_fd >= 0;
}

/* Once: the hierarchies of version 1 that the caller has found. */
static void take_groups(uint32_t controls, const int *fds, unsigned count)
{
    unsigned next = 0;
    for (unsigned i = 0; i < CK_CONTROLS; i++) {
        if ((controls >> i & 1) == 0 || next == count)
            continue;
        keeper.group_parent_fds[i] = fds[next++];
        keeper.keep.group_fds[i] =
            ck_cgroup_base(keeper.group_parent_fds[i], keeper.cgroup_prefix, keeper.keep.proc_fd, "tasks");
    }
}

/*
 * In our own directory where that can hand on controllers; else beside it, as the rules of version 2 have it. Where
 * neither has any, a leaf still counts CPU time.
 */
static void know_leaves(void)
{
    keeper.leaves_known = true;
    keeper.leaf_base_fd = keeper.keep.cgroup_fd;
    if (ck_limits_enable(keeper.cgroup_parent_fd, keeper.keep.cgroup_fd))
        return;
    int beside_fd = ck_limits_beside(keeper.cgroup_parent_fd);
    int base_fd =
        beside_fd < 0 ? -1 : ck_cgroup_base(beside_fd, keeper.cgroup_prefix, keeper.keep.proc_fd, "cgroup.kill");
    if (base_fd >= 0 && ck_limits_enable(beside_fd, base_fd)) {
        keeper.leaf_parent_fd = beside_fd;
        keeper.leaf_base_fd = base_fd;
        return;
    }
    if (base_fd >= 0)
        ck_cgroup_base_remove(beside_fd, base_fd, keeper.cgroup_prefix);
    ck_close(base_fd);
    ck_close(beside_fd);
}

/* The leaf is for a warden that was born in a directory. */
static struct ck_groups make_groups(long number, bool born)
{
    struct ck_groups groups = {.limited = true, .leaf_fd = -1};
    if (born && !keeper.leaves_known)
        know_leaves();
    if (born)
        groups.leaf_fd = ck_cgroup_make(keeper.leaf_base_fd, CK_CGROUP_LEAF, number);
    for (unsigned i = 0; i < CK_CONTROLS; i++)
        groups.fds[i] = ck_cgroup_make(keeper.keep.group_fds[i], CK_CGROUP_WARDEN, number);
    return groups;
}

static void close_groups(const struct ck_groups *groups)
{
    if (!groups->limited)
        return;
    ck_close(groups->leaf_fd);
    for (unsigned i = 0; i < CK_CONTROLS; i++)
        ck_close(groups->fds[i]);
}

static void remove_groups(long number)
{
    ck_cgroup_remove(keeper.keep.cgroup_fd, CK_CGROUP_WARDEN, number);
    ck_cgroup_remove(keeper.leaf_base_fd, CK_CGROUP_LEAF, number);
    for (unsigned i = 0; i < CK_CONTROLS; i++)
        ck_cgroup_remove(keeper.keep.group_fds[i], CK_CGROUP_WARDEN, number);
}

static __attribute__((noreturn)) void warden_child(void *argument)
{
    ck_close(CK_KEEPER_SOCKET_FD);
    ck_close(keeper.cgroup_parent_fd);
    ck_close(keeper.leaf_parent_fd);
    for (unsigned i = 0; i < CK_CONTROLS; i++)
        ck_close(keeper.group_parent_fds[i]);
    ck_warden_main(&keeper.keep, argument);
}

/* A socket that gets no warden is closed; the caller sees its end. */
static void make_warden(int socket_fd, int cage_fd, bool limited)
{
    struct ck_warden_birth birth = {
        .socket_fd = socket_fd, .cgroup_fd = -1, .cage_fd = cage_fd, .groups = {.leaf_fd = -1}};
    if (keeper.warden_count < CK_WARDENS_MAX) {
        long number = ++keeper.last_number;
        birth.cgroup_fd = ck_cgroup_make(keeper.keep.cgroup_fd, CK_CGROUP_WARDEN, number);
        if (limited)
            birth.groups = make_groups(number, birth.cgroup_fd >= 0);
        long pid = ck_create_copied(warden_child, &birth, birth.cgroup_fd);
        if (pid < 0 && birth.cgroup_fd >= 0) {
            /* clone3 is not to be had: go on without, and say so by the weaker word. */
            ck_close(birth.cgroup_fd);
            ck_close(birth.groups.leaf_fd);
            ck_cgroup_remove(keeper.keep.cgroup_fd, CK_CGROUP_WARDEN, number);
            birth.cgroup_fd = -1;
            birth.groups.leaf_fd = -1;
            pid = ck_create_copied(warden_child, &birth, -1);
        }
        if (pid > 0) {
            wardens[keeper.warden_count] = (int32_t)pid;
            numbers[keeper.warden_count++] = number;
        }
    }
    ck_close(birth.cgroup_fd);
    close_groups(&birth.groups);
    ck_close(cage_fd);
    ck_close(socket_fd);
}

/* Stands among the wardens, so that it and its children are left alone until it ends. */
static void make_trial(int socket_fd, uint32_t trial)
{
    struct ck_trial_birth birth = {.socket_fd = socket_fd, .cgroup_fd = keeper.keep.cgroup_fd, .trial = trial};
    if (keeper.warden_count < CK_WARDENS_MAX) {
        birth.number = ++keeper.last_number;
        long pid = ck_create_copied(ck_trial_main, &birth, -1);
        if (pid > 0) {
            wardens[keeper.warden_count] = (int32_t)pid;
            numbers[keeper.warden_count++] = birth.number;
        }
    }
    ck_close(socket_fd);
}

/* Stands among the wardens like a trial. */
static void make_prover(int socket_fd, int program_fd)
{
    struct ck_prove_birth birth = {.socket_fd = socket_fd, .program_fd = program_fd};
    if (keeper.warden_count < CK_WARDENS_MAX) {
        long pid = ck_create_copied(ck_prove_main, &birth, -1);
        if (pid > 0) {
            wardens[keeper.warden_count] = (int32_t)pid;
            numbers[keeper.warden_count++] = ++keeper.last_number;
        }
    }
    ck_close(program_fd);
    ck_close(socket_fd);
}

/* The same for the jail without namespaces. */
static void make_confined_prover(const int *fds)
{
    struct ck_confined_birth birth = {.socket_fd = fds[0]};
    memcpy(birth.fds, fds + 1, sizeof birth.fds);
    if (keeper.warden_count < CK_WARDENS_MAX) {
        long pid = ck_create_copied(ck_confined_main, &birth, -1);
        if (pid > 0) {
            wardens[keeper.warden_count] = (int32_t)pid;
            numbers[keeper.warden_count++] = ++keeper.last_number;
        }
    }
    for (unsigned i = 0; i < 1 + CK_WIRE_PROOF_FDS; i++)
        ck_close(fds[i]);
}

static void forget_warden(int32_t pid)
{
    for (size_t i = 0; i < keeper.warden_count; i++) {
        if (wardens[i] != pid)
            continue;
        remove_groups(numbers[i]);
        wardens[i] = wardens[--keeper.warden_count];
        numbers[i] = numbers[keeper.warden_count];
        return;
    }
}

/* Reaps, and kills whatever has come to us that is no warden. True when no child at all is left. */
static bool tidy(void)
{
    for (;;) {
        siginfo_t info = {0};
        long result = CK_RAW5(waitid, P_ALL, 0, &info, WEXITED | WNOHANG, NULL);
        if (result == -ECHILD)
            return true;
        if (result < 0 || info.si_pid == 0)
            break;
        forget_warden((int32_t)info.si_pid);
    }
    (void)ck_tree_signal(keeper.keep.proc_fd, SIGKILL, wardens, keeper.warden_count);
    return false;
}

static bool hear(void)
{
    struct ck_wire_try message = {0}; /* the longest; the others begin like it */
    int fds[1 + CK_WIRE_PROOF_FDS];
    unsigned count;
    long got = ck_receive(CK_KEEPER_SOCKET_FD, &message, sizeof message, fds, 1 + CK_WIRE_PROOF_FDS, &count);
    if (got <= 0)
        return false;
    if ((message.kind == CK_WIRE_WARDEN || message.kind == CK_WIRE_LIMITED) && count > 0)
        make_warden(fds[0], count == 2 ? fds[1] : -1, message.kind == CK_WIRE_LIMITED);
    else if (message.kind == CK_WIRE_GROUPS)
        take_groups(message.trial, fds, count);
    else if (message.kind == CK_WIRE_TRY && count == 1)
        make_trial(fds[0], message.trial);
    else if (message.kind == CK_WIRE_PROVE && count == 2)
        make_prover(fds[0], fds[1]);
    else if (message.kind == CK_WIRE_PROVE_CONFINED && count == 1 + CK_WIRE_PROOF_FDS)
        make_confined_prover(fds);
    return true;
}

/* The wardens see the caller's end as we do; wait for them, then for what they may have left to us. */
static __attribute__((noreturn)) void finish(void)
{
    const int fds[3] = {keeper.keep.sigchld_fd, -1, -1};
    while (!tidy()) {
        (void)ck_wait_readable(fds, ck_now_ns() + RETRY_NS);
        ck_drain_signals(keeper.keep.sigchld_fd);
    }
    if (keeper.leaf_parent_fd >= 0)
        ck_cgroup_base_remove(keeper.leaf_parent_fd, keeper.leaf_base_fd, keeper.cgroup_prefix);
    if (keeper.keep.cgroup_fd >= 0)
        ck_cgroup_base_remove(keeper.cgroup_parent_fd, keeper.keep.cgroup_fd, keeper.cgroup_prefix);
    for (unsigned i = 0; i < CK_CONTROLS; i++)
        if (keeper.keep.group_fds[i] >= 0)
            ck_cgroup_base_remove(keeper.group_parent_fds[i], keeper.keep.group_fds[i], keeper.cgroup_prefix);
    ck_leave(0);
}

void ck_main(const long *stack)
{
    (void)stack;
    reset_signals();
    detach();
    if (!set_up())
        ck_leave(1);
    const int fds[3] = {keeper.keep.sigchld_fd, CK_KEEPER_SOCKET_FD, keeper.keep.caller_fd};
    for (;;) {
        unsigned ready = ck_wait_readable(fds, CK_FOREVER);
        if (ready & 1) {
            ck_drain_signals(keeper.keep.sigchld_fd);
            (void)tidy();
        }
        if ((ready & 4) || ((ready & 2) && !hear()))
            finish();
    }
}
