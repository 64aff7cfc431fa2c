/*
 * main.c - the keeper: makes wardens, and is the reaper of last resort. See keeper.h for the
 * overview.
 *
 * It ends when the caller dies or closes the control socket. Before that it waits until every
 * warden, and with it every tool, has ended.
 */
#include "run/keeper/keeper.h"

#include "base/errkind.h"
#include "run/create.h"
#include "run/keeper/cgroup.h"
#include "run/keeper/limiter.h"
#include "run/keeper/nolibc.h"
#include "run/keeper/prove.h"
#include "run/keeper/prove_no_userns.h"
#include "run/keeper/tree.h"
#include "run/keeper/trial.h"
#include "run/keeper/warden.h"
#include "sys/raw.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/prctl.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#define RETRY_NS 5000000u /* between two walks that kill what is left, when we end */

struct keeper {
    struct ck_keeper_env env;
    int cgroup_parent_fd;
    int group_parent_fds[CK_CONTROLS]; /* of cgroup v1 */
    int leaf_parent_fd, leaf_base_fd;  /* of cgroup v2, for directories with controllers; or -1 */
    bool leaves_known;
    bool base_known;   /* it is known whether we have a directory of cgroup v2 */
    uint32_t unasked;  /* a bit for each hierarchy of cgroup v1 of which that is not known yet */
    long groups_error; /* 0, or a negative errno: not all directories of cgroup v1 were received */
    char cgroup_prefix[64];
    size_t warden_count;
    long last_number;
};

/* Separate from the struct, so that they are zero pages and not bytes of the image. */
static int32_t wardens[CK_WARDENS_MAX];
static long numbers[CK_WARDENS_MAX]; /* numbers of their cgroups */

static struct keeper keeper = {
    .env = {.caller_fd = -1, .sigchld_fd = -1, .proc_fd = -1, .cgroup_fd = -1, .group_fds = {-1, -1, -1}},
    .cgroup_parent_fd = -1,
    .group_parent_fds = {-1, -1, -1},
    .leaf_parent_fd = -1,
    .leaf_base_fd = -1};

/* struct sigaction of the kernel, as far as it is needed here. */
struct disposition {
    void *handler;
    unsigned long flags;
    void *restorer;
    uint64_t mask;
};

/*
 * A signal that the caller ignores would be ignored in every tool, so all are reset to the default.
 */
static void reset_signals(void)
{
    static const struct disposition standard;
    for (int sig = 1; sig <= 64; sig++)
        (void)CK_RAW4(rt_sigaction, sig, &standard, NULL, sizeof(standard.mask));
    static const uint64_t all = ~UINT64_C(0);
    (void)CK_RAW4(rt_sigprocmask, SIG_SETMASK, &all, NULL, sizeof(all));
}

/*
 * Not dumpable: no process of the same user can trace us or read our descriptors. A new session:
 * signals that a terminal sends to the group of the caller are for the caller. chdir and
 * close_range: we keep no directory of the caller busy and no file of it open.
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

/*
 * /proc, if it exists and shows our pid namespace: then /proc/self is our pid. It must also have
 * the file `children`, which a kernel may lack (CONFIG_PROC_CHILDREN).
 */
