/*
 * watch.c - the event loop of a context: wardens, streams, deadlines. See watch.h.
 *
 * A run has ended when its warden has reported. Its process tree is dead then, so the streams get
 * no more data from it. A stream that is still open after that is held by a process outside the
 * tree that received the descriptor. It is closed, and the result says so.
 */
#include "run/watch.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"
#include "run/native_no_userns.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define EVENTS 64
#define READ_ROUND_BYTES ((size_t)1 << 20) /* per stream and round, so that one fast stream does not block the others */
#define SMALL_READ_BYTES ((size_t)4096)
#define STAGE_BYTES ((size_t)128 << 10)
#define CACHED_BYTES ((size_t)1 << 20)    /* a ring of this size stays in the CPU cache */
#define LARGE_READ_BYTES ((ssize_t)65536) /* a read of a whole pipe: a larger pipe pays off */
#define LARGE_PIPE_BYTES (1 << 20)
#define MIN_PATIENCE_NS (25 * CK_NS_PER_MS) /* for timeouts so short that the warden is hardly running by then */
#define PREPARING_MAX 4                     /* with more runs in flight there is no idle time to prepare in */
#define CANCEL_LAST_RESORT_NS (250 * CK_NS_PER_MS)
#define REST_MESSAGES 1024 /* more than fit into the buffer of a socket */

/* 0 if fd is not a socket. */
static uint64_t cookie_of(int fd)
{
    uint64_t cookie = 0;
    socklen_t length = sizeof(cookie);
    return getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &length) == 0 ? cookie : 0;
}

int ck_watch_init(struct ck_watch *watch, ck_run_ended_fn on_ended, void *data)
{
    *watch = (struct ck_watch){.source = CK_WATCH_SOURCE_TIMER,
                               .timer_fd = -1,
                               .ended_fd = -1,
                               .anchor_fd = -1,
                               .armed_ns = UINT64_MAX,
                               .on_ended = on_ended,
                               .data = data};
    watch->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (watch->epoll_fd < 0)
        return -errno;
    ck_launcher_init(&watch->launcher, watch->epoll_fd);
    watch->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &watch->source};
    struct epoll_event silent = {.events = 0};
    /* No event is requested for it, so epoll never returns it. See ck_watch_is_intact. */
    watch->anchor_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (watch->timer_fd < 0 || epoll_ctl(watch->epoll_fd, EPOLL_CTL_ADD, watch->timer_fd, &event) < 0 ||
        watch->anchor_fd < 0 || epoll_ctl(watch->epoll_fd, EPOLL_CTL_ADD, watch->anchor_fd, &silent) < 0) {
        int r = -errno;
        ck_watch_forget(watch);
        return r;
    }
    watch->anchor = cookie_of(watch->anchor_fd);
    return 0;
}

static void free_dead(struct ck_watch *watch)
{
    while (watch->dead) {
        struct ck_warden *warden = watch->dead;
        watch->dead = warden->next;
        ck_launcher_discard(warden, true);
        ck_launcher_wake_keeper(&watch->launcher);
    }
}

static void close_watch(struct ck_watch *watch)
{
    free(watch->stage);
    watch->stage = NULL;
    ck_fd_close(&watch->timer_fd);
    ck_fd_close(&watch->ended_fd);
    ck_fd_close(&watch->anchor_fd);
    ck_fd_close(&watch->epoll_fd);
}

bool ck_watch_is_intact(const struct ck_watch *watch)
{
    struct epoll_event silent = {.events = 0};
    return cookie_of(watch->anchor_fd) == watch->anchor &&
           epoll_ctl(watch->epoll_fd, EPOLL_CTL_MOD, watch->anchor_fd, &silent) == 0;
}

void ck_watch_done(struct ck_watch *watch)
{
    free_dead(watch);
    ck_launcher_done(&watch->launcher);
    close_watch(watch);
}

void ck_watch_leave(struct ck_watch *watch)
{
    free_dead(watch);
    ck_launcher_leave(&watch->launcher);
    close_watch(watch);
}

void ck_watch_forget(struct ck_watch *watch)
{
    while (watch->dead) {
        struct ck_warden *warden = watch->dead;
        watch->dead = warden->next;
        ck_launcher_discard(
            warden, false); /* no kill: the host may have closed the pidfd and opened something else by that number */
    }
    for (struct ck_run *run = watch->running; run; run = run->next) {
        if (run->warden)
            ck_launcher_discard(run->warden, false);
        run->warden = NULL;
    }
    ck_launcher_forget(&watch->launcher);
    close_watch(watch);
}

