/*
 * prove_no_userns.c - does the native jail without user namespaces hold? Tried from inside, once
 * per context, as in prove.c.
 *
 * A process applies the same layers by the same steps as the process of a tool, and then tries what
 * they forbid. It has two directories of the caller: the ruleset allows to write to one and not to
 * the other. In the second there is a file that only the ruleset and the filter protect from this
 * process.
 */
#define CK_RAW_ANSWER(result) ck_prove_note(result)
#include "run/keeper/prove_no_userns.h"

#include "jail/native_ops.h"
#include "run/create.h"
#include "run/keeper/child.h"
#include "run/keeper/nolibc.h"
#include "run/keeper/prove.h"
#include "sys/raw.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <linux/prctl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>

#define ABI_WITH_SCOPES 6 /* Landlock can keep signals inside a domain since this ABI */

struct proof {
    struct ck_child child;
    const int *fds;
    uint32_t held;
};

static long open_to(const char *path, int flags)
{
    long fd = CK_RAW4(openat, AT_FDCWD, path, flags | O_CLOEXEC, 0600);
    if (fd >= 0)
        ck_nolibc_close((int)fd);
    return fd;
}

/* ---- one layer each, in the directory outside ---- */

static bool outside_is_closed(void)
{
    return open_to(".", O_RDONLY | O_DIRECTORY) == -EACCES && open_to("secret", O_RDONLY) == -EACCES &&
           open_to("secret", O_WRONLY) == -EACCES && CK_RAW2(truncate, "secret", 0) == -EACCES &&
           open_to("planted", O_WRONLY | O_CREAT) == -EACCES && CK_RAW3(mkdirat, AT_FDCWD, "made", 0700) == -EACCES &&
           CK_RAW3(unlinkat, AT_FDCWD, "secret", 0) == -EACCES && open_to("/", O_RDONLY | O_DIRECTORY) == -EACCES;
}

/* Only if the kernel can restrict signals to processes of the same Landlock domain. */
static bool parent_is_out_of_reach(void)
{
    long abi = CK_RAW3(landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    return abi < ABI_WITH_SCOPES || CK_RAW2(kill, CK_RAW0(getppid), 0) == -EPERM;
}

static bool inside_is_open(const struct proof *proof)
{
    return CK_RAW1(fchdir, proof->fds[CK_WIRE_PROOF_INSIDE]) == 0 && open_to(".", O_RDONLY | O_DIRECTORY) >= 0 &&
           open_to("mine", O_WRONLY | O_CREAT) >= 0;
}

/* By a descriptor. If a call succeeds after all, it changes nothing. */
static bool open_files_are_fixed(void)
{
    static const struct timespec same[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_nsec = UTIME_OMIT}};
    struct stat status = {0};
    return CK_RAW2(fstat, 0, &status) == 0 && CK_RAW2(fchmod, 0, status.st_mode & 07777) == -EPERM &&
           CK_RAW3(fchown, 0, status.st_uid, status.st_gid) == -EPERM &&
           CK_RAW4(utimensat, 0, NULL, same, 0) == -EPERM && CK_RAW2(fremovexattr, 0, "user.choke") == -EPERM;
}

/* Landlock does not restrict these calls on files and other processes, so the filter must. */
static bool seccomp(void)
{
    return ck_prove_seccomp() && open_files_are_fixed() && CK_RAW3(fchmodat, AT_FDCWD, "secret", 0644) == -EPERM &&
           CK_RAW3(shmget, 1, 0, 0) == -EPERM && CK_RAW5(mount, "none", "/", "tmpfs", 0, NULL) == -EPERM &&
           CK_RAW4(prlimit64, CK_RAW0(getppid), RLIMIT_NOFILE, NULL, NULL) == -EPERM;
}

static bool no_capabilities(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2] = {{~0u, ~0u, ~0u}, {~0u, ~0u, ~0u}};
    return CK_RAW2(capget, &header, data) == 0 &&
           (data[0].effective | data[1].effective | data[0].permitted | data[1].permitted) == 0;
}

static void note(struct proof *proof, enum ck_jail_layer jail_layer, bool holds)
{
    if (holds)
        proof->held |= UINT32_C(1) << jail_layer;
}

/*
 * Runs in place of the process of a tool. If execs does not hold, this process is replaced, and its
 * bit stays missing.
 */
static __attribute__((noreturn)) void prover(void *argument)
{
    struct proof *proof = argument;
    (void)CK_RAW5(prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (ck_child_restrict(&proof->child) < 0 || CK_RAW1(fchdir, proof->fds[CK_WIRE_PROOF_OUTSIDE]) < 0)
        ck_nolibc_exit(127);
    note(proof, CK_JAIL_LAYER_SECCOMP, seccomp());
    note(proof, CK_JAIL_LAYER_NO_CAPABILITIES, no_capabilities());
    note(proof, CK_JAIL_LAYER_NO_NEW_PRIVS, ck_prove_no_new_privs());
    note(proof, CK_JAIL_LAYER_LANDLOCK, outside_is_closed() && parent_is_out_of_reach() && inside_is_open(proof));
    note(proof, CK_JAIL_LAYER_EXECS, ck_prove_execs());
    ck_nolibc_exit(0);
}

/* ---- the proof ---- */

/* Without the layers each attempt must be possible, or the proof would prove nothing. */
static long make_secret_file(const int *fds)
{
    long fd = CK_RAW4(openat, fds[CK_WIRE_PROOF_OUTSIDE], "secret", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0)
        ck_nolibc_close((int)fd);
    return fd < 0 ? fd : 0;
}

static long prove(struct proof *proof)
{
    long r = make_secret_file(proof->fds);
    if (r == 0)
        r = ck_child_map_filter(&proof->child, proof->fds[CK_WIRE_PROOF_FILTER]);
    if (r < 0)
        return r;
    proof->child.ruleset_fd = proof->fds[CK_WIRE_PROOF_RULESET];
    long pid = ck_create_borrowed(prover, proof, NULL);
    if (pid < 0)
        return pid;
    siginfo_t info = {0};
    do
        r = CK_RAW5(waitid, P_PID, pid, &info, WEXITED, NULL);
    while (r == -EINTR);
    if (proof->child.failed_stage != CK_STAGE_NONE)
        return -proof->child.failed_errno;
    /* A killed process has not tried everything, so there is no result. */
    return r < 0 || info.si_code == CLD_EXITED ? r : -ECONNRESET;
}

void ck_prove_no_userns_main(void *argument)
{
    static struct proof proof;
    static int fds[1 + CK_WIRE_PROOF_FDS];
    const struct ck_prove_no_userns_start *start = argument;
    struct ck_wire_proved proved = {.kind = CK_WIRE_PROVED};
    fds[0] = start->socket_fd;
    for (int i = 0; i < CK_WIRE_PROOF_FDS; i++)
        fds[1 + i] = start->fds[i];
    if (ck_nolibc_enter_trial(fds, 1 + CK_WIRE_PROOF_FDS) < 0)
        ck_nolibc_exit(1);
    proof.fds = fds + 1;
    proved.error = (int32_t)-prove(&proof);
    proved.held = proof.held;
    proved.shortage = ck_prove_shortage(); /* the prover shared our memory */
    (void)ck_nolibc_send(fds[0], &proved, sizeof(proved), -1);
    ck_nolibc_exit(0);
}
