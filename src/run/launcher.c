/*
 * launcher.c - makes the keeper and its wardens, and sends them plans. See launcher.h;
 * docs/adr/0004 says why there is a keeper.
 *
 * The image of the keeper is written to a memory file, sealed, and executed from there. So no
 * helper has to be installed, and nobody can replace it. The process is created by a clone that
 * borrows memory, so its cost does not depend on the size of the caller.
 *
 *  Must     leave the caller's signal mask as it was.
 *  Must not wait for a keeper or warden without a time limit: a hostile tool of the same user may
 *           have stopped it.
 */
#include "run/launcher.h"

#include "base/clock.h"
#include "base/denial.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/heap.h"
#include "base/sealed.h"
#include "run/create.h"
#include "sys/cgroup.h"
#include "sys/raw.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define AT_ONCE_NS 1000000u /* between the end of a run and the start of the next one: they follow each other */
#define KEEPER_BUSY_TRIES 20
#define KEEPER_BUSY_MS 10
#define KEEPER_WORKS_TRIES 1000
#define LEAVE_NS (50 * CK_NS_PER_MS)

extern const unsigned char ck_keeper_image_text[];
extern const size_t ck_keeper_image_length;

void ck_launcher_init(struct ck_launcher *launcher, int epoll_fd)
{
    *launcher = (struct ck_launcher){.source = CK_WATCH_SOURCE_KEEPER,
                                     .epoll_fd = epoll_fd,
                                     .control_fd = -1,
                                     .keeper_fd = -1,
                                     .group_fds = {-1, -1, -1}};
    ck_caller_proc_init(&launcher->caller_proc);
}

/* ---- messages ---- */

static int send_message(int socket_fd, const void *data, size_t length, const int *fds, unsigned fd_count)
{
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(CK_WIRE_FDS_MAX * sizeof(int))];
    } control = {0};
    struct iovec iov = {.iov_base = (void *)(uintptr_t)data, .iov_len = length};
    struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1};
    if (fd_count > 0) {
        size_t bytes = fd_count * sizeof(int);
        control.header =
            (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(bytes)};
        memcpy(CMSG_DATA(&control.header), fds, bytes);
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE(bytes);
    }
    ssize_t sent;
    do
        sent = sendmsg(socket_fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent < 0 ? -errno : 0;
}

/* ---- the keeper ---- */

struct keeper_child {
    int image_fd;
    int socket_fd;
    int null_fd;
    long error;
};

/*
 * Runs in the new process, in our memory: system calls only. The descriptors are first moved to 10
 * and above. If the caller had 0 to 3 closed, one of them could be its own target.
 */
static __attribute__((noreturn)) void keeper_child(void *argument)
{
    struct keeper_child *child = argument;
    static char name[] = "chokepoint-keeper";
    /*
     * Not on the stack: the address sanitizer would poison the memory there, and after exec nothing
     * would unpoison it.
     */
    static char *const argv[] = {name, NULL};
    static char *const envp[] = {NULL};
    long socket_fd = CK_RAW3(fcntl, child->socket_fd, F_DUPFD_CLOEXEC, 10);
    long null_fd = CK_RAW3(fcntl, child->null_fd, F_DUPFD_CLOEXEC, 10);
    long image_fd = CK_RAW3(fcntl, child->image_fd, F_DUPFD_CLOEXEC, 10);
    long r = socket_fd < 0 ? socket_fd : null_fd < 0 ? null_fd : image_fd < 0 ? image_fd : 0;
    for (int target = 0; target <= 2 && r >= 0; target++)
        r = CK_RAW3(dup3, null_fd, target, 0);
    if (r >= 0)
        r = CK_RAW3(dup3, socket_fd, CK_KEEPER_SOCKET_FD, 0);
    if (r >= 0)
        r = ck_create_execute((int)image_fd, NULL, argv, envp);
    child->error = r;
    for (;;)
        (void)CK_RAW1(exit_group, 127);
}

