/*
 * prepared.c - the init of a native jail and the process of a tool, created before their plan comes
 * (docs/adr/0071).
 *
 *      warden                          prepared init                  process of the tool
 *      report of the last run
 *      mounts reset
 *      -- clone ---------------------> /proc, Landlock, capabilities
 *                                      -- vfork --------------------> first steps of child.c, waits
 *
 * If the run needs nothing of the warden, and its root is in its place (docs/adr/0156):
 *
 *                                                                     plan received from the caller
 *                                      rest_fds <-------------------- read ends
 *      start_fds <--------------------------------------------------- read ends
 *      watches                         serves, reaps                  other steps of child.c, exec
 *
 * Else the process hands back what it has received, or the warden received it:
 *
 *      plan received, root in its place
 *      read ends -> rest_fds
 *      listener  <- rest_fds, -> caller (with egress; the init has sent it after it was created)
 *      streams   -> start_fds ---------------------------------------> other steps of child.c, exec
 *      watches                         <- rest_fds; serves, reaps
 *
 * The vfork suspends the init until the tool is executed, so the process of the tool receives its
 * descriptors itself. Strings and numbers of the plan are in memory that all three share until exec.
 *
 *  Must     use a prepared init once, and only for a run that gets exactly the same layers.
 *  Must not start the tool before everything that can fail has succeeded.
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

/* Descriptors of the message to the process of the tool; after them those that its caller passes. */
enum start_fd { START_STDIN, START_STDOUT, START_STDERR, START_EXECUTABLE, START_FDS };
#define START_FDS_MAX (START_FDS + CK_WIRE_PASSED_MAX)

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

static long send_fds(int socket_fd, const int *fds, unsigned count)
{
    static const char byte;
    long r = ck_nolibc_send_fds(socket_fd, &byte, sizeof(byte), fds, count);
    return r < 0 ? r : 0;
}

/* ---- in the init ---- */

/* How many, at most max_fds, or a negative errno. */
static long receive_some(int socket_fd, int *ret_fds, unsigned max_fds)
{
    unsigned got_fds = 0;
    char byte;
    long got;
    do
        got = ck_nolibc_receive(socket_fd, &byte, 1, ret_fds, max_fds, &got_fds);
    while (got == -EINTR);
    return got == 1 ? (long)got_fds : got < 0 ? got : -EMFILE;
}

/* All of them, or none. */
static long receive_fds(int socket_fd, int *ret_fds, unsigned count)
{
    long got = receive_some(socket_fd, ret_fds, count);
    if (got == (long)count)
        return 0;
    for (unsigned i = 0; i < count; i++) {
        ck_nolibc_close((long)i < got ? ret_fds[i] : -1);
        ret_fds[i] = -1;
    }
    return got < 0 ? got : -EMFILE;
}

/* The repository of the plan is at its place already. */
static bool has_same_root(const struct ck_init_run *run, int root_fd)
{
    const struct ck_native_jail *jail = run->jail;
    struct stat held = {0};
    return CK_RAW2(fstat, root_fd, &held) == 0 && jail->work_mounted && jail->work_mode == run->workspace &&
           jail->work_device == held.st_dev && jail->work_inode == held.st_ino;
}

/*
 * Everything that can fail comes before the first change of the plan. The read ends go to the init,
 * which is suspended. False: the warden has to start this run.
 */
static bool take_plan(const struct ck_init_run *run)
{
    const struct ck_receiver *receiver = &run->prepared->memory->receiver;
    const struct ck_wire_plan *plan = (const void *)receiver->inbox;
    if (!ck_receiver_can_run(receiver) || plan->workspace != run->workspace ||
        !has_same_root(run, receiver->fds[CK_WIRE_CWD]))
        return false;
    uint64_t exec_key = run->jail->program->exec_key;
    struct ck_child found = {.fds = receiver->fds,
                             .path = plan->path_at != 0 ? (const char *)plan + plan->path_at : NULL,
                             .keep_executable = (plan->flags & CK_WIRE_KEEP_EXECUTABLE) != 0,
                             .execute_fd = receiver->fds[CK_WIRE_EXECUTABLE]};
    struct ck_init_run tried = *run;
    tried.main = ck_child_main;
    tried.child = &found;
    if ((receiver->sealed && exec_key == 0) || ck_init_find_executable(&tried) < 0 ||
        send_fds(run->prepared->rest_fds[0], receiver->fds + CK_WIRE_STDOUT_READ, CK_WIRE_FDS - CK_WIRE_STDOUT_READ) <
            0)
        return false;
    for (int i = 0; i < CK_WIRE_STDOUT_READ; i++)
        run->prepared_fds[i] = receiver->fds[i];
    for (unsigned i = CK_WIRE_PASSED; i < receiver->fd_count; i++)
        run->prepared_fds[i] = receiver->fds[i];
    ck_child_plan(run->child, receiver->inbox, run->prepared_fds);
    run->child->execute_fd = found.execute_fd;
    run->child->exec_key = exec_key;
    run->child->cwd = (const char *)plan + plan->cwd_at;
    if (run->child->null_stdin)
        run->child->stdin_fd = run->null_fd;
    return true;
}

