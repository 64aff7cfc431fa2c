/* ready.c - the process of the next tool, which waits for its plan. See ready.h. */
#include "run/keeper/ready.h"

#include "run/create.h"
#include "run/keeper/nolibc.h"
#include "sys/raw.h"

#include <linux/close_range.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/wait.h>

#define KEPT_NS UINT64_C(2000000000)
#define STACK_BYTES 16384

/* Of one process at a time: the next one is made when the last one has executed its tool, or is reaped. */
static _Alignas(16) unsigned char stack[STACK_BYTES];

/* ---- in the process ---- */

/* The filter of a container engine may forbid unshare; kernels before 5.11 do not know the flags. */
static bool own_descriptors(void)
{
    return CK_RAW3(close_range, 3, ~0u, CLOSE_RANGE_UNSHARE | CLOSE_RANGE_CLOEXEC) == 0 ||
           CK_RAW1(unshare, CLONE_FILES) == 0;
}

/*
 * The descriptors came into the warden's table. The warden closes its own when it learns of that, so the copy
 * is made before.
 */
static bool take(struct ck_ready *ready)
{
    const struct ck_receiver *receiver = &ready->receiver;
    if (!ck_receiver_can_run(receiver))
        return false;
    ready->useless = !own_descriptors();
    if (ready->useless)
        return false;
    ck_child_plan(&ready->child, receiver->inbox, receiver->fds);
    ready->child.seal_key = ready->seal_key;
    return true;
}

static __attribute__((noreturn)) void ready_main(void *argument)
{
    static const uint64_t one = 1;
    struct ck_ready *ready = argument;
    (void)CK_RAW5(prctl, PR_SET_NAME, "choke-ready", 0, 0, 0);
    if (ck_child_begin(&ready->child) < 0)
        ck_nolibc_exit(127);
    if (!ck_receiver_receive(&ready->receiver))
        ck_nolibc_exit(0);
    bool taken = take(ready);
    ck_receiver_set(&ready->receiver, taken ? CK_RECEIVER_TAKEN : CK_RECEIVER_HANDED_BACK);
    (void)CK_RAW3(write, ready->woken_fd, &one, sizeof(one));
    if (!taken)
        ck_nolibc_exit(0);
    ck_child_continue(&ready->child);
}

/* ---- in the warden ---- */

void ck_ready_init(struct ck_ready *ready, int socket_fd, unsigned char *inbox)
{
    long fd = CK_RAW2(eventfd2, 0, EFD_CLOEXEC | EFD_NONBLOCK);
    *ready = (struct ck_ready){.woken_fd = fd < 0 ? -1 : (int)fd, .receiver = {.socket_fd = socket_fd}};
    ready->receiver.inbox = inbox;
}

void ck_ready_make(struct ck_ready *ready, const struct ck_wire_plan *like, uint64_t seal_key)
{
    /* A large plan is elsewhere, and would come back. */
    if (ready->woken_fd < 0 || ready->useless || (const unsigned char *)like != ready->receiver.inbox ||
        !ck_receiver_is_plain(like, false))
        return;
    ready->receiver.state = CK_RECEIVER_WAITING;
    ready->receiver.sealed = (like->flags & CK_WIRE_SEALED) != 0;
    ready->child = (struct ck_child){0};
    ready->seal_key = seal_key;
    ready->until_ns = ck_nolibc_now_ns() + KEPT_NS;
    long pid = ck_create_beside(ready_main, ready, stack + sizeof(stack));
    ready->pid = pid < 0 ? 0 : (int32_t)pid;
}

static void reap(struct ck_ready *ready, const struct ck_keeper_env *env)
{
    siginfo_t info = {0};
    (void)CK_RAW5(waitid, P_PID, ready->pid, &info, WEXITED, NULL);
    ck_nolibc_drain_signals(env->sigchld_fd);
    ready->pid = 0;
}

static bool has_ended(const struct ck_ready *ready)
{
    siginfo_t info = {0};
    return CK_RAW5(waitid, P_PID, ready->pid, &info, WEXITED | WNOHANG | WNOWAIT, NULL) == 0 && info.si_pid != 0;
}

/* The process has begun to receive. Whether or not it has ended is seen before its state. */
static enum ck_receiver_outcome settle(struct ck_ready *ready, const struct ck_keeper_env *env)
{
    bool ended = has_ended(ready);
    uint32_t state = ck_receiver_state_of(&ready->receiver);
    if (state == CK_RECEIVER_TAKEN)
        return CK_RECEIVER_RUNS; /* also if it has ended: the run reaps it */
    if (state == CK_RECEIVER_HANDED_BACK) {
        reap(ready, env);
        return CK_RECEIVER_RECEIVED;
    }
    if (ended)
        return CK_RECEIVER_LOST;
    ck_nolibc_drain_signals(env->sigchld_fd);
    return CK_RECEIVER_STAYS;
}

enum ck_receiver_outcome ck_ready_wait(struct ck_ready *ready, const struct ck_keeper_env *env,
                                       int ret_fds[CK_WIRE_FDS_MAX], unsigned *ret_count)
{
    const int waited[CK_NOLIBC_WAITED] = {ready->woken_fd, env->caller_fd, env->sigchld_fd, -1};
    uint64_t count;
    unsigned bits = ck_nolibc_wait_readable(waited, ready->until_ns);
    (void)CK_RAW3(read, ready->woken_fd, &count, sizeof(count));
    if (bits == 2)
        return CK_RECEIVER_LOST;
    /* It is dead or stopped, or was not needed for a while. */
    if (!ck_receiver_change(&ready->receiver, CK_RECEIVER_WAITING, CK_RECEIVER_ENDED)) {
        *ret_count = ready->receiver.fd_count;
        memcpy(ret_fds, ready->receiver.fds, sizeof(ready->receiver.fds));
        return settle(ready, env);
    }
    (void)CK_RAW2(kill, ready->pid, SIGKILL);
    reap(ready, env);
    return CK_RECEIVER_GONE;
}
