/*
 * probe_run.c - runs the calls of one probe; see probe_run.h.
 *
 * The jobs of a probe are kept until its answers are read, because the answers are the captured
 * bytes. They are kept longer if another probe needs one of them as its input.
 */
#include "gather/probe_run.h"

#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/quote.h"
#include "front/text.h"
#include "gather/call_report.h"
#include "gather/prepare.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define REASON_MAX (CHOKE_MESSAGE_MAX + 3 * CK_QUOTE_MAX) /* a message, a line of the tool, and a denial */
#define HELD_BYTES_MAX ((size_t)128 << 20)                /* for all answers of a probe */

uint64_t ck_gather_elapsed_us(const struct ck_gather_state *gather_state)
{
    return ck_clock_now_us() - gather_state->start_us;
}

/* ---- the end of a probe ---- */

/* Entries without a directory have an empty path and are ignored. */
static void remove_changes(struct ck_probe_run *run)
{
    for (size_t i = 0; i < CK_PROBE_CALLS_MAX; i++)
        ck_temporary_remove(&run->changes[i]);
}

/*
 * The evidence is read before this call, so the jobs of a failed probe can be freed. Those of an ok
 * probe stay: another probe may read them as stdin.
 */
void ck_probe_run_end(struct ck_probe_run *run, enum ck_probe_state state, const char *format, ...)
{
    struct ck_probe_report *report = run->report;
    char reason_text[REASON_MAX];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(reason_text, sizeof(reason_text), format, arguments);
    va_end(arguments);
    report->state = state;
    /* If strdup fails, the reason is missing from the document; the state is still right. */
    report->reason = reason_text[0] != '\0' ? strdup(reason_text) : NULL;
    /* A probe that was skipped has no times. */
    if (report->started_us != 0)
        report->ended_us = ck_gather_elapsed_us(run->gather_state);
    /* Removes what the preparation made. */
    if (run->is_prepared)
        ck_gather_find_preparation(report->probe->prepare)->end(run->prepared);
    run->is_prepared = false;
    remove_changes(run);
    if (state != CK_PROBE_STATE_OK)
        ck_probe_run_drop(run);
}

/* Frees the captured bytes too. NULL is fine for choke_job_free. */
void ck_probe_run_drop(struct ck_probe_run *run)
{
    for (size_t i = 0; i < CK_PROBE_CALLS_MAX; i++) {
        choke_job_free(run->jobs[i]);
        run->jobs[i] = NULL;
    }
}

/* Frees what is left, also of a probe that did not end because the whole gather failed. */
void ck_probe_run_done(struct ck_probe_run *run)
{
    if (run->is_prepared)
        ck_gather_find_preparation(run->report->probe->prepare)->end(run->prepared);
    run->is_prepared = false;
    ck_inside_abandon(run->inside);
    run->inside = NULL;
    remove_changes(run);
    ck_probe_run_drop(run);
}

/* The policy's entry says how to install the tool; the summary shows that. */
static void end_missing(struct ck_probe_run *run, const char *tool, const char *message)
{
    struct choke_tool_info info;

    for (size_t i = 0; choke_tool(run->gather_state->context, i, &info); i++)
        if (strcmp(info.name, tool) == 0 && info.install)
            run->report->install = strdup(info.install);
    ck_probe_run_end(run, CK_PROBE_STATE_TOOL_MISSING, "%s", message);
}

/* ---- answers ---- */

/*
 * A call that was left out has an empty answer with status 0, so that readers need no special case.
 */
static size_t collect_answers(const struct ck_probe_run *run, struct ck_answer answers[CK_PROBE_CALLS_MAX])
{
    for (size_t i = 0; i < run->answered; i++) {
        answers[i] = (struct ck_answer){.id = run->report->probe->calls[i].id,
                                        .out = "",
                                        .err = "",
                                        .changes_fd = -1,
                                        .left_out = run->left_out[i]};
        if (!run->jobs[i])
            continue; /* the call was left out */
        const struct choke_result *result = choke_job_result(run->jobs[i]);
        answers[i] = (struct ck_answer){
            .id = run->report->probe->calls[i].id,
            .exit_code = result->exit_code,
            .out = result->out.data,
            .out_length = result->out.length,
            .out_truncated = result->out.truncated,
            .err = result->err.data,
            .err_length = result->err.length,
            .changes_fd = run->changes[i].path[0] != '\0' ? run->changes[i].fd : -1,
            .left_out = run->left_out[i],
        };
    }
    return run->answered;
}

