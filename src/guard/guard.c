/*
 * guard.c - the loop of guard: PROGRAM, its doors, its terminal, and signals. See guard.h.
 *
 * One thread and one poll. Whatever the tree does, each round does a bounded amount of work for each
 * descriptor, so no door can keep the others waiting. What a tree may hold open is bounded, too:
 *
 *   connections   a part of our descriptors; beyond it a door is told to connect again later
 *   unfinished    fewer, each for ten seconds: a tree that connects and says nothing gets no further
 *   texts         64 MiB of those that are unfinished
 */
#include "guard/guard.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/heap.h"
#include "front/text.h"
#include "guard/connection.h"
#include "guard/dry_run.h"
#include "guard/passed.h"
#include "guard/summary.h"
#include "guard/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#define FDS_PER_CONNECTION 16 /* its socket, the streams and those of their copies, and those of the run */
#define CONNECTIONS_LEAST 16
#define CONNECTIONS_MOST 512
#define UNFINISHED_MOST 128
#define UNFINISHED_NS (10 * CK_NS_PER_S)
/* Most tools have ended by then, and their doors need not be woken in between. */
#define REPORT_AFTER_NS (5 * CK_NS_PER_MS)
/* Of texts of calls that are not whole: then long ones wait, but for the oldest. */
#define TEXT_BYTES_MOST ((size_t)64 << 20)
#define TEXT_BYTES_SHORT ((size_t)1 << 20)
/* Then deadlines and signals come first again: to judge one call with 200,000 paths takes seconds. */
#define CALLS_NS (50 * CK_NS_PER_MS)
/* How often we look whether a shell has brought us to the foreground: it says so only if we were stopped. */
#define LENT_MS 300
#define LAST_MS 1000  /* at the end, for a reader of what we say */
#define FIXED_POLLS 5 /* the context, signals, both sides of the terminal, and the caller's to write to */
#define POLLS_PER_CONNECTION (1 + CK_GUARD_RELAYS)

struct guard_loop {
    const struct ck_guard_options *options;
    struct choke_context *context;
    struct choke_guard *guard;
    struct choke_job *program; /* NULL once it has ended */
    struct ck_guard_connection *connections;
    size_t connections_count, connections_most;
    struct ck_guard_calls calls;
    struct ck_guard_terminal terminal;
    bool terminal_over;  /* nothing has it open any more */
    int report_fd;       /* -1: no report */
    bool report_is_new;  /* it was made by us */
    char *unrecorded_by; /* why the first record is missing in the log; NULL: none is */
    int signal_fd;
    int signal;          /* the first that asked to end */
    struct rlimit files; /* as they were */
    struct pollfd *polls;
    bool late;   /* not all that was there to be received has been */
    bool failed; /* the loop cannot go on */
};

/* ---- signals ---- */

static int begin_signals(struct guard_loop *loop, struct choke_error *error)
{
    static const int wanted[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGCONT};
    struct sigaction action;
    sigset_t set;
    (void)sigemptyset(&set);
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
        /* What is ignored (nohup) stays so. */
        if (sigaction(wanted[i], NULL, &action) < 0 || action.sa_handler != SIG_IGN)
            (void)sigaddset(&set, wanted[i]);
    loop->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (loop->signal_fd < 0)
        return ck_text_error(error, CHOKE_SPAWN_FAILED, errno, "cannot watch for signals: %s", strerror(errno));
    (void)sigaddset(&set, SIGPIPE);
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
    return 0;
}

