/*
 * pump.c - copies the stdin of a tool in a jail.
 *
 * The caller's stdin is an open file of the host. With its descriptor a tool could change its mode,
 * owner, times and attributes, lock it, or have the loader map it as code (docs/adr/0036). So the
 * tool gets a pipe, and a process outside of the jail copies from the file to the pipe. Nothing
 * waits for that process; it is ended with the tool.
 *
 *  Must     hold no stream of the tool once that exists: it would look as if a process had it.
 *  Must not outlive the warden; not read on when nobody reads the pipe; not let a part of the input
 *           pass for the whole: half of a script or of a patch is another script or patch.
 */
#include "run/keeper/pump.h"

#include "run/create.h"
#include "run/keeper/nolibc.h"
#include "sys/raw.h"

#include <asm/ioctls.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/prctl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#define CHUNK_BYTES 65536  /* capacity of a pipe */
#define END_SIGNAL SIGUSR1 /* of the warden; a pump that died of another one was cut */

enum { SOURCE, SINK, READY, PUMP_FDS };
enum { COPIED, CUT };

/*
 * The source may be non-blocking. It is shared with the caller, so we do not change that but wait.
 */
static void wait_for(int fd, short events)
{
    struct pollfd polled = {.fd = fd, .events = events};
    (void)CK_RAW5(ppoll, &polled, 1, NULL, NULL, 0);
}

static bool write_all(int sink_fd, const char *from, long length)
{
    while (length > 0) {
        long put = CK_RAW3(write, sink_fd, from, length);
        if (put < 0 && put != -EINTR)
            return false; /* EPIPE: the tool has closed its stdin */
        from += put > 0 ? put : 0;
        length -= put > 0 ? put : 0;
    }
    return true;
}

/*
 * Closes all descriptors from 3 on except these. They keep their numbers: with a small limit there
 * may be no free ones to move them to.
 */
static long close_others(const int *open_fds, unsigned count)
{
    for (unsigned from = 3;;) {
        unsigned next = ~0u;
        for (unsigned i = 0; i < count; i++)
            if ((unsigned)open_fds[i] >= from && (unsigned)open_fds[i] < next)
                next = (unsigned)open_fds[i];
        if (next == ~0u)
            return CK_RAW3(close_range, from, ~0u, 0);
        long r = next > from ? CK_RAW3(close_range, from, next - 1, 0) : 0;
        if (r < 0)
            return r;
        from = next + 1;
    }
}

/* A terminal returns EIO at its end: when the last process has closed its other side. */
static bool is_hung_up(int fd, long r)
{
    char settings[256];
    return r == -EIO && CK_RAW3(ioctl, fd, TCGETS, settings) == 0;
}

/*
 * All signals but one are blocked, as in every process of the keeper: the SIGTERM of a timeout must
 * not take the input away from the tool.
 */
static __attribute__((noreturn)) void pump_main(void *argument)
{
    static char chunk[CHUNK_BYTES];
    const int *fds = argument;
    const uint64_t blocked = ~((uint64_t)1 << (END_SIGNAL - 1));
    (void)CK_RAW4(rt_sigprocmask, SIG_SETMASK, &blocked, NULL, sizeof(blocked));
    (void)CK_RAW5(prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    (void)CK_RAW5(prctl, PR_SET_NAME, "choke-pump", 0, 0, 0);
    if (close_others(fds, PUMP_FDS) < 0)
        ck_nolibc_exit(CUT);
    ck_nolibc_close(fds[READY]);
    /*
     * An error at the first read means an empty stream. An error after that means that the stream
     * was cut.
     */
    for (bool begun = false;;) {
        long got = CK_RAW3(read, fds[SOURCE], chunk, sizeof(chunk));
        if (got == -EAGAIN)
            wait_for(fds[SOURCE], POLLIN);
        else if (got != -EINTR && (got <= 0 || !write_all(fds[SINK], chunk, got)))
            ck_nolibc_exit(got < 0 && begun && !is_hung_up(fds[SOURCE], got) ? CUT : COPIED);
        begun = begun || got > 0;
    }
}

/*
 * The read returns when the new process has closed its copy of this pipe. It closes it by a
 * separate call, after all others: one close_range closes files in any order.
 */
static void wait_for_end(int fd)
{
    char byte;
    while (CK_RAW3(read, fd, &byte, 1) == -EINTR)
        ;
}

long ck_pump_make(int source_fd, int *ret_fd)
{
    int ends[2] = {-1, -1}, ready[2] = {-1, -1};
    long r = CK_RAW2(pipe2, ends, O_CLOEXEC);
    if (r < 0)
        return r;
    r = CK_RAW2(pipe2, ready, O_CLOEXEC);
    if (r < 0) {
        ck_nolibc_close(ends[0]);
        ck_nolibc_close(ends[1]);
        return r;
    }
    int fds[PUMP_FDS] = {[SOURCE] = source_fd, [SINK] = ends[1], [READY] = ready[1]};
    long pid = ck_create_copied(pump_main, fds, -1);
    ck_nolibc_close(ends[1]);
    ck_nolibc_close(ready[1]);
    if (pid > 0)
        wait_for_end(ready[0]);
    else
        ck_nolibc_close(ends[0]);
    ck_nolibc_close(ready[0]);
    *ret_fd = pid > 0 ? ends[0] : -1;
    return pid;
}

bool ck_pump_cut(int code, int status)
{
    bool copied = code == CLD_EXITED && status == COPIED;
    bool ended_by_us = code == CLD_KILLED && status == END_SIGNAL;
    return !copied && !ended_by_us;
}

/*
 * A pump that is being killed closes its pipe some time before it can be reaped, and meanwhile the
 * tool may read the end of its input and end itself. So the pump's own status decides: a process
 * keeps the first signal that is fatal to it. SIGKILL is for one that was stopped.
 */
bool ck_pump_end(int32_t *pid)
{
    siginfo_t info = {0};
    if (*pid <= 0)
        return false;
    (void)CK_RAW2(kill, *pid, END_SIGNAL);
    (void)CK_RAW2(kill, *pid, SIGKILL);
    while (CK_RAW5(waitid, P_PID, *pid, &info, WEXITED, NULL) == -EINTR)
        ;
    *pid = 0;
    return ck_pump_cut(info.si_code, info.si_status);
}
