/*
 * coordinate.c - runs all probes; see coordinate.h.
 *
 * One loop over two descriptors, as in the other commands: the library's, and one for requests to stop. It
 * handles what is ready, then starts what may start. While a table is shown the loop also wakes ten
 * times a second; otherwise it sleeps until something happens.
 *
 * The versions and digests of the tools are looked up before the first probe begins. With a warm
 * cache this costs almost nothing. With a cold one, a request to stop can end the hashing here, which it
 * could not if choke_start had to hash a tool for its record.
 */
#include "gather/coordinate.h"

#include "base/fd.h"
#include "front/text.h"
#include "gather/call_report.h"
#include "gather/findings/findings.h"
#include "gather/git_root.h"
#include "gather/probe_run.h"
#include "gather/schedule.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define TICK_MS 100 /* how often a table is redrawn */

struct coordinator {
    const struct ck_coordinate_options *options; /* not owned */
    struct ck_gathering *gathering;              /* the result; the caller frees it */
    struct ck_gather_state gather_state;
    struct ck_files files;     /* of the repository */
    struct ck_files git_files; /* of its directory .git; zero-filled if that was not read */
    const char *git_special;   /* points into files: what git would wait for; NULL: nothing */
    struct ck_table *table;    /* NULL: no terminal */
    uint64_t cpu_before_us;    /* of a thread that has gathered before */
};

static int out_of_memory(struct choke_error *error)
{
    return ck_text_error(error, CHOKE_NONE, ENOMEM, "out of memory");
}

/* ---- stopping ---- */

/* Only polls: handle_stop reads the request later. */
static bool is_asked_to_stop(void *data)
{
    const struct coordinator *coordinator = data;
    struct pollfd fd = {.fd = coordinator->options->stop.fd, .events = POLLIN};
    return coordinator->gather_state.cancelled || poll(&fd, 1, 0) > 0;
}

static void handle_stop(struct coordinator *coordinator)
{
    const struct ck_coordinate_options *options = coordinator->options;

    coordinator->gather_state.cancelled = options->stop.take(options->stop.data, options->context);
}

/* ---- what applies ---- */

/* A probe that a selected probe needs is selected too. */
static bool is_asked_for(const struct coordinator *coordinator, size_t index)
{
    const struct ck_gathering *gathering = coordinator->gathering;

    if (!coordinator->options->only)
        return true;
    for (size_t i = 0; i < gathering->count; i++)
        for (const char *const *name = coordinator->options->only; *name; name++)
            if (strcmp(gathering->reports[i].probe->name, *name) == 0 &&
                (i == index || ck_schedule_needs(gathering->reports, gathering->count, i, index)))
                return true;
    return false;
}

/* Without such a probe the walk over .git is not made: it may have many files. */
static bool needs_git(const struct coordinator *coordinator)
{
    for (size_t i = 0; i < coordinator->gathering->count; i++)
        if (coordinator->gathering->reports[i].probe->git && is_asked_for(coordinator, i))
            return true;
    return false;
}

/*
 * git opens any file in the git directory. Without a directory .git (in a bare repository) that is
 * any file of the tree.
 */