/*
 * Blocks all 64 signals by the system call. sigprocmask of libc leaves out the signals that libc
 * uses itself, and no handler may run in the child.
 */
static long create_blocked(struct keeper_child *child, int *ret_pidfd)
{
    static const uint64_t all = ~UINT64_C(0);
    uint64_t before = 0;
    (void)CK_RAW4(rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof(all));
    long pid = ck_create_borrowed(keeper_child, child, ret_pidfd);
    (void)CK_RAW4(rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(before));
    return pid;
}

static int create_keeper(int socket_fd, int *ret_pidfd, pid_t *ret_pid)
{
    CK_FD image_fd =
        ck_sealed_write("chokepoint-keeper", CK_SEALED_PROGRAM, ck_keeper_image_text, ck_keeper_image_length);
    int r = image_fd < 0 ? image_fd : 0;
    if (r < 0)
        return r;
    CK_FD null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null_fd < 0)
        return -errno;
    struct keeper_child child = {.image_fd = image_fd, .socket_fd = socket_fd, .null_fd = null_fd};
    int pidfd = -1;
    long pid = create_blocked(&child, &pidfd);
    if (pid < 0)
        return (int)pid;
    /*
     * Executed once, and never again. The process of a tool is the keeper until it executes the tool,
     * sometimes by a path that the repository can change: a link to /proc/self/exe would start the
     * keeper as the tool, because Landlock does not restrict memory files.
     */
    r = child.error < 0 ? (int)child.error : fchmod(image_fd, 0) < 0 ? -errno : 0;
    if (r < 0) {
        (void)syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
        (void)waitid(P_PIDFD, (id_t)pidfd, &(siginfo_t){0}, WEXITED);
        ck_fd_close(&pidfd);
        return r;
    }
    *ret_pidfd = pidfd;
    *ret_pid = (pid_t)pid;
    return 0;
}

static bool end_keeper(struct ck_launcher *launcher);

static int send_setup(int control_fd)
{
    struct ck_wire_setup setup = {.kind = CK_WIRE_SETUP};
    CK_FD self_fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
    if (self_fd < 0)
        return -errno;
    CK_FD cgroup_fd = ck_cgroup_own();
    if (cgroup_fd < 0 && ck_error_is_transient(-cgroup_fd))
        return cgroup_fd; /* it may work the next time; a keeper without a cgroup would stay so for its whole life */
    bool named = ck_cgroup_prefix(setup.cgroup_prefix, sizeof(setup.cgroup_prefix)) == 0;
    setup.has_cgroup = cgroup_fd >= 0 && named;
    const int fds[2] = {self_fd, cgroup_fd};
    return send_message(control_fd, &setup, sizeof(setup), fds, setup.has_cgroup ? 2 : 1);
}

/*
 * Also sent to a keeper that replaces a killed one: it removes what that one left in these
 * directories.
 */
static int send_groups(int control_fd, const struct ck_launcher *launcher)
{
    struct ck_wire_try message = {.kind = CK_WIRE_GROUPS};
    int fds[CK_CONTROLS];
    unsigned count = 0;
    for (unsigned i = 0; i < CK_CONTROLS; i++) {
        if (launcher->group_fds[i] < 0)
            continue;
        message.trial |= 1u << i;
        fds[count++] = launcher->group_fds[i];
    }
    return count == 0 ? 0 : send_message(control_fd, &message, sizeof(message), fds, count);
}

/*
 * The end of the keeper must be noticed also without a request, because the keeper kills what a
 * killed warden leaves.
 */
static int watch_keeper(struct ck_launcher *launcher)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &launcher->source};
    return epoll_ctl(launcher->epoll_fd, EPOLL_CTL_ADD, launcher->keeper_fd, &event) < 0 ? -errno : 0;
}