/* What the jail refused to execute first; "" if it is not known. Many tools print nothing about it. */
static void put_denial(char text[CK_QUOTE_MAX + 64], const struct choke_result *result)
{
    text[0] = '\0';
    for (size_t i = 0; i < result->denied_count && text[0] == '\0'; i++)
        if (strcmp(result->denied[i].kind, "exec") == 0)
            (void)snprintf(text, CK_QUOTE_MAX + 64, "; the jail refused to execute '%.200s'", result->denied[i].path);
}

/* Is the status, which a call ended with, one that the probe takes for an answer? 0 always is. */
static bool is_answer(const struct ck_probe_call *call, int status)
{
    for (unsigned i = 0; i < call->may_fail_count; i++)
        if (call->may_fail[i] == status)
            return true;
    return status == 0;
}

/*
 * The last line that the tool printed. Some print errors on stdout; that is used only if the call
 * failed and the line is no JSON, because a report quotes the repository.
 */
static bool put_line(char line[CK_QUOTE_MAX], const struct choke_result *result, bool failed)
{
    if (ck_quote_last_line(CK_QUOTE_SHOWN, line, CK_QUOTE_MAX, result->err.data, result->err.length))
        return true;
    return failed && ck_quote_last_line(CK_QUOTE_SHOWN, line, CK_QUOTE_MAX, result->out.data, result->out.length) &&
           line[0] != '{' && line[0] != '[' && line[0] != ']' && line[0] != '}';
}

/*
 * Ends a probe without evidence. The last line of the tool is part of the reason: usually it names
 * the cause, and the whole output is not in the document. result may be NULL.
 */
static void end_without_answer(struct ck_probe_run *run, enum ck_probe_state state, const char *message,
                               const struct choke_result *result)
{
    char line[CK_QUOTE_MAX], denial[CK_QUOTE_MAX + 64] = "";
    const struct ck_probe *probe = run->report->probe;
    /* After the last answer there is no call that failed. */
    bool failed =
        result && run->answered < probe->call_count && !is_answer(&probe->calls[run->answered], result->exit_code);
    bool printed = result && put_line(line, result, failed);

    if (result)
        put_denial(denial, result);
    ck_probe_run_end(run, state, "%s%s%s%s", message, printed ? ": " : "", printed ? line : "", denial);
}

/*
 * The call that most likely has the cause: the last one that failed and printed an error, else the
 * last one that printed one, else the last one. NULL: no call was made.
 */
static const struct choke_result *telling_result(const struct ck_probe_run *run)
{
    const struct choke_result *telling = NULL;
    int best = -1;

    for (size_t i = run->answered; i > 0; i--) {
        const struct choke_result *result = run->jobs[i - 1] ? choke_job_result(run->jobs[i - 1]) : NULL;
        int rank = !result ? -1 : (result->err.length > 0 ? 2 : 0) + (result->exit_code != 0 ? 1 : 0);
        if (rank > best) {
            best = rank;
            telling = result;
        }
    }
    return telling;
}

/* A call that could not be made. A missing tool is not a failure of the probe. */
static void end_failed(struct ck_probe_run *run, const struct choke_error *error)
{
    const struct ck_probe *probe = run->report->probe;

    if (error->outcome == CHOKE_TOOL_MISSING)
        end_missing(run, probe->tool, error->message);
    else
        end_without_answer(run, CK_PROBE_STATE_FAILED, error->message, telling_result(run));
}

/* All calls have an answer. A reader that cannot parse them makes the probe failed. */
static void read_answers(struct ck_probe_run *run)
{
    struct ck_answer answers[CK_PROBE_CALLS_MAX];
    struct choke_error error = {0};
    /* Not NULL: ck_probes_parse has checked the name. */
    const struct ck_evidence_kind *kind = ck_evidence_find(run->report->probe->output);
    size_t count = collect_answers(run, answers);

    if (kind->read(answers, count, &run->report->evidence, &error) < 0)
        end_without_answer(run, CK_PROBE_STATE_FAILED, error.message, telling_result(run));
    else
        ck_probe_run_end(run, CK_PROBE_STATE_OK, "%s", "");
}

/* ---- one call ---- */