static void take_signals(struct guard_loop *loop)
{
    struct signalfd_siginfo info;
    while (read(loop->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        if (info.ssi_signo == SIGWINCH || info.ssi_signo == SIGCONT) {
            ck_guard_terminal_resize(&loop->terminal);
            if (info.ssi_signo == SIGCONT)
                ck_guard_terminal_continue(&loop->terminal);
            continue;
        }
        loop->signal = loop->signal != 0 ? loop->signal : (int)info.ssi_signo;
        choke_cancel_all(loop->context);
    }
}

/* ---- records ---- */

/* Why a record is missing is said at the end: meanwhile the terminal is PROGRAM's. */
static void take_event(void *data, const struct choke_event *event)
{
    struct guard_loop *loop = data;
    if (strcmp(event->name, "audit.unrecorded") != 0)
        return;
    for (size_t i = 0; !loop->unrecorded_by && i < event->field_count; i++)
        if (strcmp(event->fields[i].key, "message") == 0 && event->fields[i].value)
            loop->unrecorded_by = strdup(event->fields[i].value);
}

/* ---- connections ---- */

static size_t count_unfinished(const struct guard_loop *loop)
{
    size_t count = 0;
    for (const struct ck_guard_connection *at = loop->connections; at; at = at->next)
        count += at->state == CK_GUARD_COLLECTING ? 1 : 0;
    return count;
}

/* Called by the context while it dispatches. */
static void accept_door(void *data, int fd)
{
    struct guard_loop *loop = data;
    if (loop->connections_count == loop->connections_most || count_unfinished(loop) >= UNFINISHED_MOST) {
        loop->calls.busy++;
        ck_guard_connection_busy(fd);
        return;
    }
    struct ck_guard_connection *connection = ck_guard_connection_new(fd, ck_clock_now_ns());
    if (!connection) {
        loop->calls.abandoned++;
        return;
    }
    connection->next = loop->connections;
    loop->connections = connection;
    loop->connections_count++;
}

static void free_over(struct guard_loop *loop)
{
    for (struct ck_guard_connection **at = &loop->connections; *at;) {
        struct ck_guard_connection *connection = *at;
        if (connection->state != CK_GUARD_OVER || connection->job) {
            at = &connection->next;
            continue;
        }
        *at = connection->next;
        ck_guard_connection_free(connection);
        loop->connections_count--;
    }
}

/* When something has to be done about it, whatever its door does; UINT64_MAX: never. */
static uint64_t deadline_of(const struct ck_guard_connection *connection)
{
    if (connection->state == CK_GUARD_COLLECTING)
        return connection->since_ns + UNFINISHED_NS;
    return connection->state == CK_GUARD_RUNNING && !connection->reported ? connection->since_ns + REPORT_AFTER_NS
                                                                          : UINT64_MAX;
}

/* Returns the milliseconds until the next deadline, for poll; -1: no connection has one. */
static int check_deadlines(struct guard_loop *loop)
{
    uint64_t now = ck_clock_now_ns(), left = UINT64_MAX;
    for (struct ck_guard_connection *at = loop->connections; at; at = at->next) {
        uint64_t deadline = deadline_of(at);
        if (deadline == UINT64_MAX)
            continue;
        if (now < deadline)
            left = deadline - now < left ? deadline - now : left;
        else if (at->state == CK_GUARD_RUNNING)
            ck_guard_connection_report_start(at);
        else if (!loop->late) /* else its messages may be here */
            ck_guard_connection_expire(at, &loop->calls);
    }
    return left == UINT64_MAX ? -1 : (int)(left / CK_NS_PER_MS) + 1;
}

/* ---- ended jobs ---- */

static void take_ended(struct guard_loop *loop)
{
    for (struct choke_job *job; (job = choke_next(loop->context));) {
        if (job == loop->program) {
            loop->program = NULL;
            /* Nothing in the cage lives any more; a tool that still runs has nobody to work for. */
            choke_cancel_all(loop->context);
        } else {
            ck_guard_connection_ended(choke_job_data(job), &loop->calls);
        }
    }
}

/* ---- the round ---- */

static void add_poll(struct guard_loop *loop, size_t *count, int fd, short events)
{
    loop->polls[(*count)++] = (struct pollfd){.fd = events != 0 ? fd : -1, .events = events};
}

static bool texts_are_full(const struct guard_loop *loop)
{
    size_t bytes = 0;
    for (const struct ck_guard_connection *at = loop->connections; at; at = at->next)
        bytes += at->state == CK_GUARD_COLLECTING ? at->call.text_room : 0;
    return bytes > TEXT_BYTES_MOST;
}

static bool is_long(const struct ck_guard_connection *connection)
{
    return connection->state == CK_GUARD_COLLECTING && connection->call.text_room > TEXT_BYTES_SHORT;
}

/* It is read also if the texts are full, or calls that are all long would wait for each other until they expire. */
static const struct ck_guard_connection *oldest_long(const struct guard_loop *loop)
{
    const struct ck_guard_connection *oldest = NULL;
    for (const struct ck_guard_connection *at = loop->connections; at; at = at->next)
        oldest = is_long(at) ? at : oldest;
    return oldest;
}

/* When PROGRAM has ended, nobody waits for an answer. */
static bool is_read(const struct guard_loop *loop, const struct ck_guard_connection *connection, bool full)
{
    return loop->program && connection->fd >= 0 && connection->state <= CK_GUARD_RUNNING &&
           !(full && is_long(connection));
}

static size_t fill_polls(struct guard_loop *loop)
{
    const struct ck_guard_terminal *terminal = &loop->terminal;
    bool has_terminal = terminal->master_fd >= 0, full = texts_are_full(loop);
    const struct ck_guard_connection *oldest = full ? oldest_long(loop) : NULL;
    size_t count = 0;
    add_poll(loop, &count, choke_fd(loop->context), POLLIN);
    add_poll(loop, &count, loop->signal_fd, POLLIN);
    add_poll(loop, &count, terminal->outer_in_fd, has_terminal ? ck_guard_terminal_outer_events(terminal) : 0);
    add_poll(loop, &count, terminal->master_fd,
             has_terminal && !loop->terminal_over ? ck_guard_terminal_master_events(terminal) : 0);
    add_poll(loop, &count, terminal->outer_fd, has_terminal ? ck_guard_terminal_output_events(terminal) : 0);
    for (struct ck_guard_connection *at = loop->connections; at; at = at->next) {
        if (full && at != oldest && is_long(at)) /* it waits for us */
            at->since_ns = ck_clock_now_ns();
        add_poll(loop, &count, at->fd, is_read(loop, at, full && at != oldest) ? POLLIN : 0);
        for (unsigned i = 0; i < CK_GUARD_RELAYS; i++) {
            bool reads = false;
            int fd = i < at->relays_count ? ck_guard_relay_waits_for(&at->relays[i], &reads) : -1;
            add_poll(loop, &count, fd, (short)(fd < 0 ? 0 : reads ? POLLIN : POLLOUT));
        }
    }
    return count;
}

static void move_terminal(struct guard_loop *loop)
{
    const struct pollfd *outer = &loop->polls[2], *master = &loop->polls[3], *output = &loop->polls[4];
    if (outer->revents == 0 && master->revents == 0 && output->revents == 0)
        return;
    ck_guard_terminal_move(&loop->terminal, outer->revents, master->revents, output->revents);
    /* Hung up, and read to the end. */
    if ((master->revents & (POLLHUP | POLLIN)) == POLLHUP)
        loop->terminal_over = true;
}

/* What is left is for the next round. */
static bool is_late(struct guard_loop *loop, uint64_t since_ns)
{
    loop->late = ck_clock_now_ns() - since_ns > CALLS_NS;
    return loop->late;
}

/* In the order of fill_polls. Connections are only added by the dispatch, which comes later. */
static void move_connections(struct guard_loop *loop)
{
    const struct pollfd *at_poll = loop->polls + FIXED_POLLS;
    const uint64_t since_ns = ck_clock_now_ns();
    for (struct ck_guard_connection *at = loop->connections; at && !is_late(loop, since_ns);
         at = at->next, at_poll += POLLS_PER_CONNECTION) {
        bool moves = false;
        for (size_t i = 1; i < POLLS_PER_CONNECTION; i++)
            moves = moves || at_poll[i].revents != 0;
        if (at_poll[0].revents != 0)
            ck_guard_connection_receive(at, loop->guard, &loop->calls);
        else if (moves)
            ck_guard_connection_move(at);
    }
}

/* Usually a door has said everything by the time its connection is here. */
static void receive_new(struct guard_loop *loop, const struct ck_guard_connection *known)
{
    const uint64_t since_ns = ck_clock_now_ns();
    for (struct ck_guard_connection *at = loop->connections; at && at != known && !is_late(loop, since_ns);
         at = at->next)
        if (!texts_are_full(loop))
            ck_guard_connection_receive(at, loop->guard, &loop->calls);
}

static int round_of(struct guard_loop *loop, struct choke_error *error)
{
    int wait_ms = check_deadlines(loop);
    wait_ms = loop->late ? 0 : wait_ms;
    loop->late = false;
    if (ck_guard_terminal_is_lent(&loop->terminal)) {
        ck_guard_terminal_continue(&loop->terminal);
        wait_ms = wait_ms < 0 || wait_ms > LENT_MS ? LENT_MS : wait_ms;
    }
    free_over(loop);
    size_t count = fill_polls(loop);
    int ready = poll(loop->polls, (nfds_t)count, wait_ms);
    if (ready < 0 && errno != EINTR)
        return ck_text_error(error, CHOKE_SPAWN_FAILED, errno, "cannot wait for events: %s", strerror(errno));
    if (ready > 0) {
        take_signals(loop);
        move_terminal(loop);
        move_connections(loop);
    }
    const struct ck_guard_connection *known = loop->connections;
    int r = choke_dispatch(loop->context, error);
    receive_new(loop, known);
    take_ended(loop);
    free_over(loop);
    return r < 0 ? r : 0;
}

/* ---- from start to end ---- */

/* Tools need descriptors of ours; PROGRAM gets the limit that we had. */
static void raise_limits(struct guard_loop *loop)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &loop->files) < 0)
        loop->files = (struct rlimit){.rlim_cur = 1024, .rlim_max = 1024};
    limit = (struct rlimit){.rlim_cur = loop->files.rlim_max, .rlim_max = loop->files.rlim_max};
    (void)setrlimit(RLIMIT_NOFILE, &limit);
    size_t most = (size_t)loop->files.rlim_max / FDS_PER_CONNECTION;
    loop->connections_most = most < CONNECTIONS_LEAST  ? CONNECTIONS_LEAST
                             : most > CONNECTIONS_MOST ? CONNECTIONS_MOST
                                                       : most;
}