static int start_keeper(struct ck_launcher *launcher)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return -errno;
    CK_FD ours = pair[0];
    CK_FD theirs = pair[1];
    int r = send_setup(ours);
    if (r == 0)
        r = send_groups(ours, launcher);
    if (r < 0)
        return r;
    /*
     * The caller is inspected before and after: another thread may change what the keeper inherits
     * (sys/caller.h) while it is made.
     */
    struct ck_caller after;
    r = ck_caller_inspect(&launcher->caller_proc, &launcher->maker);
    if (r == 0)
        r = create_keeper(theirs, &launcher->keeper_fd, &launcher->keeper_pid);
    if (r < 0)
        return r;
    launcher->control_fd = ck_fd_take(&ours);
    launcher->keeper_reachable = !ck_caller_child_unreachable(&launcher->maker, launcher->keeper_pid);
    r = ck_caller_inspect(&launcher->caller_proc, &after);
    if (r == 0)
        r = watch_keeper(launcher);
    /*
     * Another thread has changed it: it is not known which of the two states the keeper inherited.
     */
    if (r == 0 && !ck_caller_same(&after, &launcher->maker))
        r = -ESTALE;
    if (r < 0)
        (void)end_keeper(launcher);
    return r;
}

static bool end_keeper(struct ck_launcher *launcher)
{
    if (launcher->keeper_fd < 0)
        return true;
    ck_fd_close(&launcher->control_fd);
    return ck_retire_await(launcher, &launcher->keeper_fd);
}

void ck_launcher_wake_keeper(struct ck_launcher *launcher)
{
    ck_retire_wake(launcher->keeper_fd);
    for (const struct ck_retired *retired = launcher->retired; retired; retired = retired->next)
        ck_retire_wake(retired->keeper_fd);
}

void ck_launcher_replace_keeper(struct ck_launcher *launcher)
{
    /* The event may belong to a keeper that was retired after the event was queued. */
    struct pollfd polled = {.fd = launcher->keeper_fd, .events = POLLIN};
    if (poll(&polled, 1, 0) <= 0)
        return;
    (void)end_keeper(launcher);
    (void)start_keeper(launcher);
}

/* ---- wardens ---- */

/*
 * Not stopped, and so at work, or without a processor: where many runs begin at once, all wardens
 * want one as well.
 */
static bool keeper_works(const struct ck_launcher *launcher)
{
    char path[32], text[128];
    (void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)launcher->keeper_pid);
    long length = ck_file_read_into(AT_FDCWD, path, 0, text, sizeof(text));
    const char *state = length <= 0 ? NULL : strstr(text, ") ");
    return state && !strchr("TtZX", state[2]);
}

/*
 * The keeper needs about 60 us to make a warden, so a burst of requests fills its socket. We wait,
 * but not for ever: the keeper may be stopped.
 */
static int send_request(const struct ck_launcher *launcher, const void *request, size_t length, const int *fds,
                        unsigned fd_count)
{
    for (int tries = 0;; tries++) {
        int r = send_message(launcher->control_fd, request, length, fds, fd_count);
        /* ETOOMANYREFS: too many descriptors of this user are in sockets and not received yet. */
        if ((r != -EAGAIN && r != -ETOOMANYREFS) || (r == -ETOOMANYREFS && tries >= KEEPER_BUSY_TRIES))
            return r;
        if (tries >= KEEPER_BUSY_TRIES && (tries >= KEEPER_WORKS_TRIES || !keeper_works(launcher)))
            return -EBUSY; /* EAGAIN is for a process that cannot be made */
        struct pollfd polled = {.fd = launcher->control_fd, .events = POLLOUT};
        (void)poll(&polled, 1, KEEPER_BUSY_MS);
    }
}

/* A killed keeper is replaced once. Its wardens continue without it. */
int ck_launcher_ask(struct ck_launcher *launcher, const void *request, size_t length, const int *fds, unsigned fd_count)
{
    for (int tries = 0;; tries++) {
        int r = launcher->control_fd < 0 ? start_keeper(launcher) : 0;
        if (r == 0)
            r = send_request(launcher, request, length, fds, fd_count);
        if (r != -EPIPE && r != -ECONNRESET)
            return r;
        if (tries > 0)
            return r;
        (void)end_keeper(launcher);
    }
}