/* NULL cannot happen for a name in needs, which ck_probes_parse has checked. */
static struct ck_probe_run *find(const struct ck_gather_state *gather_state, const char *name)
{
    for (size_t i = 0; i < gather_state->count; i++)
        if (strcmp(gather_state->runs[i].report->probe->name, name) == 0)
            return &gather_state->runs[i];
    return NULL;
}

/* The output of another probe; NULL if its beginning is lost. */
static const struct choke_capture *find_input(const struct ck_probe_run *run, const struct ck_probe_stdin *input)
{
    const struct ck_probe_run *other = find(run->gather_state, input->probe);

    /* jobs[i] is NULL if the call was left out, or if the jobs were already freed. */
    for (size_t i = 0; other && i < other->answered; i++)
        if (strcmp(other->report->probe->calls[i].id, input->call) == 0 && other->jobs[i]) {
            const struct choke_capture *out = &choke_job_result(other->jobs[i])->out;
            return out->truncated ? NULL : out;
        }
    return NULL;
}

/*
 * A descriptor of the preparation wins over what the probe says. Without any of the three, stdin is
 * empty.
 */
static int set_stdin(const struct ck_probe_run *run, const struct ck_call_setup *setup, struct choke_request *request,
                     struct choke_error *error)
{
    const struct ck_probe_stdin *input = &setup->call->input;

    if (setup->stdin_fd >= 0) {
        request->stdin_kind = CHOKE_STDIN_FD;
        request->stdin_fd = setup->stdin_fd;
    } else if (input->text) {
        request->stdin_kind = CHOKE_STDIN_BYTES;
        request->stdin_bytes = input->text;
        request->stdin_length = strlen(input->text);
    } else if (input->probe) {
        const struct choke_capture *out = find_input(run, input);
        if (!out)
            return ck_text_error(error, CHOKE_NONE, EFBIG, "the output of '%s' is too large to pass on", input->probe);
        request->stdin_kind = CHOKE_STDIN_BYTES;
        request->stdin_bytes = out->data;
        request->stdin_length = out->length;
    }
    return 0;
}

/* --timeout wins; then the call, the probe, and the policy. */
static uint64_t timeout_of(const struct ck_probe_run *run, const struct ck_probe_call *call)
{
    unsigned seconds = call->timeout_s != 0 ? call->timeout_s : run->report->probe->timeout_s;

    if (run->gather_state->timeout_ms != CHOKE_TIMEOUT_FROM_POLICY)
        return run->gather_state->timeout_ms;
    return seconds != 0 ? (uint64_t)seconds * 1000 : CHOKE_TIMEOUT_FROM_POLICY;
}

/*
 * On success the job belongs to the run. Bytes for stdin belong to the other run's job, which is
 * kept while a probe still needs it (coordinate.c).
 */
static int start(struct ck_probe_run *run, size_t at, const struct ck_call_setup *setup, struct choke_error *error)
{
    const struct ck_gather_state *gather_state = run->gather_state;
    const struct ck_probe *probe = run->report->probe;
    /* The smaller of the probe's limit and this gather's share of memory. */
    size_t most = (size_t)probe->max_output_mib << 20;
    struct choke_request request = {
        .argv = setup->argv,
        .root = setup->root,
        .cwd = ".",
        .timeout_ms = timeout_of(run, setup->call),
        .probe = probe->name,
        .egress = probe->egress,
        .stdin_fd = -1,
        .max_output_bytes = most < gather_state->output_bytes ? most : gather_state->output_bytes,
        .jail = gather_state->jail,
        .require_jail = gather_state->require_jail,
    };
    int r = set_stdin(run, setup, &request, error);
    if (r == 0 && setup->call->keeps) {
        r = ck_temporary_make(CK_TEMPORARY_CHANGES, &run->changes[at]);
        if (r < 0)
            return ck_text_error(error, CHOKE_NONE, -r, "cannot make a directory for its changes: %s", strerror(-r));
        request.keep_path = run->changes[at].path;
    }
    if (r == 0)
        r = choke_start(gather_state->context, &request, &run->jobs[at], error);
    if (r == 0)
        /* ck_probe_run_take gets the run back from here. */
        choke_job_set_data(run->jobs[at], run);
    return r;
}