/* ---- the timer of the last resort ---- */

/* Sets the timer, unless it is set to an earlier time already. */
static void arm(struct ck_watch *watch, uint64_t when_ns)
{
    if (when_ns >= watch->armed_ns)
        return;
    struct itimerspec timer = {
        .it_value = {.tv_sec = (time_t)(when_ns / CK_NS_PER_S), .tv_nsec = (long)(when_ns % CK_NS_PER_S)}};
    (void)timerfd_settime(watch->timer_fd, TFD_TIMER_ABSTIME, &timer, NULL);
    watch->armed_ns = when_ns;
}

void ck_watch_wake(struct ck_watch *watch)
{
    arm(watch, 1);
}

/* ---- the end of a run ---- */

static void unlink_run(struct ck_watch *watch, struct ck_run *run)
{
    if (run->previous)
        run->previous->next = run->next;
    else
        watch->running = run->next;
    if (run->next)
        run->next->previous = run->previous;
    run->next = run->previous = NULL;
    watch->running_count--;
}

/*
 * epoll removes a file when its last descriptor is closed. The warden has a copy, so closing ours
 * is not enough.
 */
static void close_stream(const struct ck_watch *watch, struct ck_run_stream *stream)
{
    if (stream->fd < 0)
        return;
    (void)epoll_ctl(watch->epoll_fd, EPOLL_CTL_DEL, stream->fd, NULL);
    ck_fd_close(&stream->fd);
}

static void cut_stream(const struct ck_watch *watch, struct ck_run_stream *stream)
{
    if (stream->fd >= 0)
        stream->run->incomplete = true;
    close_stream(watch, stream);
}

/* When the last descriptor is closed, the kernel frees the overlay. */
static void close_overlay(struct ck_overlay *overlay)
{
    ck_fd_close(&overlay->upper_fd);
    ck_fd_close(&overlay->lower_fd);
    ck_fd_close(&overlay->keep_fd);
}

static void end_run(struct ck_watch *watch, struct ck_run *run)
{
    cut_stream(watch, &run->out);
    cut_stream(watch, &run->err);
    unlink_run(watch, run);
    watch->on_ended(watch->data, run);
}

static void retire_warden(struct ck_watch *watch, struct ck_warden *warden)
{
    (void)epoll_ctl(watch->epoll_fd, EPOLL_CTL_DEL, warden->socket_fd, NULL);
    warden->owner = NULL;
    warden->is_retired = true;
    warden->next = watch->dead;
    watch->dead = warden;
}

int ck_watch_renew(struct ck_watch *watch, const struct ck_caller *now, bool hidden)
{
    int r = ck_retire_keeper(&watch->launcher, now, hidden);
    while (r > 0 && watch->launcher.idle) {
        struct ck_warden *warden = watch->launcher.idle;
        watch->launcher.idle = warden->next;
        retire_warden(watch, warden);
    }
    return r < 0 ? r : 0;
}

void ck_run_done(struct ck_run *run)
{
    ck_scratch_remove(&run->scratch);
    close_overlay(&run->overlay);
    ck_fd_close(&run->out.fd);
    ck_fd_close(&run->err.fd);
    ck_capture_done(&run->out.capture);
    ck_capture_done(&run->err.capture);
}

/* ---- streams ---- */

/*
 * Where the next read goes: usually directly into the ring. There are two exceptions, which read
 * into the stage first.
 *
 * The ring has little room (a small cap, the last bytes before its end, no memory): the read is
 * still of a good size.
 *
 * A fast stream (flood): the kernel holds the lock of the pipe while it copies. A copy into memory
 * that stays in the CPU cache is faster, so the tool can continue sooner. The copy from there to
 * the ring happens while the tool already writes.
 */
static char *choose_room(struct ck_watch *watch, struct ck_run_stream *stream, size_t *ret_room)
{
    char *data = ck_capture_room(&stream->capture, ret_room);
    bool flood = stream->enlarged && stream->capture.cap > CACHED_BYTES;
    if (*ret_room >= SMALL_READ_BYTES && !flood)
        return data;
    if (!watch->stage)
        watch->stage = malloc(STAGE_BYTES);
    *ret_room = watch->stage ? STAGE_BYTES : sizeof(watch->spare);
    return watch->stage ? watch->stage : watch->spare;
}

