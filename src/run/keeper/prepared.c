/*
 * prepared.c - the init of a native jail and the process of a tool, created before their plan comes
 * (docs/adr/0071).
 *
 *      warden                          prepared init                  process of the tool
 *      report of the last run
 *      mounts reset
 *      -- clone ---------------------> /proc, Landlock, capabilities
 *                                      -- vfork --------------------> waits for start_fds
 *      plan received, root in its place
 *      read ends -> rest_fds
 *      listener  <- rest_fds, -> caller (with egress; the init has sent it after it was created)
 *      streams   -> start_fds ---------------------------------------> steps of child.c, exec
 *      watches                         <- rest_fds; serves, reaps
 *
 * The vfork suspends the init until the tool is executed, so the process of the tool receives its
 * descriptors itself. Strings and numbers of the plan are in memory that all three share until exec.
 *
 *  Must     use a prepared init once, and only for a run that gets exactly the same layers.
 *  Must not start the tool before everything that can fail in the warden has succeeded.
 */
#include "run/keeper/prepared.h"

#include "run/keeper/nolibc.h"
#include "sys/raw.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define KEPT_NS UINT64_C(2000000000)
#define GATE_NS 50000000u /* for a listener that the init has not sent yet; then another init is created */

/* Descriptors of the message to the process of the tool. */
enum start_fd { START_STDIN, START_STDOUT, START_STDERR, START_EXECUTABLE, START_FDS };