static const char *keeper_error_text(int r)
{
    /* vm.memfd_noexec=2 refuses to create an executable memory file with EACCES. */
    if (r == -EACCES || r == -EPERM)
        return "executing from memory is forbidden here (sysctl vm.memfd_noexec, or a security module)";
    return r == -EBUSY ? "it did not answer in time" : ck_error_text(-r);
}

/*
 * Before the first run with limits. A keeper that exists is sent the directories now, a later one
 * when it is made.
 */
static int find_groups(struct ck_launcher *launcher)
{
    static const char *const names[CK_CONTROLS] = {"memory", "pids", "cpuacct"};
    if (launcher->groups_known)
        return 0;
    for (unsigned i = 0; i < CK_CONTROLS; i++) {
        ck_fd_close(&launcher->group_fds[i]);
        int fd = ck_cgroup_own_v1(names[i]);
        if (fd < 0 && ck_error_is_transient(-fd))
            return fd;
        launcher->group_fds[i] = fd < 0 ? -1 : fd;
    }
    launcher->groups_known = true;
    return launcher->control_fd < 0 ? 0 : send_groups(launcher->control_fd, launcher);
}

/* What a warden gets with the program of its jail. */
static void take_jail(struct ck_warden *warden, const struct ck_warden_kind *kind)
{
    warden->native_jail = kind->native_jail->number;
    warden->sealed = kind->sealed;
    /* Without memory for it, refusals of this warden's runs are not named. */
    warden->denied = malloc(CK_DENIALS_BYTES);
}