/*
 * Reads once. Returns the number of bytes, 0 at the end of the stream (which is then closed),
 * -EAGAIN if there is nothing to read now.
 */
static ssize_t read_once(struct ck_watch *watch, struct ck_run_stream *stream)
{
    const struct ck_run *run = stream->run;
    size_t room;
    char *data = choose_room(watch, stream, &room);
    ssize_t got = read(stream->fd, data, room);
    if (got < 0)
        return errno == EINTR ? -EAGAIN : -errno;
    if (got == 0) {
        close_stream(watch, stream);
        return 0;
    }
    if (data == watch->stage || data == watch->spare)
        ck_capture_copy(&stream->capture, data, (size_t)got);
    else
        ck_capture_add(&stream->capture, (size_t)got);
    if (run->on_output)
        run->on_output(run->output_data, stream->which, data, (size_t)got);
    return got;
}

/* Not after the end of the tool: what it left in its pipe is bounded, and would be lost. */
static bool is_paused(const struct ck_run_stream *stream)
{
    return stream->run->warden && (stream->run->paused & stream->which) != 0;
}

static bool is_round_over(const struct ck_watch *watch, const struct ck_run_stream *stream)
{
    return stream->run->warden && watch->until_ns != 0 && ck_clock_now_ns() >= watch->until_ns;
}

/*
 * A paused stream asks for no event. epoll reports a hang-up nevertheless; EPOLLET, so that it does
 * so once. EPOLL_CTL_MOD needs no memory and looks at the pipe again, so resuming cannot fail and
 * misses nothing.
 */
static void set_interest(const struct ck_watch *watch, struct ck_run_stream *stream)
{
    bool paused = (stream->run->paused & stream->which) != 0;
    struct epoll_event event = {.events = paused ? (uint32_t)EPOLLET : (uint32_t)EPOLLIN, .data.ptr = stream};
    if (stream->fd >= 0)
        (void)epoll_ctl(watch->epoll_fd, EPOLL_CTL_MOD, stream->fd, &event);
}

/* A run without a warden has no streams yet, or does not need them any more. */
static void set_paused(const struct ck_watch *watch, struct ck_run *run, unsigned paused)
{
    if (run->paused == paused)
        return;
    run->paused = paused;
    if (!run->warden)
        return;
    set_interest(watch, &run->out);
    set_interest(watch, &run->err);
}

void ck_watch_pause(struct ck_watch *watch, struct ck_run *run, unsigned streams)
{
    set_paused(watch, run, run->paused | streams);
}

void ck_watch_resume(struct ck_watch *watch, struct ck_run *run, unsigned streams)
{
    set_paused(watch, run, run->paused & ~streams);
}

/* An unreadable pipe would wake us for ever. It is closed and counts as still held. */
static void read_stream(struct ck_watch *watch, struct ck_run_stream *stream)
{
    size_t round = 0;
    while (stream->fd >= 0 && round < READ_ROUND_BYTES) {
        ssize_t got = read_once(watch, stream);
        if (got == -EAGAIN || got == 0)
            return;
        if (got < 0) {
            cut_stream(watch, stream);
            return;
        }
        round += (size_t)got;
        if (got >= LARGE_READ_BYTES && !stream->enlarged) {
            (void)fcntl(stream->fd, F_SETPIPE_SZ, LARGE_PIPE_BYTES);
            stream->enlarged = true;
        }
        if (is_paused(stream) || is_round_over(watch, stream))
            return;
    }
}

/* ---- wardens ---- */

static void read_rest(struct ck_watch *watch, struct ck_run *run)
{
    read_stream(watch, &run->out);
    read_stream(watch, &run->err);
}

/* Ends a run without a report of its warden, which is gone or does not answer. */
static void abandon_run(struct ck_watch *watch, struct ck_run *run, bool gone)
{
    /* A warden that ended without a hello was never made: the keeper could not create it. */
    if (gone && run->warden->pidfd < 0)
        run->report = (struct ck_wire_report){.stage = CK_STAGE_CREATE, .error = EOWNERDEAD};
    run->lost = true;
    run->ended_ns = ck_clock_now_ns();
    retire_warden(watch, run->warden);
    run->warden = NULL;
    read_rest(watch, run);
    end_run(watch, run);
}