static int prepare(struct ck_probe_run *run, struct ck_call_setup *setup, struct choke_error *error)
{
    struct ck_answer answers[CK_PROBE_CALLS_MAX];
    const char *name = run->report->probe->prepare;
    const struct ck_preparation *preparation = name ? ck_gather_find_preparation(name) : NULL;

    if (!preparation)
        return 0;
    /* Begun with the first call, so that a probe that is skipped makes no files. */
    if (!run->is_prepared) {
        int r = preparation->begin(run->gather_state->context, &run->prepared, error);
        if (r < 0)
            return r;
        run->is_prepared = true;
    }
    /* It may replace the arguments, the root and the stdin in setup. */
    return preparation->setup(run->prepared, answers, collect_answers(run, answers), setup, error);
}

static void proceed(struct ck_probe_run *run);

/*
 * With setup.skip the next call is started at once, through proceed; the recursion is at most one
 * level per call.
 */
static void start_next_call(struct ck_probe_run *run)
{
    size_t at = run->answered;
    struct ck_probe_report *report = run->report;
    const struct ck_probe_call *call = &report->probe->calls[at];
    const char *root = run->gather_state->call_root ? run->gather_state->call_root : run->gather_state->root;
    struct ck_call_setup setup = {.call = call, .root = root, .stdin_fd = -1};
    struct choke_error error = {0};
    char **argv = ck_call_report_argv(call, run->matches);

    setup.argv = (const char *const *)argv;
    int r = argv ? prepare(run, &setup, &error) : ck_text_error(&error, CHOKE_NONE, ENOMEM, "out of memory");
    if (r == 0 && !setup.skip)
        /* Added before the start, so that a call that fails to start is in the document. */
        r = ck_call_report_add(report, call, setup.document_argv ? setup.document_argv : setup.argv, &error);
    if (r == 0 && !setup.skip)
        r = start(run, at, &setup, &error);
    run->left_out[at] = setup.left_out;
    /* The library and the report have copies by now. */
    ck_call_report_free_argv(argv);
    if (r < 0)
        end_failed(run, &error);
    else if (setup.skip)
        proceed(run);
}

/* --timeout wins, as for calls. */
static void start_inside(struct ck_probe_run *run)
{
    const struct ck_gather_state *gather_state = run->gather_state;
    const struct ck_probe *probe = run->report->probe;
    const char *root = gather_state->call_root ? gather_state->call_root : gather_state->root;
    uint64_t timeout_ms = gather_state->timeout_ms != CHOKE_TIMEOUT_FROM_POLICY ? gather_state->timeout_ms
                                                                                : (uint64_t)probe->timeout_s * 1000;
    struct choke_error error = {0};

    if (ck_inside_start(ck_inside_find(probe->inside), root, timeout_ms, gather_state->inside_fd, &run->inside,
                        &error) < 0)
        ck_probe_run_end(run, CK_PROBE_STATE_FAILED, "%s", error.message);
}

bool ck_probe_run_take_inside(struct ck_probe_run *run)
{
    struct choke_error error = {0};

    if (!run->inside)
        return false;
    if (!ck_inside_has_ended(run->inside)) {
        if (!run->gather_state->cancelled)
            return false;
        ck_inside_abandon(run->inside);
        run->inside = NULL;
        ck_probe_run_end(run, CK_PROBE_STATE_CANCELLED, "%s", "cancelled while it ran");
        return true;
    }
    int r = ck_inside_take(run->inside, &run->report->evidence, &error);
    run->inside = NULL;
    if (r == 0)
        ck_probe_run_end(run, CK_PROBE_STATE_OK, "%s", "");
    else if (r == -ETIMEDOUT)
        ck_probe_run_end(run, CK_PROBE_STATE_TIMEOUT, "%s", "it did not end in time");
    else
        ck_probe_run_end(run, CK_PROBE_STATE_FAILED, "%s", error.message);
    return true;
}

void ck_probe_run_begin(struct ck_probe_run *run)
{
    run->report->state = CK_PROBE_STATE_RUNNING;
    /* 0 means that it did not run. */
    run->report->started_us = ck_gather_elapsed_us(run->gather_state) + 1;
    if (run->report->probe->inside)
        start_inside(run);
    else
        start_next_call(run);
}