static bool make_pair(int pair[2])
{
    if (CK_RAW4(socketpair, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0)
        return true;
    pair[0] = pair[1] = -1;
    return false;
}

void ck_prepared_init(struct ck_prepared *prepared)
{
    *prepared = (struct ck_prepared){.start_fds = {-1, -1}, .rest_fds = {-1, -1}};
    long memory = CK_RAW6(mmap, NULL, sizeof(struct ck_prepared_memory), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    bool mapped = memory > 0 || memory <= -4096;
    if (mapped && make_pair(prepared->start_fds) && make_pair(prepared->rest_fds))
        prepared->memory = (void *)memory;
    else if (mapped)
        (void)CK_RAW2(munmap, memory, sizeof(struct ck_prepared_memory));
}

/* ---- in the init ---- */

/* All of them, or none. */
static long receive_fds(int socket_fd, int *ret_fds, unsigned count)
{
    unsigned got_fds = 0;
    char byte;
    long got;
    do
        got = ck_nolibc_receive(socket_fd, &byte, 1, ret_fds, count, &got_fds);
    while (got == -EINTR);
    if (got == 1 && got_fds == count)
        return 0;
    for (unsigned i = 0; i < count; i++) {
        ck_nolibc_close(i < got_fds ? ret_fds[i] : -1);
        ret_fds[i] = -1;
    }
    return got < 0 ? got : -EMFILE;
}

void ck_prepared_main(void *argument)
{
    const struct ck_init_run *run = argument;
    struct ck_child *child = run->child;
    int *fds = run->prepared_fds;
    int received[START_FDS];
    long r = receive_fds(run->start_fd, received, START_FDS);
    if (r < 0) {
        child->failed_stage = CK_STAGE_STDIO;
        child->failed_errno = (int32_t)-r;
        ck_nolibc_exit(127);
    }
    fds[CK_WIRE_STDIN] = received[START_STDIN];
    fds[CK_WIRE_STDOUT] = received[START_STDOUT];
    fds[CK_WIRE_STDERR] = received[START_STDERR];
    fds[CK_WIRE_EXECUTABLE] = received[START_EXECUTABLE];
    child->stdin_fd = child->null_stdin ? run->null_fd : received[START_STDIN];
    ck_child_main(child);
}

void ck_prepared_receive_rest(const struct ck_init_run *run)
{
    (void)receive_fds(run->rest_fd, run->prepared_fds + CK_WIRE_STDOUT_READ, CK_WIRE_FDS - CK_WIRE_STDOUT_READ);
}

/* ---- in the warden ---- */

/* Whether a run of this jail can be prepared at all. */
static bool can_prepare(const struct ck_init_run *run)
{
    const struct ck_native_program *program = run->jail->program;
    return run->main == ck_child_main && run->workspace != CK_WORKSPACE_OVERLAY && program->why == 0 &&
           program->learn == 0 && !ck_native_in_tmp(ck_native_root(program));
}

void ck_prepared_make(struct ck_prepared *prepared, const struct ck_init_run *like, bool oom_preferred)
{
    if (!prepared->memory || prepared->pid != 0 || !can_prepare(like) || !like->jail->null_ready)
        return;
    struct ck_init_run run = *like;
    /* The fields of the last run must not be taken for those of this one. */
    prepared->memory->child = (struct ck_child){.fds = prepared->memory->fds};
    run.child = &prepared->memory->child;
    run.main = ck_prepared_main;
    run.argument = &run;
    run.overlay_fd = -1;
    run.prepared_fds = prepared->memory->fds;
    run.start_fd = prepared->start_fds[1];
    run.rest_fd = run.gate_fd = prepared->rest_fds[1];
    run.null_fd = like->jail->null_fd;
    long pid = ck_native_jail_create_init(&run);
    if (pid <= 0)
        return;
    prepared->pid = (int32_t)pid;
    prepared->spent = false;
    prepared->workspace = like->workspace;
    prepared->oom_preferred = oom_preferred;
    prepared->until_ns = ck_nolibc_now_ns() + KEPT_NS;
}

/* Landlock names the root only where the tool may write or execute beneath it. */
static bool has_rule_for_root(const struct ck_init_run *run)
{
    return run->workspace != CK_WORKSPACE_RO || run->jail->program->workspace_code != 0;
}

static bool fits(const struct ck_prepared *prepared, const struct ck_init_run *run, bool oom_preferred)
{
    const struct ck_native_jail *jail = run->jail;
    const unsigned char *argv = (const unsigned char *)run->child->argv;
    struct stat held = {0};
    siginfo_t ended = {0};
    if (prepared->pid == 0 || prepared->spent || !can_prepare(run) || prepared->workspace != run->workspace ||
        prepared->oom_preferred != oom_preferred)
        return false;
    /* A large plan is in memory that only the warden has. */
    if (argv < prepared->memory->plan || argv >= prepared->memory->plan + sizeof(prepared->memory->plan))
        return false;
    if (has_rule_for_root(run) &&
        (CK_RAW2(fstat, run->root_fd, &held) < 0 || !jail->work_mounted || jail->work_mode != run->workspace ||
         jail->work_device != held.st_dev || jail->work_inode != held.st_ino))
        return false;
    return CK_RAW5(waitid, P_PID, prepared->pid, &ended, WEXITED | WNOHANG | WNOWAIT, NULL) == 0 && ended.si_pid == 0;
}

static long send_fds(int socket_fd, const int *fds, unsigned count)
{
    static const char byte;
    long r = ck_nolibc_send_fds(socket_fd, &byte, sizeof(byte), fds, count);
    return r < 0 ? r : 0;
}

/*
 * The init has sent its listener, and before that the pipe for direct attempts, if there is one. 0: it
 * is not there in time, or died meanwhile. 1: the caller has both. Or a negative errno.
 */
static long pass_on_gate(const struct ck_prepared *prepared, const struct ck_init_run *run)
{
    const int waited[CK_NOLIBC_WAITED] = {prepared->rest_fds[0], -1, -1, -1};
    const uint64_t until_ns = ck_nolibc_now_ns() + GATE_NS;
    for (;;) {
        struct ck_wire_simple message = {0};
        unsigned count = 0;
        int fd = -1;
        if (ck_nolibc_wait_readable(waited, until_ns) == 0)
            return 0;
        long r = ck_nolibc_receive(prepared->rest_fds[0], &message, sizeof(message), &fd, 1, &count);
        if (r == (long)sizeof(message) && count == 1)
            r = ck_nolibc_send(run->gate_fd, &message, sizeof(message), fd);
        else
            r = r < 0 ? r : -EMFILE;
        ck_nolibc_close(fd);
        if (r < 0 || message.kind == CK_WIRE_GATE)
            return r < 0 ? r : 1;
    }
}

long ck_prepared_start(struct ck_prepared *prepared, struct ck_init_run *run, bool oom_preferred)
{
    if (!fits(prepared, run, oom_preferred))
        return 0;
    struct ck_child *child = run->child;
    run->failed_stage = CK_STAGE_JAIL;
    long r = ck_native_jail_place_root(run);
    if (r == 0) {
        run->failed_stage = CK_STAGE_EXECUTE;
        r = ck_init_find_executable(run);
    }
    if (r < 0)
        return r;
    const int *fds = child->fds;
    const int start[START_FDS] = {fds[CK_WIRE_STDIN], fds[CK_WIRE_STDOUT], fds[CK_WIRE_STDERR],
                                  fds[CK_WIRE_EXECUTABLE]};
    prepared->memory->child = *child;
    prepared->memory->child.fds = prepared->memory->fds;
    prepared->memory->child.exec_key = run->jail->program->exec_key;
    /* The init first: a tool whose init waits in vain for descriptors would not be served. */
    if (send_fds(prepared->rest_fds[0], fds + CK_WIRE_STDOUT_READ, CK_WIRE_FDS - CK_WIRE_STDOUT_READ) < 0)
        return 0;
    if (run->jail->program->gate_port != 0) {
        run->failed_stage = CK_STAGE_EGRESS;
        r = pass_on_gate(prepared, run);
        prepared->spent = r != 0;
        if (r <= 0)
            return r;
    }
    r = send_fds(prepared->start_fds[0], start, START_FDS);
    if (r < 0) {
        /* The caller uses the first listener that it gets, so another init would have none. */
        run->failed_stage = CK_STAGE_STDIO;
        return prepared->spent ? r : 0;
    }
    long pid = prepared->pid;
    prepared->pid = 0;
    return pid;
}

/* What a discarded init has not received must not reach the next one. */
static void renew_pair(int pair[2])
{
    ck_nolibc_close(pair[0]);
    ck_nolibc_close(pair[1]);
    (void)make_pair(pair);
}

long ck_prepared_discard(struct ck_prepared *prepared, struct ck_native_jail *jail)
{
    siginfo_t ended = {0};
    if (prepared->pid == 0)
        return 0;
    (void)CK_RAW2(kill, prepared->pid, SIGKILL);
    (void)CK_RAW5(waitid, P_PID, prepared->pid, &ended, WEXITED, NULL);
    prepared->pid = 0;
    renew_pair(prepared->start_fds);
    renew_pair(prepared->rest_fds);
    if (prepared->start_fds[0] < 0 || prepared->rest_fds[0] < 0)
        prepared->memory = NULL; /* the mapping stays: the warden receives its plans there */
    return ck_native_jail_reset(jail);
}