static void receive_door(struct ck_watch *watch, struct ck_warden *warden)
{
    if (warden->owner && watch->on_door)
        watch->on_door(watch->data, warden->owner, ck_fd_take(&warden->door_fd), warden->door_again);
    ck_fd_close(&warden->door_fd);
}

/* Receives one message; the listener of a run goes to on_gate, a connection to on_door. */
static int receive_once(struct ck_watch *watch, struct ck_warden *warden, struct ck_wire_report *ret_report)
{
    int r = ck_launcher_receive(warden, ret_report);
    if (r == 3)
        receive_door(watch, warden);
    if (r == 3)
        return 0;
    if (r != 2)
        return r;
    if (warden->owner && watch->on_gate)
        watch->on_gate(watch->data, warden->owner, ck_fd_take(&warden->gate_fd),
                       ck_fd_take(&warden->direct_attempts_fd));
    ck_fd_close(&warden->gate_fd);
    ck_fd_close(&warden->direct_attempts_fd);
    return 0;
}

/* False: the plan before has a second report, because its init was killed while it sent the first. */
static bool is_report_of_last_plan(const struct ck_warden *warden, const struct ck_wire_report *report)
{
    return report->number == 0 || report->number == warden->plans;
}

static void receive_from_warden(struct ck_watch *watch, struct ck_warden *warden)
{
    if (warden->is_retired)
        return;
    struct ck_wire_report report;
    struct ck_run *run = warden->owner;
    int r = receive_once(watch, warden, &report);
    /* A new warden sends its hello first; its report may be there already as well. */
    if (r == 0 && warden->pidfd >= 0)
        r = receive_once(watch, warden, &report);
    if (r < 0 && !run) {
        ck_launcher_drop_idle(&watch->launcher, warden);
        retire_warden(watch, warden);
    } else if (r < 0) {
        abandon_run(watch, run, true);
    } else if (r > 0 && run && is_report_of_last_plan(warden, &report)) {
        run->report = report;
        run->ended_ns = report.ended_ns;
        run->incomplete = (report.ending & CK_ENDING_STREAM_HELD) != 0;
        run->warden = NULL;
        warden->has_served = true;
        run->denied = warden->denied_bytes > 0 ? warden->denied : NULL;
        run->denied_bytes = warden->denied_bytes;
        warden->denied_bytes = 0;
        run->overlay.upper_fd = ck_fd_take(&warden->overlay_fd);
        /* An older generation belongs to a retired keeper and must not serve another run. */
        if ((report.ending & CK_ENDING_LAST) != 0 || warden->generation != watch->launcher.generation)
            retire_warden(watch, warden);
        else
            ck_launcher_give_back(&watch->launcher, warden);
        read_rest(watch, run);
        end_run(watch, run);
    }
}

void ck_watch_abandon(struct ck_watch *watch, struct ck_run *run)
{
    abandon_run(watch, run, false);
}

/*
 * What its warden has sent so far. We may be late ourselves, and an event takes few messages of a socket: before the
 * report of a cage there are its connections. False: the run has ended.
 */
static bool receive_rest(struct ck_watch *watch, struct ck_run *run)
{
    struct ck_warden *warden = run->warden;
    struct pollfd polled = {.fd = warden->socket_fd, .events = POLLIN};
    for (int i = 0; i < REST_MESSAGES && poll(&polled, 1, 0) > 0; i++) {
        receive_from_warden(watch, warden);
        if (warden->owner != run)
            return false;
    }
    return true;
}

/* Ends the runs with a warden that did not report in time: it may have been stopped or killed. */
static void last_resort(struct ck_watch *watch)
{
    uint64_t count;
    (void)!read(watch->timer_fd, &count, sizeof(count));
    watch->armed_ns = UINT64_MAX;
    uint64_t now = ck_clock_now_ns();
    uint64_t next = UINT64_MAX;
    for (struct ck_run *run = watch->running, *following; run; run = following) {
        following = run->next;
        if (run->last_resort_ns > now)
            next = run->last_resort_ns < next ? run->last_resort_ns : next;
        else if (receive_rest(watch, run))
            abandon_run(watch, run, false);
    }
    if (next != UINT64_MAX)
        arm(watch, next);
}

