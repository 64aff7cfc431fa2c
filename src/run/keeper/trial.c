/*
 * trial.c - does a layer hold on this machine? Tried by using it (docs/adr/0018).
 *
 * A trial is a child of the keeper that applies one layer and then tries what the layer forbids, or
 * does what only the layer allows. Its changes end with it. It is not enough that the kernel
 * accepts a call: some calls are accepted and then do nothing, such as a user namespace in which a
 * security module denies every capability.
 *
 *  Must     close the keeper's descriptors first: it becomes dumpable, to write its own uid map.
 *  Must not outlive its time: an alarm ends it, or the death of the keeper.
 */
#include "run/keeper/trial.h"

#include "base/errkind.h"
#include "run/create.h"
#include "run/keeper/cgroup.h"
#include "run/keeper/native_jail.h"
#include "run/keeper/nolibc.h"
#include "run/wire.h"
#include "sys/raw.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/openat2.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <net/if.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>

#define NOT_HELD (-EPROTO) /* the kernel accepted it, but it does not hold */

struct trial_state {
    int cgroup_fd; /* directory of the context, or -1 */
    long number;   /* number of the directory that the trial makes in it */
    int32_t value;
};

/* ---- helpers ---- */

/* Waits for one child. -ECHILD if no child exists. */
static long wait_child(siginfo_t *info)
{
    long r;
    do
        r = CK_RAW5(waitid, P_ALL, 0, info, WEXITED, NULL);
    while (r == -EINTR);
    return r;
}

static long no_new_privs(void)
{
    return CK_RAW5(prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

/* ---- layers that need no namespace ---- */

static long try_no_new_privs(struct trial_state *trial)
{
    (void)trial;
    long r = no_new_privs();
    if (r < 0)
        return r;
    return CK_RAW5(prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? 0 : NOT_HELD;
}

/* Harmless: if a program is executed after all, it replaces this process, and no answer is sent. */
static long execute_something(void)
{
    static const char *const programs[] = {"/bin/true", "/usr/bin/true", "/lib64/ld-linux-x86-64.so.2",
                                           "/lib/ld-linux-aarch64.so.1"};
    static char name[] = "true";
    static char *const argv[] = {name, NULL};
    static char *const envp[] = {NULL};
    long r = -ENOENT;
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]) && r == -ENOENT; i++)
        r = ck_create_execute(-1, programs[i], argv, envp);
    return r;
}