/* early: it enters the namespaces of a native jail, and gets the program of the jail later. */
static int make_warden(struct ck_launcher *launcher, const struct ck_warden_kind *kind, bool early,
                       struct ck_warden **ret_warden, struct choke_error *error)
{
    const struct ck_native_image *native_jail = kind->native_jail;
    const struct ck_wire_try request = {.kind = kind->limited ? CK_WIRE_LIMITED : CK_WIRE_WARDEN,
                                        .trial = early         ? CK_WIRE_JAIL_LATER
                                                 : native_jail ? CK_WIRE_JAIL_SENT
                                                               : CK_WIRE_NO_JAIL};
    struct ck_warden *warden = malloc(sizeof(*warden));
    if (!warden)
        return ck_error_oom(error);
    int pair[2];
    int r = kind->limited ? find_groups(launcher) : 0;
    if (r == 0 && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        r = -errno;
    if (r == 0) {
        const int fds[2] = {pair[1], native_jail ? native_jail->fd : -1};
        r = ck_launcher_ask(launcher, &request, sizeof(request), fds, native_jail ? 2 : 1);
        ck_fd_close(&pair[1]);
        if (r < 0)
            ck_fd_close(&pair[0]);
    }
    if (r < 0) {
        free(warden);
        return ck_error_set(error, CHOKE_SPAWN_FAILED, -r, "cannot start a keeper for the run: %s",
                            keeper_error_text(r));
    }
    *warden = (struct ck_warden){.source = CK_WATCH_SOURCE_WARDEN,
                                 .socket_fd = pair[0],
                                 .pidfd = -1,
                                 .overlay_fd = -1,
                                 .gate_fd = -1,
                                 .direct_attempts_fd = -1,
                                 .door_fd = -1,
                                 .limited = kind->limited,
                                 .sealed = kind->sealed,
                                 .generation = launcher->generation};
    if (native_jail)
        take_jail(warden, kind);
    launcher->has_native = launcher->has_native || native_jail || early;
    *ret_warden = warden;
    return 0;
}

static bool is_of_kind(const struct ck_warden *warden, const struct ck_warden_kind *kind)
{
    uint64_t number = kind->native_jail ? kind->native_jail->number : 0;
    return warden->native_jail == number && warden->limited == kind->limited && warden->sealed == kind->sealed;
}

static struct ck_warden **find_idle(const struct ck_launcher *launcher, const struct ck_warden_kind *kind,
                                    struct ck_warden **at)
{
    while (*at && (!is_of_kind(*at, kind) || (*at)->generation != launcher->generation))
        at = &(*at)->next;
    return at;
}

/*
 * The list begins with the warden that was used last. In a jail the one before it is taken: it has
 * had the time to prepare.
 */
int ck_launcher_take(struct ck_launcher *launcher, const struct ck_warden_kind *kind, struct ck_warden **ret_warden,
                     bool *ret_fresh, struct choke_error *error)
{
    struct ck_warden **at = find_idle(launcher, kind, &launcher->idle);
    struct ck_warden **before = *at && kind->native_jail ? find_idle(launcher, kind, &(*at)->next) : at;
    if (*before)
        at = before;
    *ret_fresh = !*at;
    if (*ret_fresh)
        return make_warden(launcher, kind, false, ret_warden, error);
    *ret_warden = *at;
    *at = (*at)->next;
    (*ret_warden)->next = NULL;
    return 0;
}

void ck_launcher_make_second(struct ck_launcher *launcher, const struct ck_warden_kind *kind,
                             const struct ck_warden *first, struct ck_warden **ret_warden)
{
    struct choke_error error;
    *ret_warden = NULL;
    if (!kind->native_jail || !first->prepares || first->idle_ns + AT_ONCE_NS < ck_clock_now_ns() ||
        *find_idle(launcher, kind, &launcher->idle))
        return;
    (void)make_warden(launcher, kind, false, ret_warden, &error);
    if (*ret_warden)
        ck_launcher_give_back(launcher, *ret_warden);
}

void ck_launcher_give_back(struct ck_launcher *launcher, struct ck_warden *warden)
{
    warden->owner = NULL;
    warden->idle_ns = ck_clock_now_ns();
    warden->next = launcher->idle;
    launcher->idle = warden;
}

void ck_launcher_drop_idle(struct ck_launcher *launcher, struct ck_warden *warden)
{
    for (struct ck_warden **at = &launcher->idle; *at; at = &(*at)->next) {
        if (*at != warden)
            continue;
        *at = warden->next;
        return;
    }
}

void ck_launcher_discard(struct ck_warden *warden, bool kill)
{
    if (kill && warden->pidfd >= 0)
        (void)syscall(SYS_pidfd_send_signal, warden->pidfd, SIGKILL, NULL, 0);
    ck_fd_close(&warden->pidfd);
    ck_fd_close(&warden->overlay_fd);
    ck_fd_close(&warden->gate_fd);
    ck_fd_close(&warden->direct_attempts_fd);
    ck_fd_close(&warden->door_fd);
    ck_fd_close(&warden->socket_fd);
    free(warden->denied);
    free(warden);
}

/* A warden ends by itself when its socket is closed. */
static void discard_idle(struct ck_launcher *launcher)
{
    if (launcher->early)
        ck_launcher_discard(launcher->early, false);
    launcher->early = NULL;
    while (launcher->idle) {
        struct ck_warden *warden = launcher->idle;
        launcher->idle = warden->next;
        ck_launcher_discard(warden, false);
    }
}

static void close_groups(struct ck_launcher *launcher)
{
    for (unsigned i = 0; i < CK_CONTROLS; i++)
        ck_fd_close(&launcher->group_fds[i]);
}

void ck_launcher_begin(struct ck_launcher *launcher)
{
    if (launcher->control_fd < 0)
        (void)start_keeper(launcher);
}

void ck_launcher_make_early(struct ck_launcher *launcher, bool limited)
{
    struct choke_error error;
    if (!launcher->has_native)
        (void)make_warden(launcher, &(struct ck_warden_kind){.limited = limited}, true, &launcher->early, &error);
}

void ck_launcher_place_early(struct ck_launcher *launcher, const struct ck_warden_kind *kind,
                             struct ck_warden **ret_warden)
{
    static const struct ck_wire_simple message = {.kind = CK_WIRE_JAIL};
    struct ck_warden *warden = launcher->early;
    *ret_warden = NULL;
    if (!warden || warden->limited != kind->limited)
        return;
    launcher->early = NULL;
    if (warden->generation != launcher->generation ||
        send_message(warden->socket_fd, &message, sizeof(message), &kind->native_jail->fd, 1) < 0) {
        ck_launcher_discard(warden, false);
        return;
    }
    take_jail(warden, kind);
    ck_launcher_give_back(launcher, warden);
    *ret_warden = warden;
}

void ck_launcher_close(struct ck_launcher *launcher)
{
    discard_idle(launcher);
    ck_fd_close(&launcher->control_fd);
}

void ck_launcher_done(struct ck_launcher *launcher)
{
    ck_launcher_close(launcher);
    /* If a keeper was killed, a new one is made to kill what it left and to remove its cgroups. */
    bool clean = end_keeper(launcher);
    clean = ck_retire_end_all(launcher) && clean;
    if (!clean && start_keeper(launcher) == 0)
        (void)end_keeper(launcher);
    close_groups(launcher);
    ck_caller_proc_done(&launcher->caller_proc);
}

void ck_launcher_leave(struct ck_launcher *launcher)
{
    uint64_t deadline_ns = ck_clock_now_ns() + LEAVE_NS;
    /* The keeper sees that its socket is closed, kills everything and ends, whether or not we wait. */
    ck_launcher_close(launcher);
    ck_retire_leave(&launcher->keeper_fd, deadline_ns);
    ck_retire_leave_all(launcher, deadline_ns);
    close_groups(launcher);
    ck_caller_proc_done(&launcher->caller_proc);
}

void ck_launcher_forget(struct ck_launcher *launcher)
{
    discard_idle(launcher);
    ck_fd_close(&launcher->control_fd);
    ck_fd_close(&launcher->keeper_fd);
    ck_retire_forget_all(launcher);
    close_groups(launcher);
    ck_caller_proc_done(&launcher->caller_proc);
}

/* ---- plans ---- */

/* The descriptors of a plan, with room for the memory file of a large plan. */
struct fd_list {
    int fds[CK_WIRE_FDS_MAX];
    unsigned count;
};

static int send_large(int socket_fd, const struct ck_wire_plan *plan, struct fd_list *fd_list)
{
    CK_FD memory_fd = ck_sealed_write("plan", CK_SEALED_DATA, plan, plan->size_bytes);
    if (memory_fd < 0)
        return memory_fd;
    const struct ck_wire_large large = {.kind = CK_WIRE_LARGE, .flags = plan->flags, .size_bytes = plan->size_bytes};
    fd_list->fds[fd_list->count++] = memory_fd;
    return send_message(socket_fd, &large, sizeof(large), fd_list->fds, fd_list->count);
}

/* A plan that fits is sent as one message, a larger one in a memory file. */
static int pack_and_send(const struct ck_plan *plan, const struct ck_warden *warden, struct fd_list *fd_list,
                         uint64_t deadline_ns, uint64_t kill_ns)
{
    const struct ck_wire_strings strings = {.argv = plan->bwrap.argv ? plan->bwrap.argv : plan->argv,
                                            .env = plan->env,
                                            .path = plan->bwrap.argv ? NULL : plan->exec_path,
                                            .inherited = plan->inherited,
                                            .root = plan->native_jail.fd >= 0 ? plan->host_root : NULL,
                                            .cwd = plan->native_jail.fd >= 0 ? plan->jail_cwd : NULL};
    /*
     * bwrap gets its own arguments and is executed by descriptor. root and cwd are for the warden
     * of a native jail.
     */
    size_t size = ck_wire_pack(&strings, NULL, 0);
    bool large = size > CK_WIRE_INLINE_MAX;
    CK_HEAP struct ck_wire_plan *packed = ck_heap_own(malloc(size));
    if (!packed)
        return -ENOMEM;
    (void)ck_wire_pack(&strings, packed, size);
    packed->flags = (plan->ruleset_fd >= 0 ? (uint32_t)CK_WIRE_HAS_RULESET : 0) |
                    (plan->bwrap.argv ? (uint32_t)CK_WIRE_HAS_BWRAP : 0) |
                    (plan->keep_executable && !plan->bwrap.argv ? (uint32_t)CK_WIRE_KEEP_EXECUTABLE : 0) |
                    (plan->no_userns.filter_fd >= 0 ? (uint32_t)CK_WIRE_HAS_FILTER : 0) |
                    (plan->sealed ? (uint32_t)CK_WIRE_SEALED : 0) | (warden->prepares ? (uint32_t)CK_WIRE_AGAIN : 0) |
                    (plan->native_jail.fd >= 0 ? (uint32_t)CK_WIRE_NATIVE_JAIL : 0) |
                    (plan->stdin_form == CK_STDIN_PUMPED ? (uint32_t)CK_WIRE_PUMP_STDIN : 0) |
                    (plan->stdin_form == CK_STDIN_NULL ? (uint32_t)CK_WIRE_NULL_STDIN : 0) |
                    (plan->verdict.egress_count > 0 ? (uint32_t)CK_WIRE_HAS_GATE : 0) |
                    (uint32_t)plan->passed_count << CK_WIRE_PASSED_SHIFT;
    packed->workspace = (uint32_t)plan->workspace;
    packed->deadline_ns = deadline_ns;
    packed->kill_ns = kill_ns;
    packed->number = warden->plans;
    memcpy(packed->limits, plan->limits, sizeof(packed->limits));
    return large ? send_large(warden->socket_fd, packed, fd_list)
                 : send_message(warden->socket_fd, packed, size, fd_list->fds, fd_list->count);
}

/* bwrap is the executable, and the tool is one of the descriptors that it passes on. */
static void add_bwrap_fds(struct fd_list *fd_list, const struct ck_plan *plan, int scratch_fd)
{
    int *fds = fd_list->fds + CK_WIRE_BWRAP;
    fds[CK_WIRE_BWRAP_PROGRAM] = plan->bwrap.program_fd;
    fds[CK_WIRE_BWRAP_IMAGE] = plan->bwrap.image_fd;
    fds[CK_WIRE_BWRAP_TOOL] = plan->execute_fd;
    fds[CK_WIRE_BWRAP_ROOT] = plan->root_fd;
    fds[CK_WIRE_BWRAP_SCRATCH] = scratch_fd >= 0 ? scratch_fd : plan->root_fd;
    fd_list->fds[CK_WIRE_EXECUTABLE] = plan->bwrap.bwrap_fd;
    fd_list->count = CK_WIRE_BWRAP + CK_WIRE_BWRAP_FDS;
}

int ck_launcher_send_plan(struct ck_warden *warden, const struct ck_plan *plan, const struct ck_run_pipes *pipes,
                          uint64_t deadline_ns, uint64_t kill_ns, struct choke_error *error)
{
    struct fd_list fd_list = {
        .fds =
            {
                [CK_WIRE_STDIN] = plan->stdin_fd,
                [CK_WIRE_STDOUT] = pipes->out[1],
                [CK_WIRE_STDERR] = pipes->err[1],
                [CK_WIRE_CWD] = plan->native_jail.fd >= 0 ? plan->root_fd : plan->cwd_fd,
                [CK_WIRE_EXECUTABLE] = plan->execute_fd,
                [CK_WIRE_STDOUT_READ] = pipes->out[0],
                [CK_WIRE_STDERR_READ] = pipes->err[0],
                [CK_WIRE_RULESET] = plan->ruleset_fd,
                [CK_WIRE_FILTER] = plan->no_userns.filter_fd,
            },
        .count = CK_WIRE_FDS + (plan->ruleset_fd >= 0 ? 1u : 0u) + (plan->no_userns.filter_fd >= 0 ? 1u : 0u),
    };
    for (unsigned i = 0; i < plan->passed_count; i++)
        fd_list.fds[fd_list.count++] = plan->passed_fds[i];
    if (plan->bwrap.argv)
        add_bwrap_fds(&fd_list, plan, pipes->scratch_fd);
    warden->plans++;
    int r = pack_and_send(plan, warden, &fd_list, deadline_ns, kill_ns);
    /* If the keeper could not make the warden, it has sent a report with the reason. */
    struct ck_wire_report report;
    if (r == -EPIPE && ck_launcher_receive(warden, &report) == 1 && report.error != 0)
        r = -report.error;
    if (r < 0)
        return ck_error_set(error, CHOKE_SPAWN_FAILED, -r, "cannot send '%s' to its warden: %s", plan->tool_name,
                            ck_error_text(-r));
    return 0;
}

void ck_launcher_send_cancel(struct ck_warden *warden)
{
    static const struct ck_wire_simple cancel = {.kind = CK_WIRE_CANCEL};
    (void)send_message(warden->socket_fd, &cancel, sizeof(cancel), NULL, 0);
}

void ck_launcher_send_signal(struct ck_warden *warden, int sig)
{
    const struct ck_wire_signal message = {.kind = CK_WIRE_SIGNAL, .signal = (uint32_t)sig};
    (void)send_message(warden->socket_fd, &message, sizeof(message), NULL, 0);
}

static int take_door(struct ck_warden *warden, const struct ck_wire_report *message, size_t size)
{
    struct ck_wire_door door = {0};
    memcpy(&door, message, size < sizeof(door) ? size : sizeof(door));
    warden->door_again = door.again != 0;
    return 3;
}

int ck_launcher_receive(struct ck_warden *warden, struct ck_wire_report *ret_report)
{
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(int))];
    } control;
    /* Only CK_WIRE_DENIED is longer than a report. Its rest goes to where all of it will be. */
    struct iovec iov[2] = {{.iov_base = ret_report, .iov_len = sizeof(*ret_report)},
                           {.iov_base = warden->denied ? warden->denied + sizeof(*ret_report) : NULL,
                            .iov_len = CK_DENIALS_BYTES - sizeof(*ret_report)}};
    struct msghdr message = {.msg_iov = iov,
                             .msg_iovlen = warden->denied ? 2 : 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof(control)};
    ssize_t got = recvmsg(warden->socket_fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    /*
     * If the peer ended without reading our plan, the kernel reports ECONNRESET first. What the
     * peer had sent before can be read after that.
     */
    if (got < 0 && errno == ECONNRESET)
        got = recvmsg(warden->socket_fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (got < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -EPIPE;
    if (got < (ssize_t)sizeof(struct ck_wire_simple))
        return -EPIPE;
    if (message.msg_controllen >= CMSG_LEN(sizeof(int)) && control.header.cmsg_type == SCM_RIGHTS) {
        int *slot = ret_report->kind == CK_WIRE_REPORT            ? &warden->overlay_fd
                    : ret_report->kind == CK_WIRE_GATE            ? &warden->gate_fd
                    : ret_report->kind == CK_WIRE_DOOR            ? &warden->door_fd
                    : ret_report->kind == CK_WIRE_DIRECT_ATTEMPTS ? &warden->direct_attempts_fd
                                                                  : &warden->pidfd;
        ck_fd_close(slot);
        memcpy(slot, CMSG_DATA(&control.header), sizeof(*slot));
    }
    if (ret_report->kind == CK_WIRE_GATE || ret_report->kind == CK_WIRE_DOOR)
        return ret_report->kind == CK_WIRE_GATE ? 2 : take_door(warden, ret_report, (size_t)got);
    if (ret_report->kind == CK_WIRE_DENIED && warden->denied) {
        memcpy(warden->denied, ret_report, (size_t)got < sizeof(*ret_report) ? (size_t)got : sizeof(*ret_report));
        warden->denied_bytes = (size_t)got;
    }
    return ret_report->kind == CK_WIRE_REPORT && got == (ssize_t)sizeof(*ret_report) ? 1 : 0;
}
