/*
 * bwrap.c - the process that becomes bwrap, from its creation to exec, and the memory that it
 * shares with `bwrap_init`.
 *
 * bwrap does not get the streams of the tool as its own 0 to 2: its outer process would hold them
 * as long as it lives, and nobody could see whether another process holds them. That process
 * closes all descriptors above 2 and passes them on to the program that it starts, so the streams
 * are passed there. Messages of bwrap go into the shared memory, and from there into the report.
 *
 *  Must     execute the plan; report which step failed and why.
 *  Must not change memory except the two fields of the child's report: the memory belongs to the
 *           warden.
 */
#include "run/keeper/bwrap.h"

#include "run/create.h"
#include "run/keeper/nolibc.h"
#include "sys/raw.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/prctl.h>
#include <signal.h>
#include <sys/mman.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif
#define PASSED (CK_BWRAP_INIT_END - CK_BWRAP_INIT_PROGRAM)

/* Copies fd to a number above all targets. A copy that is not moved back is closed on exec. */
static long move(int fd)
{
    return CK_RAW3(fcntl, fd, F_DUPFD_CLOEXEC, CK_BWRAP_INIT_END);
}

/*
 * Puts the descriptors in the order of enum ck_bwrap_init_fd. Returns the descriptor of bwrap,
 * which is above all targets.
 */
static long place_descriptors(const struct ck_bwrap_child *bwrap_child)
{
    const int *fds = bwrap_child->child->fds;
    const int sources[PASSED] = {
        bwrap_child->bwrap_fds[CK_WIRE_BWRAP_PROGRAM],
        bwrap_child->bwrap_fds[CK_WIRE_BWRAP_IMAGE],
        bwrap_child->bwrap_fds[CK_WIRE_BWRAP_TOOL],
        bwrap_child->bwrap_fds[CK_WIRE_BWRAP_ROOT],
        bwrap_child->bwrap_fds[CK_WIRE_BWRAP_SCRATCH],
        bwrap_child->status_fd,
        fds[CK_WIRE_STDIN],
        fds[CK_WIRE_STDOUT],
        fds[CK_WIRE_STDERR],
        fds[CK_WIRE_STDOUT_READ],
        fds[CK_WIRE_STDERR_READ],
        bwrap_child->gate_fd,
    };
    int passed = bwrap_child->gate_fd < 0 ? PASSED - 1 : PASSED;
    long moved[PASSED];
    long bwrap = move(fds[CK_WIRE_EXECUTABLE]);
    long r = bwrap;
    for (int i = 0; i < passed && r >= 0; i++)
        r = moved[i] = move(sources[i]);
    if (r >= 0)
        r = ck_nolibc_close_on_exec_from(3);
    if (r >= 0)
        /* stderr of bwrap is the status file: its messages go after struct ck_init_status. */
        r = CK_RAW3(dup3, moved[CK_BWRAP_INIT_STATUS - CK_BWRAP_INIT_PROGRAM], 2, 0);
    for (int i = 0; i < passed && r >= 0; i++)
        r = CK_RAW3(dup3, moved[i], CK_BWRAP_INIT_PROGRAM + i, 0);
    return r < 0 ? r : bwrap;
}

/*
 * SIGTERM and SIGXCPU stay blocked in bwrap. Otherwise the first one would end bwrap, and with it
 * the tool at once, which must have time to end by itself. The mask of the tool is set when it is
 * created.
 */
static long hold_signals(void)
{
    static const uint64_t held = UINT64_C(1) << (SIGTERM - 1) | UINT64_C(1) << (SIGXCPU - 1);
    return CK_RAW4(rt_sigprocmask, SIG_SETMASK, &held, NULL, sizeof(held));
}

void ck_bwrap_main(void *argument)
{
    const struct ck_bwrap_child *bwrap_child = argument;
    struct ck_child *child = bwrap_child->child;
    long r = CK_RAW0(setsid);
    if (r >= 0)
        r = CK_RAW5(prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (r >= 0)
        r = CK_RAW5(prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    long bwrap = r < 0 ? r : place_descriptors(bwrap_child);
    r = bwrap < 0 ? bwrap : hold_signals();
    child->failed_stage = CK_STAGE_JAIL;
    if (r >= 0) {
        /*
         * Cleared before exec: the memory belongs to the warden, and after a successful exec nobody
         * is left here to clear it.
         */
        child->failed_stage = CK_STAGE_NONE;
        r = ck_create_execute((int)bwrap, NULL, child->argv, child->envp);
        child->failed_stage = CK_STAGE_EXECUTE;
    }
    child->failed_errno = (int32_t)-r;
    ck_nolibc_exit(127);
}

long ck_bwrap_make_status(struct ck_init_status **ret_status)
{
    /* Before Linux 6.3 the kernel does not know MFD_NOEXEC_SEAL. */
    long fd = CK_RAW2(memfd_create, "init-status", MFD_CLOEXEC | MFD_NOEXEC_SEAL);
    if (fd == -EINVAL)
        fd = CK_RAW2(memfd_create, "init-status", MFD_CLOEXEC);
    if (fd < 0)
        return fd;
    long r = CK_RAW2(ftruncate, fd, CK_INIT_STATUS_BYTES);
    if (r == 0)
        /* bwrap shares the file offset, so its messages begin there. */
        r = CK_RAW3(lseek, fd, CK_INIT_STATUS_MESSAGE_AT, 0);
    if (r >= 0)
        r = CK_RAW6(mmap, NULL, CK_INIT_STATUS_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (r < 0 && r > -4096) {
        ck_nolibc_close((int)fd);
        return r;
    }
    *ret_status = (void *)r;
    return fd;
}