/*
 * In the cage fewer descriptors than ours: of those that are in sockets and not received, the kernel
 * allows a user as many as the sender may have open. RLIMIT_CORE 1: no core file, nor a program that is
 * started for one.
 */
static void limit_program(const struct guard_loop *loop, struct choke_guard_inherited *inherited)
{
    uint64_t most = loop->files.rlim_max / 2 > loop->files.rlim_cur ? loop->files.rlim_max / 2 : loop->files.rlim_cur;
    mode_t mask = umask(0);
    (void)umask(mask);
    inherited->umask_bits = mask;
    inherited->rlimits[RLIMIT_NOFILE] = (struct choke_guard_rlimit){.soft = loop->files.rlim_cur, .hard = most};
    inherited->rlimits[RLIMIT_CORE] = (struct choke_guard_rlimit){.soft = 1, .hard = 1};
}

static int start(struct guard_loop *loop, struct choke_error *error)
{
    struct choke_guard_inherited inherited;
    const struct ck_guard_options *options = loop->options;
    int terminal = -1;
    choke_guard_inherited_init(&inherited);
    limit_program(loop, &inherited);
    int r = ck_guard_passed_take(&inherited, error);
    if (r == 0 && !options->dry_run)
        r = ck_guard_terminal_begin(&loop->terminal, inherited.fds, &terminal, error);
    const struct choke_guard_request request = {.argv = options->argv,
                                                .root = options->root,
                                                .cwd = options->cwd,
                                                .profile = options->profile,
                                                .egress = options->egress,
                                                .timeout_ms = options->timeout_ms,
                                                .inherited = &inherited,
                                                .terminal = terminal,
                                                .on_door = accept_door,
                                                .door_data = loop,
                                                .dry_run = options->dry_run,
                                                .secrets = options->secrets,
                                                .secret_ca = options->secret_ca,
                                                .struct_size = sizeof(request)};
    if (r == 0)
        r = choke_guard_start(loop->context, &request, &loop->guard, &loop->program, error);
    choke_guard_inherited_done(&inherited);
    return r;
}