static long list_root(void)
{
    long fd = CK_RAW4(openat, AT_FDCWD, "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (fd >= 0)
        ck_nolibc_close((int)fd);
    return fd < 0 ? fd : 0;
}

/*
 * The root must be readable before the ruleset applies and refused after it. The ruleset has no
 * rule, so it forbids what it handles everywhere.
 */
static long try_landlock(struct trial_state *trial)
{
    const struct landlock_ruleset_attr rules = {.handled_access_fs =
                                                    LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_DIR};
    long abi = CK_RAW3(landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (abi < 0)
        return abi;
    trial->value = (int32_t)abi;
    long fd = CK_RAW3(landlock_create_ruleset, &rules, sizeof(rules.handled_access_fs), 0);
    long r = fd < 0 ? fd : list_root();
    if (r == 0)
        r = no_new_privs();
    if (r == 0)
        r = CK_RAW2(landlock_restrict_self, fd, 0);
    if (r < 0)
        return r;
    if (list_root() != -EACCES)
        return NOT_HELD;
    r = execute_something();
    return r == -EACCES || r == -ENOENT ? 0 : NOT_HELD;
}

/* The filter makes getppid fail with EXDEV, an errno that getppid never returns otherwise. */
static long try_seccomp(struct trial_state *trial)
{
    (void)trial;
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_getppid, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EXDEV),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {.len = sizeof(code) / sizeof(code[0]), .filter = code};
    long r = no_new_privs();
    if (r == 0)
        r = CK_RAW5(prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
    if (r < 0)
        return r;
    return CK_RAW0(getppid) == -EXDEV ? 0 : NOT_HELD;
}

/* ---- namespaces ---- */

static long enter_user(void)
{
    return ck_native_jail_enter_userns((uint32_t)CK_RAW0(geteuid), (uint32_t)CK_RAW0(getegid));
}

/*
 * Makes a user namespace first, if it is permitted. A lack of resources must not look like "not
 * permitted" later. ENOSPC is an answer: the machine allows no more user namespaces.
 */
static long enter_user_first(struct trial_state *trial)
{
    long r = enter_user();
    trial->value = r == 0;
    return r < 0 && ck_errkind_of((int)-r) == CK_ERRKIND_TRANSIENT && r != -ENOSPC ? r : 0;
}

/* Inside we have every capability over what belongs to the namespace, so we can set a host name. */
static long try_user(struct trial_state *trial)
{
    (void)trial;
    long r = enter_user();
    if (r < 0)
        return r;
    r = CK_RAW1(unshare, CLONE_NEWUTS);
    if (r == 0)
        r = CK_RAW2(sethostname, "trial", 5);
    return r;
}

static size_t read_link(const char *path, char *buffer, size_t size)
{
    long length = CK_RAW4(readlinkat, AT_FDCWD, path, buffer, size);
    return length < 0 ? 0 : (size_t)length;
}

/* In a new user namespace if there is one (value 1), else with the privileges of the caller. */
static long enter(struct trial_state *trial, unsigned long flag, const char *link)
{
    char before[64], after[64];
    size_t length = read_link(link, before, sizeof(before));
    long r = enter_user_first(trial);
    if (r == 0)
        r = CK_RAW1(unshare, flag);
    if (r < 0)
        return r;
    bool same = length > 0 && read_link(link, after, sizeof(after)) == length;
    for (size_t i = 0; same && i < length; i++)
        same = before[i] == after[i];
    return same ? NOT_HELD : 0;
}

/* MS_PRIVATE first: without it the new mount would appear on the host, if its mounts are shared. */
static long try_mount(struct trial_state *trial)
{
    long r = enter(trial, CLONE_NEWNS, "/proc/self/ns/mnt");
    if (r == 0)
        r = CK_RAW5(mount, NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
    return r < 0 ? r : CK_RAW5(mount, "trial", "/", "tmpfs", MS_NOSUID | MS_NODEV, NULL);
}

/* The exit status is the answer: 0 if this is the first process of its pid namespace. */
static __attribute__((noreturn)) void report_pid(void *argument)
{
    (void)argument;
    ck_nolibc_exit(CK_RAW0(getpid) == 1 ? 0 : 1);
}

/* unshare(CLONE_NEWPID) applies to children, so a child must see itself as pid 1. */
static long try_pid(struct trial_state *trial)
{
    siginfo_t info = {0};
    long r = enter_user_first(trial);
    if (r == 0)
        r = CK_RAW1(unshare, CLONE_NEWPID);
    if (r == 0)
        r = ck_create_copied(report_pid, NULL, -1);
    if (r >= 0)
        r = wait_child(&info);
    if (r < 0)
        return r;
    return info.si_code == CLD_EXITED && info.si_status == 0 ? 0 : NOT_HELD;
}

/* To bring loopback up needs CAP_NET_ADMIN over the new namespace. */
static long try_net(struct trial_state *trial)
{
    struct ifreq loopback = {.ifr_name = "lo", .ifr_flags = IFF_UP};
    long r = enter(trial, CLONE_NEWNET, "/proc/self/ns/net");
    long fd = r < 0 ? r : CK_RAW3(socket, AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    return fd < 0 ? fd : CK_RAW3(ioctl, fd, SIOCSIFFLAGS, &loopback);
}

static long try_ipc(struct trial_state *trial)
{
    return enter(trial, CLONE_NEWIPC, "/proc/self/ns/ipc");
}

static long try_uts(struct trial_state *trial)
{
    long r = enter(trial, CLONE_NEWUTS, "/proc/self/ns/uts");
    return r < 0 ? r : CK_RAW2(sethostname, "trial", 5);
}

static long try_cgroup(struct trial_state *trial)
{
    return enter(trial, CLONE_NEWCGROUP, "/proc/self/ns/cgroup");
}

/* ---- how trees are killed and paths are resolved ---- */

static __attribute__((noreturn)) void sleep_on(void *argument)
{
    static const int none[CK_NOLIBC_WAITED] = {-1, -1, -1, -1};
    (void)argument;
    (void)CK_RAW5(prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    for (;;)
        (void)ck_nolibc_wait_readable(none, CK_FOREVER);
}

/*
 * The child must die by the write to cgroup.kill and by nothing else. ENOENT means that the context
 * has no directory.
 */
static long try_cgroup_kill(struct trial_state *trial)
{
    struct ck_cgroup cgroup;
    siginfo_t info = {0};
    int directory_fd = ck_cgroup_make(trial->cgroup_fd, CK_CGROUP_WARDEN, trial->number);
    if (directory_fd < 0)
        return directory_fd == -ENOENT ? -ENOTSUP : directory_fd;
    long pid = ck_create_copied(sleep_on, NULL, directory_fd);
    if (pid < 0)
        return pid;
    ck_cgroup_open(&cgroup, trial->cgroup_fd, directory_fd);
    if (!ck_cgroup_kill(&cgroup)) {
        (void)CK_RAW2(kill, pid, SIGKILL);
        (void)wait_child(&info);
        return NOT_HELD;
    }
    long r = wait_child(&info);
    return r < 0 ? r : info.si_code == CLD_KILLED ? 0 : NOT_HELD;
}

static __attribute__((noreturn)) void exit_at_once(void *argument)
{
    (void)argument;
    ck_nolibc_exit(0);
}

static __attribute__((noreturn)) void leave_an_orphan(void *argument)
{
    (void)argument;
    ck_nolibc_exit(ck_create_copied(exit_at_once, NULL, -1) > 0 ? 0 : 1);
}

/* The orphan moves to us, not to init: one child was made, and two are waited for. */
static long try_subreaper(struct trial_state *trial)
{
    siginfo_t info = {0};
    (void)trial;
    long r = CK_RAW5(prctl, PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    if (r == 0)
        r = ck_create_copied(leave_an_orphan, NULL, -1);
    if (r >= 0)
        r = wait_child(&info);
    if (r < 0)
        return r;
    return wait_child(&info) == 0 ? 0 : NOT_HELD;
}

/* Signal 0 only checks that a signal can be sent. */
static long try_pidfd(struct trial_state *trial)
{
    (void)trial;
    long fd = CK_RAW2(pidfd_open, CK_RAW0(getpid), 0);
    return fd < 0 ? fd : CK_RAW4(pidfd_send_signal, fd, 0, NULL, 0);
}

/* ".." of a directory leads out of it, so RESOLVE_BENEATH must refuse it with EXDEV. */
static long try_openat2(struct trial_state *trial)
{
    const struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_BENEATH};
    (void)trial;
    long fd = CK_RAW4(openat, AT_FDCWD, "/", O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
    long r = fd < 0 ? fd : CK_RAW4(openat2, fd, "..", &how, sizeof(how));
    return r == -EXDEV ? 0 : r < 0 ? r : NOT_HELD;
}

static long (*const trials[CK_TRIALS])(struct trial_state *trial) = {
    [CK_TRIAL_NO_NEW_PRIVS] = try_no_new_privs,
    [CK_TRIAL_LANDLOCK] = try_landlock,
    [CK_TRIAL_SECCOMP] = try_seccomp,
    [CK_TRIAL_USER_NS] = try_user,
    [CK_TRIAL_MOUNT_NS] = try_mount,
    [CK_TRIAL_PID_NS] = try_pid,
    [CK_TRIAL_NET_NS] = try_net,
    [CK_TRIAL_IPC_NS] = try_ipc,
    [CK_TRIAL_UTS_NS] = try_uts,
    [CK_TRIAL_CGROUP_NS] = try_cgroup,
    [CK_TRIAL_CGROUP_KILL] = try_cgroup_kill,
    [CK_TRIAL_SUBREAPER] = try_subreaper,
    [CK_TRIAL_PIDFD] = try_pidfd,
    [CK_TRIAL_OPENAT2] = try_openat2,
};

void ck_trial_main(void *argument)
{
    struct ck_trial_start *start = argument;
    struct ck_wire_tried tried = {.kind = CK_WIRE_TRIED, .trial = start->trial, .error = EINVAL};
    int fds[2] = {start->socket_fd, start->cgroup_fd};
    if (ck_nolibc_enter_trial(fds, 2) < 0)
        ck_nolibc_exit(1);
    struct trial_state trial = {.cgroup_fd = fds[1], .number = start->number};
    if (start->trial < CK_TRIALS && trials[start->trial]) {
        tried.error = (int32_t)-trials[start->trial](&trial);
        tried.value = trial.value;
    }
    (void)ck_nolibc_send(fds[0], &tried, sizeof(tried), -1);
    ck_nolibc_exit(0);
}