/*
 * Returns if the warden has to start the run: it gets the message, and sends the streams as to any other
 * prepared process.
 */
static void receive_plan(const struct ck_init_run *run)
{
    struct ck_receiver *receiver = &run->prepared->memory->receiver;
    int warden_fd = run->start_fd;
    if (ck_receiver_state_of(receiver) == CK_RECEIVER_NONE)
        return;
    if (!ck_receiver_receive(receiver))
        ck_nolibc_exit(127);
    if (take_plan(run)) {
        ck_receiver_set(receiver, CK_RECEIVER_TAKEN);
        if (send_fds(warden_fd, receiver->fds + CK_WIRE_STDOUT_READ, CK_WIRE_FDS - CK_WIRE_STDOUT_READ) < 0)
            ck_nolibc_exit(127); /* nobody would end it at its deadline */
        ck_child_continue(run->child);
    }
    ck_receiver_set(receiver, CK_RECEIVER_HANDED_BACK);
    (void)send_fds(warden_fd, receiver->fds, receiver->fd_count);
    for (unsigned i = 0; i < receiver->fd_count; i++)
        ck_nolibc_close(receiver->fds[i]);
}

void ck_prepared_main(void *argument)
{
    const struct ck_init_run *run = argument;
    struct ck_child *child = run->child;
    int *fds = run->prepared_fds;
    int received[START_FDS_MAX];
    if (ck_child_begin(child) < 0)
        ck_nolibc_exit(127);
    receive_plan(run);
    long r = receive_some(run->start_fd, received, START_FDS_MAX);
    /* The plan is there when the message is. */
    if (r != (long)START_FDS + (long)child->passed_count) {
        child->failed_stage = CK_STAGE_STDIO;
        child->failed_errno = r < 0 ? (int32_t)-r : EMFILE;
        ck_nolibc_exit(127);
    }
    for (unsigned i = 0; i < child->passed_count; i++)
        fds[CK_WIRE_PASSED + i] = received[START_FDS + i];
    fds[CK_WIRE_STDIN] = received[START_STDIN];
    fds[CK_WIRE_STDOUT] = received[START_STDOUT];
    fds[CK_WIRE_STDERR] = received[START_STDERR];
    fds[CK_WIRE_EXECUTABLE] = received[START_EXECUTABLE];
    child->stdin_fd = child->null_stdin ? run->null_fd : received[START_STDIN];
    ck_child_continue(child);
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
           program->learn == 0 && !ck_native_is_cage(program) &&
           (program->guarded != 0 || !ck_native_in_tmp(ck_native_root(program)));
}

/* What a discarded or killed init has not received must not reach the next one. */
static void renew_pair(int pair[2])
{
    ck_nolibc_close(pair[0]);
    ck_nolibc_close(pair[1]);
    (void)make_pair(pair);
}

static void renew_pairs(struct ck_prepared *prepared)
{
    renew_pair(prepared->start_fds);
    renew_pair(prepared->rest_fds);
    if (prepared->start_fds[0] < 0 || prepared->rest_fds[0] < 0)
        prepared->memory = NULL; /* the mapping stays: the warden receives its plans there */
}

/* Somebody killed the last init before it had received everything: it is still in the sockets. */
static void drop_leftovers(struct ck_prepared *prepared)
{
    const int waited[CK_NOLIBC_WAITED] = {prepared->start_fds[1], prepared->rest_fds[1], prepared->start_fds[0],
                                          prepared->rest_fds[0]};
    if (ck_nolibc_wait_readable(waited, 0) != 0)
        renew_pairs(prepared);
}

/* Its process receives the next plan itself if the last one, which is still here, needed nothing of the warden. */
static void set_receiver(struct ck_prepared *prepared, const struct ck_init_run *like)
{
    const struct ck_wire_plan *plan = (const void *)prepared->memory->plan;
    bool receives =
        plan->kind == CK_WIRE_PLAN && ck_receiver_is_plain(plan, true) && like->jail->program->gate_port == 0;
    prepared->memory->receiver = (struct ck_receiver){.state = receives ? CK_RECEIVER_WAITING : CK_RECEIVER_NONE,
                                                      .socket_fd = like->report_fd,
                                                      .jailed = true,
                                                      .sealed = (plan->flags & CK_WIRE_SEALED) != 0,
                                                      .inbox = prepared->memory->plan};
}