static int status_of(const struct guard_loop *loop, const struct choke_result *result, bool differs)
{
    if (!result->jail || differs || loop->failed)
        return CK_GUARD_STATUS_FAILED;
    if (result->outcome == CHOKE_EXITED)
        return result->exit_code;
    if (result->outcome == CHOKE_TIMEOUT)
        return CK_GUARD_STATUS_TIMEOUT;
    if (loop->signal != 0)
        return CK_GUARD_STATUS_SIGNAL + loop->signal;
    return result->outcome == CHOKE_SIGNALED ? CK_GUARD_STATUS_SIGNAL + result->signal : CK_GUARD_STATUS_FAILED;
}

/*
 * Does somebody read what we say at the end? Without a limit we wait for it, as every program does; but neither the
 * time of PROGRAM nor a signal may be kept from ending us by a reader that does not read.
 */
static bool is_stderr_read(struct guard_loop *loop, const struct choke_result *result)
{
    struct pollfd polled[] = {{.fd = STDERR_FILENO, .events = POLLOUT}, {.fd = loop->signal_fd, .events = POLLIN}};
    for (;;) {
        bool hurries = result->outcome == CHOKE_TIMEOUT || loop->signal != 0;
        int ready = poll(polled, 2, hurries ? LAST_MS : -1);
        if (ready > 0 && polled[0].revents != 0)
            return true;
        if (ready <= 0 && (hurries || errno != EINTR))
            return false;
        take_signals(loop);
    }
}