static int open_proc(void)
{
    char self[32];
    long length = CK_RAW4(readlinkat, AT_FDCWD, "/proc/self", self, sizeof(self));
    const char *at = self;
    if (length <= 0 || ck_nolibc_parse_number(&at, self + length) != CK_RAW0(getpid))
        return -1;
    char path[64];
    long fd = CK_RAW4(openat, AT_FDCWD, "/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    char *end = ck_nolibc_append_text(ck_nolibc_append_number(path, CK_RAW0(getpid)), "/task/");
    (void)ck_nolibc_append_text(ck_nolibc_append_number(end, CK_RAW0(getpid)), "/children");
    if (fd >= 0 && CK_RAW3(faccessat, fd, path, 4) != 0) {
        ck_nolibc_close((int)fd);
        return -1;
    }
    return (int)fd;
}

/*
 * Whether result is a lack of resources, which must not decide anything permanently. EEXIST is not
 * one: a dead keeper with our pid left its directory.
 */
static bool transient(long r)
{
    return r < 0 && r != -EEXIST && ck_errkind_of((int)-r) == CK_ERRKIND_TRANSIENT;
}

/* 0, or a negative errno if it is not known yet whether we may have a directory of cgroup v2. */
static long find_base(void)
{
    if (keeper.base_known)
        return 0;
    int fd = ck_cgroup_base(keeper.cgroup_parent_fd, keeper.cgroup_prefix, keeper.env.proc_fd, "cgroup.kill");
    keeper.env.cgroup_fd = fd < 0 ? -1 : fd;
    keeper.base_known = !transient(fd);
    return keeper.base_known ? 0 : fd;
}

static bool set_up(void)
{
    struct ck_wire_setup setup;
    int fds[2] = {-1, -1};
    unsigned count;
    long got = ck_nolibc_receive(CK_KEEPER_SOCKET_FD, &setup, sizeof(setup), fds, 2, &count);
    if (got != (long)sizeof(setup) || setup.kind != CK_WIRE_SETUP || count != (setup.has_cgroup ? 2u : 1u))
        return false;
    static const uint64_t sigchld = UINT64_C(1) << (SIGCHLD - 1);
    keeper.env.caller_fd = fds[0];
    keeper.env.sigchld_fd = (int)CK_RAW4(signalfd4, -1, &sigchld, sizeof(sigchld), SFD_CLOEXEC | SFD_NONBLOCK);
    keeper.env.proc_fd = open_proc();
    memcpy(keeper.cgroup_prefix, setup.cgroup_prefix, sizeof(keeper.cgroup_prefix));
    keeper.base_known = !setup.has_cgroup;
    if (setup.has_cgroup) {
        keeper.cgroup_parent_fd = fds[1];
        (void)find_base(); /* if that is not known now, it is tried again before the next warden */
    }
    return keeper.env.sigchld_fd >= 0;
}

/*
 * Called once, with the hierarchies of cgroup v1 that the caller has found. A descriptor is missing
 * if our table had no room for it.
 */
static void take_groups(uint32_t controls, const int *fds, unsigned count)
{
    unsigned next = 0;
    for (unsigned i = 0; i < CK_CONTROLS; i++) {
        if ((controls >> i & 1) == 0)
            continue;
        if (next == count) {
            keeper.groups_error = -EMFILE;
            return;
        }
        keeper.group_parent_fds[i] = fds[next++];
        keeper.unasked |= 1u << i;
    }
}

/* 0, or a negative errno if it is not known yet whether we may have directories of cgroup v1. */
static long find_groups(void)
{
    for (unsigned i = 0; i < CK_CONTROLS; i++) {
        if ((keeper.unasked >> i & 1) == 0)
            continue;
        int fd = ck_cgroup_base(keeper.group_parent_fds[i], keeper.cgroup_prefix, keeper.env.proc_fd, "tasks");
        if (transient(fd))
            return fd;
        keeper.env.group_fds[i] = fd < 0 ? -1 : fd;
        keeper.unasked &= ~(1u << i);
    }
    return keeper.groups_error;
}

/* Finds a directory beside our own that can have controllers. 0 also if it finds nothing. */
static long find_sibling(void)
{
    int sibling_fd = ck_limiter_sibling(keeper.cgroup_parent_fd);
    if (sibling_fd < 0)
        return transient(sibling_fd) ? sibling_fd : 0;
    int base_fd = ck_cgroup_base(sibling_fd, keeper.cgroup_prefix, keeper.env.proc_fd, "cgroup.kill");
    int enabled = base_fd < 0 ? base_fd : ck_limiter_enable(sibling_fd, base_fd);
    if (enabled > 0) {
        keeper.leaf_parent_fd = sibling_fd;
        keeper.leaf_base_fd = base_fd;
        return 0;
    }
    if (base_fd >= 0)
        ck_cgroup_base_remove(sibling_fd, base_fd, keeper.cgroup_prefix);
    ck_nolibc_close(base_fd);
    ck_nolibc_close(sibling_fd);
    return transient(enabled) ? enabled : 0;
}

/*
 * Uses our own directory if it can enable controllers, else one beside it, because of the rules of
 * cgroup v2. If neither can, a leaf still counts CPU time. 0, or a negative errno if that is not
 * known yet.
 */
static long find_leaves(void)
{
    if (keeper.leaves_known)
        return 0;
    keeper.leaf_base_fd = keeper.env.cgroup_fd;
    long r = ck_limiter_enable(keeper.cgroup_parent_fd, keeper.env.cgroup_fd);
    if (r == 0)
        r = find_sibling();
    keeper.leaves_known = r >= 0;
    return r < 0 ? r : 0;
}

/*
 * Makes one of the directories of a warden. A descriptor, or -1 if it cannot have one. A lack of
 * resources is stored in *result.
 */
static int make_group(int base_fd, enum ck_cgroup_kind kind, long number, long *result)
{
    int fd = *result < 0 ? -1 : ck_cgroup_make(base_fd, kind, number);
    if (*result == 0 && transient(fd))
        *result = fd;
    return fd < 0 ? -1 : fd;
}

/*
 * Makes all directories of a new warden. It has a leaf only if it has a directory itself. 0 or a
 * negative errno.
 */
static long make_groups(struct ck_warden_start *start, long number, bool limited)
{
    long r = find_base();
    start->cgroup_fd = make_group(keeper.env.cgroup_fd, CK_CGROUP_WARDEN, number, &r);
    if (!limited || r < 0)
        return r;
    start->groups = (struct ck_warden_cgroups){.limited = true, .leaf_fd = -1};
    r = find_groups();
    if (r == 0 && start->cgroup_fd >= 0)
        r = find_leaves();
    if (start->cgroup_fd >= 0)
        start->groups.leaf_fd = make_group(keeper.leaf_base_fd, CK_CGROUP_LEAF, number, &r);
    for (unsigned i = 0; i < CK_CONTROLS; i++)
        start->groups.fds[i] = make_group(keeper.env.group_fds[i], CK_CGROUP_WARDEN, number, &r);
    return r;
}

static void close_groups(const struct ck_warden_cgroups *groups)
{
    if (!groups->limited)
        return;
    ck_nolibc_close(groups->leaf_fd);
    for (unsigned i = 0; i < CK_CONTROLS; i++)
        ck_nolibc_close(groups->fds[i]);
}

static void remove_groups(long number)
{
    ck_cgroup_remove(keeper.env.cgroup_fd, CK_CGROUP_WARDEN, number);
    ck_cgroup_remove(keeper.leaf_base_fd, CK_CGROUP_LEAF, number);
    for (unsigned i = 0; i < CK_CONTROLS; i++)
        ck_cgroup_remove(keeper.env.group_fds[i], CK_CGROUP_WARDEN, number);
}

static __attribute__((noreturn)) void warden_child(void *argument)
{
    ck_nolibc_close(CK_KEEPER_SOCKET_FD);
    ck_nolibc_close(keeper.cgroup_parent_fd);
    ck_nolibc_close(keeper.leaf_parent_fd);
    for (unsigned i = 0; i < CK_CONTROLS; i++)
        ck_nolibc_close(keeper.group_parent_fds[i]);
    ck_warden_main(&keeper.env, argument);
}

/*
 * Adds a child to the list of wardens, so that reap_and_kill leaves it alone. Returns pid, which
 * may be a negative errno.
 */
static long add_child(long pid, long number)
{
    if (pid <= 0)
        return pid;
    wardens[keeper.warden_count] = (int32_t)pid;
    numbers[keeper.warden_count++] = number;
    return pid;
}

static long create_warden(struct ck_warden_start *start, long number)
{
    long pid = ck_create_copied(warden_child, start, start->cgroup_fd);
    if (pid >= 0 || start->cgroup_fd < 0 || transient(pid))
        return pid;
    /*
     * This kernel has no clone3, or a filter refuses it. Continue without a directory; the result
     * names the weaker means of killing.
     */
    ck_nolibc_close(start->cgroup_fd);
    ck_nolibc_close(start->groups.limited ? start->groups.leaf_fd : -1);
    ck_cgroup_remove(keeper.env.cgroup_fd, CK_CGROUP_WARDEN, number);
    start->cgroup_fd = -1;
    start->groups.leaf_fd = -1;
    return ck_create_copied(warden_child, start, -1);
}

/* If there is no warden, the keeper reports the reason as a warden would. */
static void refuse_warden(int socket_fd, long error)
{
    const struct ck_wire_report report = {.kind = CK_WIRE_REPORT,
                                          .stage = CK_STAGE_CREATE,
                                          .error = (int32_t)-error,
                                          .ending = CK_ENDING_LAST,
                                          .ended_ns = ck_nolibc_now_ns()};
    (void)ck_nolibc_send(socket_fd, &report, sizeof(report), -1);
}

static void make_warden(int socket_fd, int jail_fd, const struct ck_wire_try *message)
{
    bool limited = message->kind == CK_WIRE_LIMITED;
    struct ck_warden_start start = {
        .socket_fd = socket_fd, .cgroup_fd = -1, .jail_fd = jail_fd, .groups = {.leaf_fd = -1}};
    start.jailed = message->trial != CK_WIRE_NO_JAIL;
    long number = ++keeper.last_number;
    long pid = keeper.warden_count < CK_WARDENS_MAX ? make_groups(&start, number, limited) : -CK_WIRE_FULL;
    if (pid == 0)
        pid = add_child(create_warden(&start, number), number);
    if (pid < 0) {
        refuse_warden(socket_fd, pid);
        remove_groups(number);
    }
    ck_nolibc_close(start.cgroup_fd);
    close_groups(&start.groups);
    ck_nolibc_close(jail_fd);
    ck_nolibc_close(socket_fd);
}

/* The trial is in the list of wardens, so it and its children are left alone until it ends. */
static void make_trial(int socket_fd, uint32_t trial)
{
    struct ck_trial_start start = {.socket_fd = socket_fd, .cgroup_fd = keeper.env.cgroup_fd, .trial = trial};
    start.number = ++keeper.last_number;
    long pid = keeper.warden_count < CK_WARDENS_MAX ? ck_create_copied(ck_trial_main, &start, -1) : -CK_WIRE_FULL;
    if (add_child(pid, start.number) < 0) {
        const struct ck_wire_tried tried = {.kind = CK_WIRE_TRIED, .trial = trial, .error = (int32_t)-pid};
        (void)ck_nolibc_send(socket_fd, &tried, sizeof(tried), -1);
    }
    ck_nolibc_close(socket_fd);
}

/* In the list of wardens, as a trial is. fds: the socket first; all are closed. */
static void make_prover(ck_create_child child, void *start, const int *fds, unsigned count)
{
    long pid = keeper.warden_count < CK_WARDENS_MAX ? ck_create_copied(child, start, -1) : -CK_WIRE_FULL;
    if (add_child(pid, ++keeper.last_number) < 0) {
        const struct ck_wire_proved proved = {.kind = CK_WIRE_PROVED, .error = (int32_t)-pid};
        (void)ck_nolibc_send(fds[0], &proved, sizeof(proved), -1);
    }
    for (unsigned i = 0; i < count; i++)
        ck_nolibc_close(fds[i]);
}

static void prove_jail(const int *fds)
{
    struct ck_prove_start start = {.socket_fd = fds[0], .program_fd = fds[1]};
    make_prover(ck_prove_main, &start, fds, 2);
}

/* The same for the native jail without user namespaces. */
static void prove_no_userns(const int *fds)
{
    struct ck_prove_no_userns_start start = {.socket_fd = fds[0]};
    memcpy(start.fds, fds + 1, sizeof(start.fds));
    make_prover(ck_prove_no_userns_main, &start, fds, 1 + CK_WIRE_PROOF_FDS);
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

/* Reaps, and kills each orphan that has come to us. True when no child is left. */
static bool reap_and_kill(void)
{
    for (;;) {
        siginfo_t info = {0};
        long r = CK_RAW5(waitid, P_ALL, 0, &info, WEXITED | WNOHANG, NULL);
        if (r == -ECHILD)
            return true;
        if (r < 0 || info.si_pid == 0)
            break;
        forget_warden((int32_t)info.si_pid);
    }
    (void)ck_tree_signal(keeper.env.proc_fd, SIGKILL, wardens, keeper.warden_count);
    return false;
}

/*
 * The kernel drops descriptors for which our table (limited by the caller) has no room. A warden
 * must not be made without the program of its jail: its runs would be in no jail.
 */
static void drop_request(bool warden, const int *fds, unsigned count)
{
    if (warden && count > 0)
        refuse_warden(fds[0], -EMFILE);
    for (unsigned i = 0; i < count; i++)
        ck_nolibc_close(fds[i]);
}

static bool receive_request(void)
{
    struct ck_wire_try message = {0}; /* the longest request; the others begin with the same fields */
    int fds[1 + CK_WIRE_PROOF_FDS];
    unsigned count;
    long got = ck_nolibc_receive(CK_KEEPER_SOCKET_FD, &message, sizeof(message), fds, 1 + CK_WIRE_PROOF_FDS, &count);
    if (got <= 0)
        return false;
    bool warden = message.kind == CK_WIRE_WARDEN || message.kind == CK_WIRE_LIMITED;
    if (warden && count == (message.trial == CK_WIRE_JAIL_SENT ? 2 : 1))
        make_warden(fds[0], count == 2 ? fds[1] : -1, &message);
    else if (message.kind == CK_WIRE_GROUPS)
        take_groups(message.trial, fds, count);
    else if (message.kind == CK_WIRE_TRY && count == 1)
        make_trial(fds[0], message.trial);
    else if (message.kind == CK_WIRE_PROVE && count == 2)
        prove_jail(fds);
    else if (message.kind == CK_WIRE_PROVE_NO_USERNS && count == 1 + CK_WIRE_PROOF_FDS)
        prove_no_userns(fds);
    else
        drop_request(warden, fds, count);
    return true;
}

/*
 * The wardens notice the end of the caller themselves. Wait for them, then for the orphans that
 * they may have left.
 */
static __attribute__((noreturn)) void finish(void)
{
    const int fds[CK_NOLIBC_WAITED] = {keeper.env.sigchld_fd, -1, -1, -1};
    while (!reap_and_kill()) {
        (void)ck_nolibc_wait_readable(fds, ck_nolibc_now_ns() + RETRY_NS);
        ck_nolibc_drain_signals(keeper.env.sigchld_fd);
    }
    if (keeper.leaf_parent_fd >= 0)
        ck_cgroup_base_remove(keeper.leaf_parent_fd, keeper.leaf_base_fd, keeper.cgroup_prefix);
    if (keeper.env.cgroup_fd >= 0)
        ck_cgroup_base_remove(keeper.cgroup_parent_fd, keeper.env.cgroup_fd, keeper.cgroup_prefix);
    for (unsigned i = 0; i < CK_CONTROLS; i++)
        if (keeper.env.group_fds[i] >= 0)
            ck_cgroup_base_remove(keeper.group_parent_fds[i], keeper.env.group_fds[i], keeper.cgroup_prefix);
    ck_nolibc_exit(0);
}

void ck_keeper_start(const long *stack)
{
    (void)stack;
    reset_signals();
    detach();
    if (!set_up())
        ck_nolibc_exit(1);
    const int fds[CK_NOLIBC_WAITED] = {keeper.env.sigchld_fd, CK_KEEPER_SOCKET_FD, keeper.env.caller_fd, -1};
    for (;;) {
        unsigned ready = ck_nolibc_wait_readable(fds, CK_FOREVER);
        if (ready & 1) {
            ck_nolibc_drain_signals(keeper.env.sigchld_fd);
            (void)reap_and_kill();
        }
        if ((ready & 4) || ((ready & 2) && !receive_request()))
            finish();
    }
}
