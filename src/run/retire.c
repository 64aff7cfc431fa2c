/*
 * retire.c - ends keepers: all of them with the context, and one that inherited another state of
 * the caller than the present one (docs/adr/0039). See launcher.h.
 */
#include "base/clock.h"
#include "base/fd.h"
#include "run/launcher.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * The keeper ends when it has killed everything. On a busy machine a fork bomb of thousands of
 * processes takes some seconds. If the keeper were killed before, the rest would go free.
 */
#define KEEPER_END_MS 20000

void ck_retire_wake(int keeper_fd)
{
    if (keeper_fd >= 0)
        (void)syscall(SYS_pidfd_send_signal, keeper_fd, SIGCONT, NULL, 0);
}

/*
 * The keeper sees that its socket is closed, and ends. If it does not, because somebody stopped it,
 * it is killed. A keeper that was made as another user may be out of our reach: then it is not
 * waited for. True if it ended by itself, and so left nothing. A host that reaps all children may
 * have taken its status; then the result is false.
 */
bool ck_retire_await(const struct ck_launcher *launcher, int *keeper_fd)
{
    (void)epoll_ctl(launcher->epoll_fd, EPOLL_CTL_DEL, *keeper_fd, NULL);
    ck_retire_wake(*keeper_fd);
    struct pollfd polled = {.fd = *keeper_fd, .events = POLLIN};
    int ready;
    do
        ready = poll(&polled, 1, KEEPER_END_MS);
    while (ready < 0 && errno == EINTR);
    bool left = ready <= 0 && syscall(SYS_pidfd_send_signal, *keeper_fd, SIGKILL, NULL, 0) < 0;
    siginfo_t info = {0};
    int r;
    do
        r = waitid(P_PIDFD, (id_t)*keeper_fd, &info, WEXITED | (left ? WNOHANG : 0));
    while (r < 0 && errno == EINTR);
    ck_fd_close(keeper_fd);
    return r == 0 && info.si_code == CLD_EXITED && info.si_status == 0;
}

/* Nothing is killed here: a keeper that is killed would leave what it has not killed yet. */
void ck_retire_leave(int *keeper_fd, uint64_t deadline_ns)
{
    if (*keeper_fd < 0)
        return;
    ck_retire_wake(*keeper_fd);
    struct pollfd polled = {.fd = *keeper_fd, .events = POLLIN};
    uint64_t now_ns = ck_clock_now_ns();
    (void)poll(&polled, 1, now_ns < deadline_ns ? (int)((deadline_ns - now_ns) / CK_NS_PER_MS) : 0);
    siginfo_t info = {0};
    (void)waitid(P_PIDFD, (id_t)*keeper_fd, &info, WEXITED | WNOHANG);
    ck_fd_close(keeper_fd);
}

void ck_retire_leave_all(struct ck_launcher *launcher, uint64_t deadline_ns)
{
    for (struct ck_retired *retired = launcher->retired; retired; retired = retired->next)
        ck_retire_leave(&retired->keeper_fd, deadline_ns);
    ck_retire_forget_all(launcher);
}

bool ck_retire_end_all(struct ck_launcher *launcher)
{
    bool clean = true;
    while (launcher->retired) {
        struct ck_retired *retired = launcher->retired;
        launcher->retired = retired->next;
        clean = ck_retire_await(launcher, &retired->keeper_fd) && clean;
        free(retired);
    }
    return clean;
}

void ck_retire_ended(struct ck_launcher *launcher, struct ck_retired *retired)
{
    struct ck_retired **at = &launcher->retired;
    while (*at != retired)
        at = &(*at)->next;
    *at = retired->next;
    (void)ck_retire_await(launcher, &retired->keeper_fd);
    free(retired);
}

bool ck_retire_is_unreachable(const struct ck_launcher *launcher, const struct ck_caller *now)
{
    return launcher->control_fd >= 0 && launcher->keeper_reachable &&
           ck_caller_child_unreachable(now, launcher->keeper_pid);
}

int ck_retire_keeper(struct ck_launcher *launcher, const struct ck_caller *now, bool hidden)
{
    bool same = ck_caller_same(now, &launcher->maker) && !hidden;
    if (launcher->control_fd < 0 || same)
        return 0;
    struct ck_retired *retired = malloc(sizeof(*retired));
    if (!retired)
        return -ENOMEM;
    *retired = (struct ck_retired){
        .source = CK_WATCH_SOURCE_RETIRED, .next = launcher->retired, .keeper_fd = ck_fd_take(&launcher->keeper_fd)};
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &retired->source};
    (void)epoll_ctl(launcher->epoll_fd, EPOLL_CTL_MOD, retired->keeper_fd, &event);
    launcher->retired = retired;
    launcher->generation++;
    /* Without its socket the keeper waits only for its wardens, and then ends. */
    ck_fd_close(&launcher->control_fd);
    for (unsigned i = 0; i < CK_CONTROLS; i++)
        ck_fd_close(&launcher->group_fds[i]);
    launcher->groups_known = false;
    return 1;
}

void ck_retire_forget_all(struct ck_launcher *launcher)
{
    while (launcher->retired) {
        struct ck_retired *retired = launcher->retired;
        launcher->retired = retired->next;
        ck_fd_close(&retired->keeper_fd);
        free(retired);
    }
}