static void find_git_special(struct coordinator *coordinator)
{
    /* No globs are compared: only special files are of interest. */
    static const struct ck_probes none = {0};
    struct ck_files *found = &coordinator->git_files;
    struct choke_error error;
    int git_fd = openat(coordinator->options->root_fd, ".git", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (git_fd >= 0) {
        /* A failure leaves found zero-filled: then git itself reports what is wrong. */
        (void)ck_files_walk(git_fd, &none, is_asked_to_stop, coordinator, found, &error);
        (void)close(git_fd);
        coordinator->git_special = found->special;
    } else {
        coordinator->git_special = coordinator->files.special;
    }
}

/* prefix: a path from the walk over .git is relative to that directory. */
static void skip_blocking(struct ck_probe_run *run, const char *prefix, const char *path)
{
    const struct ck_probe *probe = run->report->probe;

    run->report->blocked = true;
    ck_probe_run_end(run, CK_PROBE_STATE_SKIPPED, "'%s%s' is a FIFO or a device, and '%s' would wait for it; remove it",
                     prefix, CK_TEXT_SAFE(path), CK_TEXT_SAFE(probe->tool));
}

/*
 * The order decides which reason is reported: not selected, no git repository, no file, a file that
 * would block.
 */
static void skip_inapplicable(struct coordinator *coordinator)
{
    /* NULL: it is a complete git repository. */
    const char *fault = ck_git_root_problem(coordinator->options->root_fd);
    const char *git_prefix = coordinator->git_special == coordinator->files.special ? "" : ".git/";

    for (size_t i = 0; i < coordinator->gathering->count; i++) {
        struct ck_probe_run *run = &coordinator->gather_state.runs[i];
        const struct ck_probe *probe = run->report->probe;
        if (!is_asked_for(coordinator, i))
            ck_probe_run_end(run, CK_PROBE_STATE_SKIPPED, "%s", "not asked for");
        else if (probe->git && fault)
            ck_probe_run_end(run, CK_PROBE_STATE_SKIPPED, "%s", fault);
        else if (probe->applies_when[0] && run->matches->count == 0 && !run->matches->may_apply &&
                 /* A walk that a signal ended proves nothing; such a probe becomes cancelled. */
                 !coordinator->gather_state.cancelled)
            ck_probe_run_end(run, CK_PROBE_STATE_SKIPPED, "no file matches %s%s%s",
                             CK_TEXT_SAFE(probe->applies_when[0]),
                             probe->applies_when[1] ? " or its other patterns" : "",
                             coordinator->files.incomplete ? ", among the files that were listed" : "");
        else if (run->matches->blocking_path)
            skip_blocking(run, "", run->matches->blocking_path);
        else if (probe->git && coordinator->git_special)
            skip_blocking(run, git_prefix, coordinator->git_special);
    }
}

/* A running call has two streams, so each gets half of its job's share. */
static size_t output_bytes(const struct ck_coordinate_options *options)
{
    size_t all = options->output_bytes > 0 ? options->output_bytes : CK_COORDINATE_OUTPUT_BYTES;
    return all / 2 / options->jobs;
}

static int init_probes(struct coordinator *coordinator, struct choke_error *error)
{
    const struct ck_coordinate_options *options = coordinator->options;
    struct ck_gathering *gathering = coordinator->gathering;
    struct ck_gather_state *gather_state = &coordinator->gather_state;

    gathering->root = options->root;
    gather_state->inside_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (gather_state->inside_fd < 0)
        return ck_text_error(error, CHOKE_NONE, errno, "cannot make an eventfd: %s", strerror(errno));
    gathering->reports = calloc(options->probes->count, sizeof(*gathering->reports));
    gather_state->runs = calloc(options->probes->count, sizeof(*gather_state->runs));
    if (!gathering->reports || !gather_state->runs)
        return out_of_memory(error);
    gathering->count = gather_state->count = options->probes->count;
    /*
     * The reports have no probes yet: after a failure finish stops at the first run without a
     * report.
     */
    int r = ck_files_walk(options->root_fd, options->probes, is_asked_to_stop, coordinator, &coordinator->files, error);
    if (r < 0)
        return r;
    handle_stop(coordinator);
    for (size_t i = 0; i < gathering->count; i++) {
        gathering->reports[i].probe = &options->probes->items[i];
        gathering->reports[i].files_cut = coordinator->files.matches[i].cut;
        gather_state->runs[i] = (struct ck_probe_run){
            .gather_state = gather_state, .report = &gathering->reports[i], .matches = &coordinator->files.matches[i]};
    }
    gathering->file_count = coordinator->files.count;
    gathering->files_incomplete = coordinator->files.incomplete;
    if (needs_git(coordinator))
        find_git_special(coordinator);
    skip_inapplicable(coordinator);
    return 0;
}

/* ---- the tools ---- */

static int compare_names(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* The names of the tools that are called, sorted and unique. The caller frees the list. */
static const char **called_tools(const struct ck_gathering *gathering)
{
    const char **names = calloc(gathering->count * CK_PROBE_CALLS_MAX + 1, sizeof(*names));
    size_t count = 0, unique = 0;

    for (size_t i = 0; names && i < gathering->count; i++)
        for (size_t call = 0;
             gathering->reports[i].state != CK_PROBE_STATE_SKIPPED && call < gathering->reports[i].probe->call_count;
             call++)
            /* argv[0] is the name of the tool: check_call in probes.c. */
            names[count++] = gathering->reports[i].probe->calls[call].argv[0];
    if (count > 0)
        qsort(names, count, sizeof(*names), compare_names);
    for (size_t i = 0; i < count; i++)
        if (unique == 0 || strcmp(names[unique - 1], names[i]) != 0)
            names[unique++] = names[i];
    if (names)
        names[unique] = NULL;
    return names;
}

/* NULL stays NULL. */
static char *copy(const char *text)
{
    return text ? strdup(text) : NULL;
}

/* A tool without a path was not found, so it is not listed. tools has room for all names. */
static void add_tool(struct ck_gathering *gathering, const char *name, const struct choke_doctor_report *report)
{
    for (size_t i = 0; i < report->tool_count; i++) {
        const struct choke_tool_report *tool = &report->tools[i];
        if (strcmp(tool->name, name) != 0 || !tool->path)
            continue;
        gathering->tools[gathering->tool_count++] = (struct ck_tool_used){
            .name = name, .path = copy(tool->path), .version = copy(tool->version), .sha256 = copy(tool->sha256)};
        return;
    }
}

/* A tool that cannot be looked up is left out: its probes report the problem themselves. */
static void find_tools(struct coordinator *coordinator)
{
    struct ck_gathering *gathering = coordinator->gathering;
    const char **names = called_tools(gathering);
    /* Layers are not tried: gather does not show them. */
    const struct choke_doctor_options options = {
        .no_layers = true, .tools = names, .stop = is_asked_to_stop, .data = coordinator};
    struct choke_doctor_report *report = NULL;
    struct choke_error error;
    size_t count = 0;

    while (names && names[count])
        count++;
    gathering->tools = calloc(count + 1, sizeof(*gathering->tools));
    if (names && gathering->tools && choke_doctor(coordinator->options->context, &options, &report, &error) == 0)
        for (size_t i = 0; i < count; i++)
            add_tool(gathering, names[i], report);
    choke_doctor_report_free(report);
    free(names);
}

/* ---- the loop ---- */

/* Does a probe still need the output of this one? */
static bool is_wanted(const struct ck_gathering *gathering, size_t index)
{
    for (size_t i = 0; i < gathering->count; i++) {
        enum ck_probe_state state = gathering->reports[i].state;
        if ((state == CK_PROBE_STATE_WAITING || state == CK_PROBE_STATE_RUNNING) &&
            ck_schedule_needs(gathering->reports, gathering->count, i, index))
            return true;
    }
    return false;
}

/*
 * Ends the probes that wait for one that did not succeed. True if there was one: that may block
 * more.
 */
static bool end_blocked(struct coordinator *coordinator)
{
    struct ck_gathering *gathering = coordinator->gathering;
    bool ended_one = false;

    for (size_t i = 0; i < gathering->count; i++) {
        struct ck_probe_run *run = &coordinator->gather_state.runs[i];
        const struct ck_probe_report *blocker = ck_schedule_blocker(gathering->reports, gathering->count, i);
        bool cancelled = coordinator->gather_state.cancelled && run->report->state == CK_PROBE_STATE_WAITING;
        if (cancelled)
            ck_probe_run_end(run, CK_PROBE_STATE_CANCELLED, "%s", "cancelled before it began");
        else if (blocker)
            ck_probe_run_end(run, CK_PROBE_STATE_SKIPPED, "needs %s, which is %s", blocker->probe->name,
                             ck_gather_probe_state_name(blocker->state));
        ended_one = ended_one || cancelled || blocker;
    }
    return ended_one;
}

/*
 * Repeats until nothing changes, because a skipped probe may block others. Then frees output that
 * no probe reads any more.
 */
static void end_and_release(struct coordinator *coordinator)
{
    struct ck_gathering *gathering = coordinator->gathering;

    while (end_blocked(coordinator))
        ;
    for (size_t i = 0; i < gathering->count; i++)
        if (gathering->reports[i].state == CK_PROBE_STATE_OK && !is_wanted(gathering, i))
            ck_probe_run_drop(&coordinator->gather_state.runs[i]);
}

static void start_ready(struct coordinator *coordinator)
{
    const struct ck_gathering *gathering = coordinator->gathering;
    int next;

    end_and_release(coordinator);
    while ((next = ck_schedule_next(gathering->reports, gathering->count, coordinator->options->jobs)) >= 0) {
        ck_probe_run_begin(&coordinator->gather_state.runs[next]);
        end_and_release(coordinator);
    }
}

/* A request to stop, or a job or a thread that has ended, or the next frame of the table. */
static int wait_for_event(const struct coordinator *coordinator, struct choke_error *error)
{
    struct pollfd fds[] = {{.fd = choke_fd(coordinator->options->context), .events = POLLIN},
                           {.fd = coordinator->options->stop.fd, .events = POLLIN},
                           {.fd = coordinator->gather_state.inside_fd, .events = POLLIN}};

    if (poll(fds, 3, coordinator->table ? TICK_MS : -1) < 0 && errno != EINTR)
        return ck_text_error(error, CHOKE_NONE, errno, "cannot wait for the probes: %s", strerror(errno));
    return 0;
}

/* choke_next also returns jobs that were refused from the start. */
static int take_ended(struct coordinator *coordinator, size_t *taken, struct choke_error *error)
{
    struct choke_context *context = coordinator->options->context;
    struct choke_job *job;
    uint64_t count;
    int r = choke_dispatch(context, error);

    /* Emptied first: a thread that ends after this wakes the loop again. */
    (void)!read(coordinator->gather_state.inside_fd, &count, sizeof(count));
    for (size_t i = 0; i < coordinator->gather_state.count; i++)
        *taken += ck_probe_run_take_inside(&coordinator->gather_state.runs[i]);
    for (; r >= 0 && (job = choke_next(context)); (*taken)++)
        ck_probe_run_take(choke_job_data(job), job);
    return r < 0 ? r : 0;
}

/* A probe with a missing tool ends when it is started, and its slot is free again at once. */
static int run_ready(struct coordinator *coordinator, struct choke_error *error)
{
    size_t taken;
    int r;

    do {
        taken = 0;
        start_ready(coordinator);
        r = take_ended(coordinator, &taken, error);
    } while (r == 0 && taken > 0);
    ck_table_draw(coordinator->table, ck_gather_elapsed_us(&coordinator->gather_state));
    if (coordinator->options->on_round)
        coordinator->options->on_round(coordinator->options->round_data, coordinator->gathering);
    return r;
}

/* Requests to stop are handled before run_ready, so that a cancelled gather starts nothing new. */
static int loop(struct coordinator *coordinator, struct choke_error *error)
{
    const struct ck_gathering *gathering = coordinator->gathering;

    ck_table_draw(coordinator->table, ck_gather_elapsed_us(&coordinator->gather_state));
    find_tools(coordinator);
    handle_stop(coordinator);
    int r = run_ready(coordinator, error);
    while (r == 0 && !ck_schedule_over(gathering->reports, gathering->count)) {
        r = wait_for_event(coordinator, error);
        handle_stop(coordinator);
        if (r == 0)
            r = run_ready(coordinator, error);
    }
    return r;
}

/* ---- the whole ---- */

static uint64_t microseconds(struct timeval time)
{
    return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_usec;
}

/* RUSAGE_SELF: without the tools, which are children. */
static uint64_t own_cpu_us(const struct ck_coordinate_options *options)
{
    struct rusage usage;

    if (getrusage(options->is_one_of_many ? RUSAGE_THREAD : RUSAGE_SELF, &usage) < 0)
        return 0;
    return microseconds(usage.ru_utime) + microseconds(usage.ru_stime);
}

static void finish(struct coordinator *coordinator)
{
    struct ck_gathering *gathering = coordinator->gathering;

    for (size_t i = 0; i < coordinator->gather_state.count && coordinator->gather_state.runs[i].report; i++)
        ck_probe_run_done(&coordinator->gather_state.runs[i]);
    free(coordinator->gather_state.runs);
    ck_fd_close(&coordinator->gather_state.inside_fd);
    ck_files_done(&coordinator->git_files);
    ck_files_done(&coordinator->files);
    gathering->cancelled = coordinator->gather_state.cancelled;
    gathering->keep_error = coordinator->gather_state.keep_error;
    gathering->duration_us = ck_gather_elapsed_us(&coordinator->gather_state);
    gathering->own_cpu_us = own_cpu_us(coordinator->options) - coordinator->cpu_before_us;
}

/* After the last probe: a place that two of them saw is one finding. */
static int collect_findings(struct coordinator *coordinator, struct choke_error *error)
{
    const struct ck_findings_options options = {.root_fd = coordinator->options->root_fd,
                                                .baseline = coordinator->options->baseline,
                                                .stop = is_asked_to_stop,
                                                .data = coordinator};
    return ck_findings_collect(coordinator->gathering, &options, error);
}

int ck_coordinate(const struct ck_coordinate_options *options, struct ck_gathering *ret_gathering,
                  struct choke_error *error)
{
    struct coordinator coordinator = {
        .options = options,
        .gathering = ret_gathering,
        .cpu_before_us = options->is_one_of_many ? own_cpu_us(options) : 0,
        .gather_state = {.context = options->context,
                         .root = options->root,
                         .call_root = options->call_root,
                         .jail = options->jail,
                         .require_jail = options->require_jail,
                         .timeout_ms = options->timeout_ms,
                         .output_bytes = output_bytes(options),
                         .keep_fd = options->keep_fd,
                         .inside_fd = -1},
    };

    /* start_us is still 0, so this is the time now. */
    coordinator.gather_state.start_us = ck_gather_elapsed_us(&coordinator.gather_state);
    ret_gathering->started_at = time(NULL);
    int r = init_probes(&coordinator, error);
    if (r == 0)
        r = ck_table_new(ret_gathering, options->table_fd, &coordinator.table, error);
    if (r == 0)
        r = loop(&coordinator, error);
    ck_table_free(coordinator.table);
    if (r == 0)
        r = collect_findings(&coordinator, error);
    finish(&coordinator);
    return r;
}