void ck_watch_cancel(struct ck_watch *watch, struct ck_run *run)
{
    if (run->cancelled)
        return;
    run->cancelled = true;
    ck_launcher_send_cancel(run->warden);
    uint64_t latest = ck_clock_now_ns() + CANCEL_LAST_RESORT_NS;
    if (latest < run->last_resort_ns)
        run->last_resort_ns = latest;
    arm(watch, run->last_resort_ns);
}

void ck_watch_signal(struct ck_run *run, int sig)
{
    if (run->warden)
        ck_launcher_send_signal(run->warden, sig);
}

/* ---- start ---- */

static void close_pipes(struct ck_run_pipes *pipes)
{
    for (int i = 0; i < 2; i++) {
        ck_fd_close(&pipes->out[i]);
        ck_fd_close(&pipes->err[i]);
    }
}

/* Our ends must not block. The ends of the tool stay blocking, as tools expect. */
static int make_pipes(struct ck_run_pipes *pipes)
{
    *pipes = (struct ck_run_pipes){.out = {-1, -1}, .err = {-1, -1}, .scratch_fd = -1};
    if (pipe2(pipes->out, O_CLOEXEC) == 0 && pipe2(pipes->err, O_CLOEXEC) == 0 &&
        fcntl(pipes->out[0], F_SETFL, O_NONBLOCK) == 0 && fcntl(pipes->err[0], F_SETFL, O_NONBLOCK) == 0)
        return 0;
    int r = -errno;
    close_pipes(pipes);
    return r;
}

/*
 * The tool of guard gets the descriptors of its caller. Who holds them besides is not our concern, so
 * the warden is given a stream that has ended.
 */
static int use_streams(struct ck_watch *watch, const struct ck_plan *plan, struct ck_run_pipes *pipes)
{
    int pair[2];
    if (watch->ended_fd < 0 && pipe2(pair, O_CLOEXEC) < 0)
        return -errno;
    if (watch->ended_fd < 0) {
        watch->ended_fd = pair[0];
        ck_fd_close(&pair[1]);
    }
    *pipes = (struct ck_run_pipes){
        .out = {watch->ended_fd, plan->out_fd}, .err = {watch->ended_fd, plan->err_fd}, .scratch_fd = -1};
    return 0;
}

static void open_stream(struct ck_run *run, enum choke_stream which, int fd, const struct ck_verdict *verdict)
{
    struct ck_run_stream *stream = which == CHOKE_STDOUT ? &run->out : &run->err;
    *stream = (struct ck_run_stream){.source = CK_WATCH_SOURCE_STREAM, .run = run, .fd = fd, .which = which};
    ck_capture_init(&stream->capture, verdict->max_output_bytes, verdict->keep_head_bytes);
}

