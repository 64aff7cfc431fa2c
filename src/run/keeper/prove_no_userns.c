/*
 * prove_no_userns.c - does the native jail hold where it has no namespaces? Tried from inside, once per context, like the whole
 * one (prove.c).
 *
 * A process takes on the same walls by the same steps as a tool's process does, and then tries what they forbid. There are
 * two directories of the caller's own: one that the ruleset lets be written, and one that it does not, with a file in it
 * which nothing but the ruleset and the filter keep this process from.
 */
#define CK_RAW_ANSWER(result) ck_prove_note(result)
#include "run/keeper/prove_no_userns.h"

#include "jail/native_ops.h"
#include "run/create.h"
#include "run/keeper/child.h"
#include "run/keeper/nolibc.h"
#include "run/keeper/prove.h"
#include "run/raw.h"

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

#define ABI_WITH_SCOPES 6

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

/* ---- one wall each, in the directory outside ---- */

static bool outside_is_closed(void)
{
    return open_to(".", O_RDONLY | O_DIRECTORY) == -EACCES && open_to("secret", O_RDONLY) == -EACCES &&
           open_to("secret", O_WRONLY) == -EACCES && CK_RAW2(truncate, "secret", 0) == -EACCES &&
           open_to("planted", O_WRONLY | O_CREAT) == -EACCES && CK_RAW3(mkdirat, AT_FDCWD, "made", 0700) == -EACCES &&
           CK_RAW3(unlinkat, AT_FDCWD, "secret", 0) == -EACCES && open_to("/", O_RDONLY | O_DIRECTORY) == -EACCES;
}

/* Where the kernel can tell who is outside. */
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

/* By a descriptor, whoever owns the file. Should it succeed, nothing has changed. */
static bool open_files_are_fixed(void)
{
    static const struct timespec same[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_nsec = UTIME_OMIT}};
    struct stat status = {0};
    return CK_RAW2(fstat, 0, &status) == 0 && CK_RAW2(fchmod, 0, status.st_mode & 07777) == -EPERM &&
           CK_RAW3(fchown, 0, status.st_uid, status.st_gid) == -EPERM &&
           CK_RAW4(utimensat, 0, NULL, same, 0) == -EPERM && CK_RAW2(fremovexattr, 0, "user.choke") == -EPERM;
}

/* What Landlock lets be done to any file, and to other processes, is the filter's. */
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

/* In the place of a tool's process. What execs does not hold is told by what is missing: this process is replaced then. */
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

/* ---- the trial ---- */

/* What is tried must be possible without the walls. */
static long make_secret_file(const int *fds)
{
    long fd = CK_RAW4(openat, fds[CK_WIRE_PROOF_OUTSIDE], "secret", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0)
        ck_nolibc_close((int)fd);
    return fd < 0 ? fd : 0;
}

static long prove(struct proof *proof)
{
    long result = make_secret_file(proof->fds);
    if (result == 0)
        result = ck_child_map_filter(&proof->child, proof->fds[CK_WIRE_PROOF_FILTER]);
    if (result < 0)
        return result;
    proof->child.ruleset_fd = proof->fds[CK_WIRE_PROOF_RULESET];
    long pid = ck_create_borrowed(prover, proof, NULL);
    if (pid < 0)
        return pid;
    siginfo_t info = {0};
    do
        result = CK_RAW5(waitid, P_PID, pid, &info, WEXITED, NULL);
    while (result == -EINTR);
    if (proof->child.failed_stage != CK_STAGE_NONE)
        return -proof->child.failed_errno;
    /* One that was killed has not said all: that is no answer. */
    return result < 0 || info.si_code == CLD_EXITED ? result : -ECONNRESET;
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
    proved.shortage = ck_prove_shortage(); /* the prover had our memory */
    (void)ck_nolibc_send(fds[0], &proved, sizeof proved, -1);
    ck_nolibc_exit(0);
}