/* What PROGRAM did not report itself. */
static void explain_end(const struct choke_result *result)
{
    if (result->error.outcome != CHOKE_NONE)
        (void)fprintf(stderr, "chokepoint: %s\n", result->error.message);
}

static int conclude(struct guard_loop *loop, const struct choke_job *program, struct choke_error *error)
{
    CK_HEAP char *root = ck_heap_own(realpath(loop->options->root, NULL));
    struct ck_guard_summary summary = {.result = choke_job_result(program),
                                       .root = root,
                                       .guard = loop->guard,
                                       .calls = loop->calls,
                                       .unrecorded_by = loop->unrecorded_by};
    choke_guard_counts(program, &summary.counts);
    summary.calls.unrecorded += summary.result->unrecorded ? 1 : 0;
    if (summary.result->jail && choke_guard_changes(loop->guard, &summary.changes, &summary.changes_count,
                                                    &summary.changes_incomplete, error) < 0) {
        (void)fprintf(stderr, "chokepoint: what the program left cannot be listed: %s\n", error->message);
        summary.changes_incomplete = true;
    }
    summary.description = choke_guard_description(loop->guard);
    bool differs = !!ck_guard_summary_difference(&summary);
    summary.status = status_of(loop, summary.result, differs);
    bool prints = is_stderr_read(loop, summary.result);
    if (prints)
        explain_end(summary.result);
    if (prints && summary.result->jail && (!loop->options->quiet || differs))
        ck_guard_summary_print(&summary);
    if (loop->report_fd >= 0 && ck_guard_summary_write(&summary, loop->report_fd, loop->options->report, error) < 0) {
        (void)fprintf(stderr, "chokepoint: %s\n", error->message);
        return CK_GUARD_STATUS_FAILED;
    }
    return summary.status;
}