static int add_source(const struct ck_watch *watch, int fd, void *source)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = source};
    return epoll_ctl(watch->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

int ck_watch_add_event_source(struct ck_watch *watch, struct ck_event_source *event_source, int fd)
{
    event_source->source = CK_WATCH_SOURCE_EVENT;
    return add_source(watch, fd, event_source);
}

static void set_deadlines(struct ck_run *run, uint64_t timeout_ms)
{
    run->started_ns = ck_clock_now_ns();
    run->deadline_ns = run->started_ns + timeout_ms * CK_NS_PER_MS;
    /*
     * At 1.45 times the timeout: after the SIGKILL, which comes at 1.4 times at the latest, and
     * before the 1.5 times that are promised.
     */
    uint64_t patience_ns = timeout_ms * CK_NS_PER_MS / 20 * 9;
    run->last_resort_ns = run->deadline_ns + (patience_ns > MIN_PATIENCE_NS ? patience_ns : MIN_PATIENCE_NS);
    /*
     * The collection of changes ends then, too. After that only one slice and the sorting of the
     * list are left.
     */
    run->collect_until_ns = run->last_resort_ns;
}

/* bwrap has to be executed, so its runs are sealed later, inside. */
static struct ck_warden_kind kind_of(const struct ck_plan *plan)
{
    return (struct ck_warden_kind){.native_jail = plan->native_jail.fd >= 0 ? &plan->native_jail : NULL,
                                   .limited = plan->limited,
                                   .sealed = plan->sealed && !plan->bwrap.argv};
}

/* Whether something can be made ahead for another run like this one: not for bwrap, nor without user namespaces. */
static bool may_be_prepared(const struct ck_plan *plan)
{
    return plan->native_jail.fd >= 0 || (plan->jail.jail == &ck_jail_none && !plan->limited);
}

/* A new warden that is idle. */
static void add_idle(struct ck_watch *watch, struct ck_warden *warden)
{
    if (!warden || add_source(watch, warden->socket_fd, warden) == 0)
        return;
    ck_launcher_drop_idle(&watch->launcher, warden);
    retire_warden(watch, warden);
}

void ck_watch_work_ahead(struct ck_watch *watch, const struct ck_plan *plan)
{
    const struct ck_warden_kind kind = kind_of(plan);
    struct ck_warden *warden = NULL;
    ck_launcher_begin(&watch->launcher);
    if (kind.native_jail)
        ck_launcher_place_early(&watch->launcher, &kind, &warden);
    else if (plan->jail.jail == &ck_jail_native)
        ck_launcher_make_early(&watch->launcher, plan->limited);
    add_idle(watch, warden);
}

/*
 * Sends the plan to one warden. Returns 0; -EPIPE if it was idle and has ended meanwhile, so that
 * another can be taken; or another error.
 */
static int assign_one_warden(struct ck_watch *watch, struct ck_run *run, const struct ck_plan *plan,
                             const struct ck_run_pipes *pipes, struct choke_error *error)
{
    const struct ck_warden_kind kind = kind_of(plan);
    struct ck_warden *warden;
    bool fresh;
    int r = ck_launcher_take(&watch->launcher, &kind, &warden, &fresh, error);
    if (r < 0)
        return r == -EPIPE ? -ECONNRESET : r;
    if (fresh)
        r = add_source(watch, warden->socket_fd, warden);
    warden->prepares = warden->has_served && may_be_prepared(plan) && watch->running_count < PREPARING_MAX;
    if (r < 0) {
        (void)ck_error_set(error, CHOKE_SPAWN_FAILED, -r, "cannot watch the run: %s", strerror(-r));
    } else {
        uint64_t kill_ns = run->deadline_ns + ck_plan_grace_ns(plan->verdict.timeout_ms);
        r = ck_launcher_send_plan(warden, plan, pipes, run->deadline_ns, kill_ns, error);
    }
    if (r < 0) {
        retire_warden(watch, warden);
        return r == -EPIPE && fresh ? -ECONNRESET : r;
    }
    warden->owner = run;
    run->warden = warden;
    struct ck_warden *second;
    ck_launcher_make_second(&watch->launcher, &kind, warden, &second);
    add_idle(watch, second);
    return 0;
}

/* Everything that can fail comes before the plan is sent: after that the tool may run. */
static int assign_warden(struct ck_watch *watch, struct ck_run *run, const struct ck_plan *plan,
                         const struct ck_run_pipes *pipes, struct choke_error *error)
{
    int r = plan->guarded ? 0 : add_source(watch, pipes->out[0], &run->out);
    if (r == 0 && !plan->guarded)
        r = add_source(watch, pipes->err[0], &run->err);
    if (r < 0)
        return ck_error_set(error, CHOKE_SPAWN_FAILED, -r, "cannot watch the run: %s", strerror(-r));
    /* An idle warden may have ended since its last run; a new one is not tried again. */
    do
        r = assign_one_warden(watch, run, plan, pipes, error);
    while (r == -EPIPE);
    return r;
}

/*
 * What the run needs after the plan is gone: the repository to compare with, and the directory for
 * kept changes.
 */
static int prepare_overlay(struct ck_run *run, const struct ck_plan *plan, struct choke_error *error)
{
    if (plan->native_jail.fd < 0 || plan->workspace != CK_WORKSPACE_OVERLAY)
        return 0;
    run->overlay.wanted = true;
    run->overlay.lower_fd = fcntl(plan->root_fd, F_DUPFD_CLOEXEC, 3);
    int r = run->overlay.lower_fd < 0 ? -errno : 0;
    if (r == 0 && plan->keep.fd >= 0)
        r = ck_keep_make(&plan->keep, &run->overlay.keep_fd);
    if (r < 0)
        return ck_error_set(error, CHOKE_SPAWN_FAILED, -r, "cannot prepare to keep changes: %s", strerror(-r));
    return 0;
}

static int prepare_scratch(struct ck_run *run, const struct ck_plan *plan, struct choke_error *error)
{
    int r = ck_scratch_make(plan->bwrap.scratch_pool, plan->bwrap.scratch, &run->scratch, error);
    if (r < 0 || plan->no_userns.filter_fd < 0)
        return r;
    r = ck_native_no_userns_allow_scratch(plan, run->scratch.fd);
    return r == 0 ? 0
                  : ck_error_set(error, CHOKE_SPAWN_FAILED, -r, "cannot allow writes to '%s': %s", plan->bwrap.scratch,
                                 strerror(-r));
}

int ck_watch_start(struct ck_watch *watch, struct ck_run *run, const struct ck_plan *plan, struct choke_error *error)
{
    struct ck_run_pipes pipes;
    int r = plan->guarded ? use_streams(watch, plan, &pipes) : make_pipes(&pipes);
    if (r < 0)
        return ck_error_set(error, CHOKE_SPAWN_FAILED, -r, "cannot create pipes: %s", strerror(-r));
    open_stream(run, CHOKE_STDOUT, plan->guarded ? -1 : pipes.out[0], &plan->verdict);
    open_stream(run, CHOKE_STDERR, plan->guarded ? -1 : pipes.err[0], &plan->verdict);
    set_deadlines(run, plan->verdict.timeout_ms);
    if (plan->bwrap.scratch)
        r = prepare_scratch(run, plan, error);
    if (plan->bwrap.scratch && r == 0)
        pipes.scratch_fd = run->scratch.fd;
    if (r == 0)
        r = prepare_overlay(run, plan, error);
    if (r == 0)
        r = assign_warden(watch, run, plan, &pipes, error);
    if (!plan->guarded) {
        ck_fd_close(&pipes.out[1]);
        ck_fd_close(&pipes.err[1]);
    }
    if (r < 0) {
        if (run->overlay.keep_fd >= 0)
            ck_keep_remove_empty(&plan->keep);
        ck_run_done(run);
        return r;
    }
    run->next = watch->running;
    if (run->next)
        run->next->previous = run;
    watch->running = run;
    watch->running_count++;
    arm(watch, run->last_resort_ns);
    if (run->paused != 0) { /* before it was started */
        set_interest(watch, &run->out);
        set_interest(watch, &run->err);
    }
    return 0;
}

static void handle(struct ck_watch *watch, void *data)
{
    const enum ck_watch_source *source = data;
    if (*source == CK_WATCH_SOURCE_WARDEN) {
        receive_from_warden(watch, data);
    } else if (*source == CK_WATCH_SOURCE_STREAM) {
        struct ck_run_stream *stream = data;
        if (stream->fd >= 0 && !is_paused(stream))
            read_stream(watch, stream);
    } else if (*source == CK_WATCH_SOURCE_KEEPER) {
        ck_launcher_replace_keeper(&watch->launcher);
    } else if (*source == CK_WATCH_SOURCE_RETIRED) {
        ck_retire_ended(&watch->launcher, data);
    } else if (*source == CK_WATCH_SOURCE_EVENT) {
        const struct ck_event_source *event_source = data;
        event_source->dispatch(event_source->data);
    } else {
        last_resort(watch);
    }
}

/* Returns the number of events, at most `most`, or a negative errno. */
static int handle_events(struct ck_watch *watch, int most, int timeout_ms)
{
    struct epoll_event events[EVENTS];
    int count = epoll_wait(watch->epoll_fd, events, most, timeout_ms);
    if (count < 0)
        return errno == EINTR ? 0 : -errno;
    for (int i = 0; i < count; i++)
        handle(watch, events[i].data.ptr);
    /*
     * Only now: an event of this round may still have pointed to a warden that was retired in it.
     */
    free_dead(watch);
    return count;
}

int ck_watch_wait(struct ck_watch *watch, int timeout_ms)
{
    int r = handle_events(watch, EVENTS, timeout_ms);
    return r < 0 ? r : 0;
}

/*
 * One event at a time: the kernel moves a source that it has reported to the end of its list. So
 * what comes after the time is over is the first of the next call, and no source waits for ever.
 */
int ck_watch_work_until(struct ck_watch *watch, uint64_t until_ns)
{
    int r;
    watch->until_ns = until_ns;
    do
        r = handle_events(watch, 1, 0);
    while (r > 0 && ck_clock_now_ns() < until_ns);
    watch->until_ns = 0;
    return r < 0 ? r : 0;
}