void ck_prepared_make(struct ck_prepared *prepared, const struct ck_init_run *like, bool oom_preferred)
{
    if (!prepared->memory || prepared->pid != 0 || !can_prepare(like) || !like->jail->null_ready)
        return;
    drop_leftovers(prepared);
    if (!prepared->memory)
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
    run.prepared = prepared;
    set_receiver(prepared, like);
    long pid = ck_native_jail_create_init(&run);
    if (pid <= 0)
        return;
    prepared->pid = (int32_t)pid;
    prepared->spent = prepared->returned = false;
    prepared->workspace = like->workspace;
    prepared->oom_preferred = oom_preferred;
    prepared->until_ns = ck_nolibc_now_ns() + KEPT_NS;
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
    if (ck_init_has_rule_for_root(run) &&
        (CK_RAW2(fstat, run->root_fd, &held) < 0 || !jail->work_mounted || jail->work_mode != run->workspace ||
         jail->work_device != held.st_dev || jail->work_inode != held.st_ino))
        return false;
    return CK_RAW5(waitid, P_PID, prepared->pid, &ended, WEXITED | WNOHANG | WNOWAIT, NULL) == 0 && ended.si_pid == 0;
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
    int start[START_FDS_MAX] = {fds[CK_WIRE_STDIN], fds[CK_WIRE_STDOUT], fds[CK_WIRE_STDERR], fds[CK_WIRE_EXECUTABLE]};
    for (unsigned i = 0; i < child->passed_count; i++)
        start[START_FDS + i] = fds[CK_WIRE_PASSED + i];
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
    r = send_fds(prepared->start_fds[0], start, START_FDS + child->passed_count);
    if (r < 0) {
        /* The caller uses the first listener that it gets, so another init would have none. */
        run->failed_stage = CK_STAGE_STDIO;
        return prepared->spent ? r : 0;
    }
    long pid = prepared->pid;
    prepared->pid = 0;
    return pid;
}

/* ---- a process that receives its plan itself ---- */

bool ck_prepared_receives(const struct ck_prepared *prepared)
{
    if (prepared->pid == 0)
        return false;
    uint32_t state = ck_receiver_state_of(&prepared->memory->receiver);
    return state != CK_RECEIVER_NONE && !prepared->returned;
}

bool ck_prepared_may_end(struct ck_prepared *prepared)
{
    struct ck_receiver *receiver = &prepared->memory->receiver;
    return prepared->pid == 0 || !ck_prepared_receives(prepared) ||
           ck_receiver_change(receiver, CK_RECEIVER_WAITING, CK_RECEIVER_ENDED) ||
           ck_receiver_state_of(receiver) == CK_RECEIVER_ENDED;
}

static bool has_ended(const struct ck_prepared *prepared)
{
    siginfo_t info = {0};
    return CK_RAW5(waitid, P_PID, prepared->pid, &info, WEXITED | WNOHANG | WNOWAIT, NULL) == 0 && info.si_pid != 0;
}

/* The message of the process: that it runs the plan, or the descriptors of what it hands back. */
static enum ck_receiver_outcome take_answer(struct ck_prepared *prepared, int ret_fds[CK_WIRE_FDS_MAX],
                                            unsigned *ret_count)
{
    char byte;
    int fds[CK_WIRE_FDS_MAX];
    unsigned count = 0;
    if (ck_nolibc_receive(prepared->start_fds[0], &byte, 1, fds, CK_WIRE_FDS_MAX, &count) != 1)
        return CK_RECEIVER_LOST;
    bool runs = ck_receiver_state_of(&prepared->memory->receiver) == CK_RECEIVER_TAKEN;
    prepared->returned = !runs;
    *ret_count = count;
    for (unsigned i = 0; i < CK_WIRE_FDS_MAX; i++)
        ret_fds[i] = -1;
    /* Without room for them the streams of the run count as held. */
    for (unsigned i = 0; i < count; i++)
        ret_fds[runs ? (unsigned)CK_WIRE_STDOUT_READ + i : i] = fds[i];
    return runs ? CK_RECEIVER_RUNS : CK_RECEIVER_RECEIVED;
}

enum ck_receiver_outcome ck_prepared_wait(struct ck_prepared *prepared, const struct ck_keeper_env *env,
                                          uint64_t until_ns, int ret_fds[CK_WIRE_FDS_MAX], unsigned *ret_count)
{
    const int waited[CK_NOLIBC_WAITED] = {prepared->start_fds[0], env->caller_fd, env->sigchld_fd, -1};
    const int again[CK_NOLIBC_WAITED] = {prepared->start_fds[0], -1, -1, -1};
    unsigned bits = ck_nolibc_wait_readable(waited, until_ns);
    if (bits == 0)
        return CK_RECEIVER_IDLE;
    if (bits & 1)
        return take_answer(prepared, ret_fds, ret_count);
    if (bits & 2)
        return CK_RECEIVER_LOST;
    bool ended = has_ended(prepared);
    if (ended && ck_prepared_may_end(prepared))
        return CK_RECEIVER_GONE;
    if (ended)
        return ck_nolibc_wait_readable(again, 0) != 0 ? take_answer(prepared, ret_fds, ret_count) : CK_RECEIVER_LOST;
    ck_nolibc_drain_signals(env->sigchld_fd);
    return CK_RECEIVER_STAYS;
}

long ck_prepared_discard(struct ck_prepared *prepared, struct ck_native_jail *jail)
{
    siginfo_t ended = {0};
    if (prepared->pid == 0)
        return 0;
    (void)CK_RAW2(kill, prepared->pid, SIGKILL);
    (void)CK_RAW5(waitid, P_PID, prepared->pid, &ended, WEXITED, NULL);
    prepared->pid = 0;
    renew_pairs(prepared);
    return ck_native_jail_reset(jail);
}