/* For a call without an answer. */
static void end_by_outcome(struct ck_probe_run *run, const struct ck_probe_call *call,
                           const struct choke_result *result)
{
    const char *tool = call->tool ? call->tool : run->report->probe->tool;
    char message[REASON_MAX];

    switch (result->outcome) {
    case CHOKE_EXITED:
        (void)snprintf(message, sizeof(message), "%s: status %d", CK_TEXT_SAFE(call->argv[0]), result->exit_code);
        end_without_answer(run, CK_PROBE_STATE_FAILED, message, result);
        break;
    case CHOKE_SIGNALED:
        (void)snprintf(message, sizeof(message), "%s: ended by signal %d%s%s", CK_TEXT_SAFE(tool), result->signal,
                       result->limit_hit ? ", limit " : "", result->limit_hit ? result->limit_hit : "");
        end_without_answer(run, CK_PROBE_STATE_FAILED, message, result);
        break;
    case CHOKE_TIMEOUT:
        end_without_answer(run, CK_PROBE_STATE_TIMEOUT, result->error.message, result);
        break;
    case CHOKE_CANCELLED:
        /* A job may also be cancelled without a signal, when the reader of the output is gone. */
        ck_probe_run_end(run, run->gather_state->cancelled ? CK_PROBE_STATE_CANCELLED : CK_PROBE_STATE_FAILED, "%s",
                         result->error.message);
        break;
    case CHOKE_TOOL_MISSING:
        end_missing(run, tool, result->error.message);
        break;
    case CHOKE_SPAWN_FAILED:
        ck_probe_run_end(run, CK_PROBE_STATE_FAILED, "%s", result->error.message);
        break;
    /* All refusals. There is no default case, so that the compiler reports a new outcome. */
    case CHOKE_NONE:
    case CHOKE_DISALLOWED:
    case CHOKE_INVALID:
    case CHOKE_CWD:
    case CHOKE_ENV_FORBIDDEN:
    case CHOKE_JAIL_UNAVAILABLE:
    case CHOKE_POLICY:
        ck_probe_run_end(run, CK_PROBE_STATE_REFUSED, "%s", result->error.message);
        break;
    }
}

/*
 * Also for a call that failed. Nothing is kept if the tool was not found. Only the first error is
 * reported, at the end.
 */
static void keep_output(const struct ck_probe_run *run, const struct ck_probe_call *call,
                        const struct choke_result *result)
{
    char name[NAME_MAX + 1];

    /* -1: no --keep. */
    if (run->gather_state->keep_fd < 0 || !result->tool_path)
        return;
    (void)snprintf(name, sizeof(name), "%s.%s.out", run->report->probe->name, call->id);
    int r = ck_atomic_file_write(run->gather_state->keep_fd, name, 0666, result->out.data, result->out.length);
    /* r is 0 or a negative errno. */
    if (run->gather_state->keep_error == 0)
        run->gather_state->keep_error = r;
}

/* The captured bytes of a probe stay in memory until its reader has run. */
static size_t held_bytes(const struct ck_probe_run *run)
{
    size_t sum = 0;
    for (size_t i = 0; i < run->answered; i++)
        if (run->jobs[i])
            sum += choke_job_result(run->jobs[i])->out.length + choke_job_result(run->jobs[i])->err.length;
    return sum;
}

/*
 * The calls of a probe run one after the other, so the job belongs to the last call of the report.
 */
void ck_probe_run_take(struct ck_probe_run *run, struct choke_job *job)
{
    const struct choke_result *result = choke_job_result(job);
    const struct ck_probe_call *call = &run->report->probe->calls[run->answered];

    ck_call_report_set_result(&run->report->calls[run->report->call_count - 1], result);
    keep_output(run, call, result);
    if (result->outcome != CHOKE_EXITED || !is_answer(call, result->exit_code)) {
        end_by_outcome(run, call, result);
        return;
    }
    proceed(run);
}

static void end_flooded(struct ck_probe_run *run)
{
    char message[64];
    (void)snprintf(message, sizeof(message), "its calls printed more than %zu MiB together", HELD_BYTES_MAX >> 20);
    end_without_answer(run, CK_PROBE_STATE_FAILED, message, telling_result(run));
}

/* After a call with an answer. */
static void proceed(struct ck_probe_run *run)
{
    run->answered++;
    if (run->answered == run->report->probe->call_count)
        read_answers(run);
    else if (run->gather_state->cancelled)
        ck_probe_run_end(run, CK_PROBE_STATE_CANCELLED, "%s", "cancelled between two calls");
    else if (held_bytes(run) > HELD_BYTES_MAX)
        end_flooded(run);
    else
        start_next_call(run);
}