/*
 * Before PROGRAM exists: later it could have put a symlink to another file of the caller there. A file
 * that is there already keeps its text until PROGRAM has been started, and is never removed: it may be
 * /dev/null.
 */
static int open_report(struct guard_loop *loop, struct choke_error *error)
{
    const char *path = loop->options->report;
    const int flags = O_WRONLY | O_NOFOLLOW | O_CLOEXEC;
    if (!path || loop->options->dry_run)
        return 0;
    loop->report_fd = open(path, flags | O_CREAT | O_EXCL, 0666);
    loop->report_is_new = loop->report_fd >= 0;
    if (loop->report_fd < 0 && errno == EEXIST)
        loop->report_fd = open(path, flags);
    return loop->report_fd >= 0 ? 0
                                : ck_text_error(error, CHOKE_INVALID, errno, "cannot write the report '%s': %s",
                                                CK_TEXT_SAFE(path), strerror(errno));
}

/* Only a regular file can be shortened, and only there it is needed. */
static void empty_report(const struct guard_loop *loop)
{
    if (loop->report_fd >= 0)
        (void)!ftruncate(loop->report_fd, 0);
}

static int run(struct guard_loop *loop, struct choke_error *error)
{
    loop->polls = calloc(FIXED_POLLS + (loop->connections_most + 1) * POLLS_PER_CONNECTION, sizeof(*loop->polls));
    if (!loop->polls)
        return ck_text_error(error, CHOKE_SPAWN_FAILED, ENOMEM, "out of memory");
    int r = open_report(loop, error);
    if (r == 0)
        r = begin_signals(loop, error);
    if (r == 0)
        r = start(loop, error);
    if (r < 0) {
        if (loop->report_is_new)
            (void)unlink(loop->options->report);
        return r;
    }
    if (loop->options->dry_run)
        return ck_guard_dry_run_print(loop->guard, loop->options->argv, error);
    empty_report(loop);
    struct choke_job *program = loop->program;
    while (r == 0 && (loop->program || choke_running(loop->context) > 0))
        r = round_of(loop, error);
    take_ended(loop);
    loop->calls.abandoned += count_unfinished(loop);
    ck_guard_terminal_end(&loop->terminal);
    if (r < 0) {
        loop->failed = true;
        (void)fprintf(stderr, "chokepoint: %s\n", error->message);
    }
    r = loop->program ? CK_GUARD_STATUS_FAILED : conclude(loop, program, error);
    choke_job_free(program);
    return r;
}

int ck_guard_run(const struct ck_guard_options *options, struct choke_error *error)
{
    struct guard_loop loop = {.options = options,
                              .signal_fd = -1,
                              .report_fd = -1,
                              .terminal = {.outer_in_fd = -1, .outer_fd = -1, .master_fd = -1}};
    raise_limits(&loop);
    struct choke_options context = options->context;
    context.on_event = take_event;
    context.event_data = &loop;
    int r = choke_context_new(&context, &loop.context, error);
    if (r == 0)
        r = run(&loop, error);
    ck_guard_terminal_end(&loop.terminal);
    while (loop.connections) {
        struct ck_guard_connection *connection = loop.connections;
        loop.connections = connection->next;
        ck_guard_connection_free(connection);
    }
    choke_guard_free(loop.guard);
    choke_context_free(loop.context);
    ck_fd_close(&loop.signal_fd);
    ck_fd_close(&loop.report_fd);
    free(loop.polls);
    free(loop.unrecorded_by);
    return r;
}
