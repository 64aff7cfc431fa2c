/*
 * cmd_run.c - "chokepoint run": builds a request from options, runs it, and reports the result.
 */
#include "cli/cli.h"
#include "cli/event.h"
#include "cli/explain.h"
#include "cli/recording.h"
#include "cli/report.h"
#include "cli/request.h"
#include "cli/stream.h"
#include "front/session.h"
#include "front/text.h"

#include <errno.h>
#include <string.h>

struct run_options {
    struct ck_request_options request; /* must be first: CK_REQUEST_OPTIONS */
    struct ck_recording recording;
    bool json;
    bool stream;  /* with json: as JSON lines; else as if not given, but stronger than --max-output */
    bool dry_run; /* explain only */
    bool verbose;
    bool why; /* name everything that the jail refuses */
    bool help;
};

/* Everything that one run owns. */
struct run_command {
    struct run_options given;
    struct ck_session session;
    struct ck_event_printer events; /* the context has a pointer to it */
    struct choke_context *context;
    struct ck_request request;
    struct ck_stream_writer lines; /* for CK_REPORT_JSON_STREAM */
};

/*
 * If output is passed on, the captured copy is not used. It can be small, but must be large enough that
 * output is still read in large pieces.
 */
#define STREAM_CAPTURE_BYTES ((size_t)1 << 20)

#define TARGET(field) .offset = offsetof(struct run_options, field)

static const struct ck_option run_options[] = {
    CK_REQUEST_OPTIONS,
    CK_RECORDING_OPTIONS(run_options, recording),
    {"--json", NULL, "print one JSON object; with --stream, one a line", CK_OPTION_FLAG, TARGET(json)},
    {"--stream", NULL, "pass output on as it arrives (default, but for --json)", CK_OPTION_FLAG, TARGET(stream)},
    {"--dry-run", NULL, "show the decision and run nothing", CK_OPTION_FLAG, TARGET(dry_run)},
    {"--why", NULL, "name everything that the native jail refuses; takes longer", CK_OPTION_FLAG, TARGET(why)},
    {"--verbose", NULL, "show all events, not only warnings", CK_OPTION_FLAG, TARGET(verbose)},
    {"--help", NULL, "show this help", CK_OPTION_FLAG, TARGET(help)},
    {.name = NULL},
};

/* Options that say how much output is kept ask for a capture. */
static bool wants_capture(const struct run_options *given)
{
    return given->request.max_output_bytes != CK_REQUEST_NOT_GIVEN ||
           given->request.keep_head_bytes != CK_REQUEST_NOT_GIVEN;
}

/* A dry run has no output to pass on. */
static enum ck_report_form form_of(const struct run_options *given)
{
    bool stream = given->stream && !given->dry_run;

    if (given->json)
        return stream ? CK_REPORT_JSON_STREAM : CK_REPORT_JSON;
    return stream || (!given->dry_run && !wants_capture(given)) ? CK_REPORT_STREAM : CK_REPORT_TEXT;
}

/* What can be checked without opening anything. */
static int check_options(const struct run_options *given, char *const *argv, struct choke_error *error)
{
    if (given->stream && given->request.keep_head_bytes != CK_REQUEST_NOT_GIVEN)
        return ck_text_error(error, CHOKE_INVALID, EINVAL,
                             "--keep-head and --stream exclude each other; without --stream output is kept");
    int r = ck_recording_check(&given->recording, error);
    return r < 0 ? r : ck_request_check(&given->request, argv, error);
}

/*
 * Called while the tool runs. A failed write is stored in the outlet, and the session then cancels
 * the run.
 */
static void pass_on(void *data, enum choke_stream stream, const void *bytes, size_t length)
{
    struct ck_session *session = data;
    ck_outlet_write(stream == CHOKE_STDOUT ? &session->out : &session->err, bytes, length);
}

/* If output is passed on, --max-output has no effect. */
static int build_request(struct run_command *run, char *const *argv, struct choke_error *error)
{
    int r = ck_request_build(&run->request, &run->given.request, argv, error);
    run->request.request.why = run->given.why;
    enum ck_report_form form = form_of(&run->given);

    if (r < 0 || !ck_report_is_stream(form))
        return r;
    ck_stream_init(&run->lines, &run->session.out);
    run->request.request.on_output = form == CK_REPORT_STREAM ? pass_on : ck_stream_write;
    run->request.request.output_data = form == CK_REPORT_STREAM ? (void *)&run->session : &run->lines;
    run->request.request.max_output_bytes = STREAM_CAPTURE_BYTES;
    return r;
}

/*
 * A reader that does not read must not keep the command longer than 1.5 times the timeout. The tool
 * is dead by then; a quarter of its time remains to write its last output.
 */
static void bound_stream(struct run_command *run, const struct choke_job *job)
{
    uint64_t timeout_ms = choke_job_timeout_ms(job);
    /* 0: refused, and only the report is left. */
    if (timeout_ms > 0)
        ck_session_deadline(&run->session, timeout_ms + timeout_ms / 4);
}

/* Only for a FIFO: every other file is passed to the tool itself. */
static int begin_feed(struct run_command *run, struct choke_error *error)
{
    if (!run->request.stdin_is_fifo)
        return 0;
    int r = ck_feed_begin(&run->session.feed, run->request.stdin_fd);
    if (r < 0)
        return ck_text_error(error, CHOKE_NONE, -r, "cannot pass --stdin to the tool: %s", strerror(-r));
    run->request.request.stdin_fd = run->session.feed.tool_fd;
    return 0;
}

/*
 * The session begins before choke_start: from then on a signal must not end the command without its
 * tool.
 */
static int run_to_end(struct run_command *run, struct choke_job **ret_job, struct choke_error *error)
{
    int r = begin_feed(run, error);
    if (r == 0)
        r = ck_session_begin(&run->session, error);
    if (r < 0)
        return r;
    r = choke_start(run->context, &run->request.request, ret_job, error);
    if (r >= 0 && ck_report_is_stream(form_of(&run->given)))
        bound_stream(run, *ret_job);
    /* A refused request is a job too, which has ended from the start. */
    if (r >= 0)
        r = ck_session_wait(&run->session, run->context, *ret_job, error);
    ck_session_end(&run->session);
    return r;
}

/*
 * Of a stream that was passed on as JSON lines, truncated says whether lines were lost, not whether
 * the copy in memory is complete.
 */
static int report(struct run_command *run, enum ck_report_form form, const struct choke_result *result)
{
    if (form != CK_REPORT_JSON_STREAM)
        return ck_report_result(&run->session, form, result, run->given.why);
    struct choke_result passed = *result;
    ck_stream_end(&run->lines);
    passed.out.truncated = run->lines.out.passed_bytes != result->out.total_bytes;
    passed.err.truncated = run->lines.err.passed_bytes != result->err.total_bytes;
    return ck_report_result(&run->session, form, &passed, run->given.why);
}

/* A dry run is not recorded, so it needs no default log. */
static void set_audit(const struct run_command *run, struct choke_options *options)
{
    ck_recording_set(&run->given.recording, options);
    if (run->given.dry_run && options->audit_log == CHOKE_AUDIT_DEFAULT)
        options->audit_log = CHOKE_AUDIT_NAMED;
}

/* A dry run shows what a run would do: nothing, if the options are refused here. */
static int explain(struct run_command *run, enum ck_report_form form)
{
    struct choke_error error = {0};

    if (choke_locked(run->context, NULL, &error) < 0)
        return ck_report_failure(&run->session, form, &error);
    return ck_explain_request(&run->session, form, run->context, &run->request.request);
}

static int run_tool(struct run_command *run, char *const *argv)
{
    struct choke_options options = {
        .policy_path = run->given.request.policy, .on_event = ck_event_print, .event_data = &run->events};
    enum ck_report_form form = form_of(&run->given);
    struct choke_error error = {0};
    struct choke_job *job = NULL;

    /* Set before the context is made: it may report events at once. */
    run->events = (struct ck_event_printer){&run->session.notes, form, run->given.verbose};
    set_audit(run, &options);
    if (build_request(run, argv, &error) < 0 || choke_context_new(&options, &run->context, &error) < 0)
        return ck_report_failure(&run->session, form, &error);
    if (run->given.dry_run)
        return explain(run, form);
    if (run_to_end(run, &job, &error) < 0)
        return ck_report_failure(&run->session, form, &error);
    return report(run, form, choke_job_result(job));
}

/* A program that asked for JSON gets its errors as JSON, also those about the command line. */
static int usage_failure(struct run_command *run, const struct choke_error *error)
{
    if (run->given.json)
        return ck_report_failure(&run->session, form_of(&run->given), error);
    return ck_cli_usage_error(&ck_command_run, error);
}

static int parse_and_run(struct run_command *run, char *const *args)
{
    struct choke_error error = {0};

    int count = ck_options_parse(run_options, args, &run->given, &error);
    if (count < 0)
        return usage_failure(run, &error);
    if (run->given.help)
        return ck_cmd_help_show(&ck_command_run);
    if (check_options(&run->given, args + count, &error) < 0)
        return usage_failure(run, &error);
    return run_tool(run, args + count);
}

static int run_run(char *const *args)
{
    struct run_command run = {
        .given = {.request = CK_REQUEST_PRESET, .recording = CK_RECORDING_PRESET},
        .request = {.stdin_fd = -1},
    };

    ck_session_init(&run.session);
    int status = parse_and_run(&run, args);
    choke_context_free(run.context); /* frees the job too */
    ck_feed_end(&run.session.feed);
    ck_request_done(&run.request);
    ck_options_done(run_options, &run.given);
    return status;
}

const struct ck_command ck_command_run = {
    .name = "run",
    .operands = "-- TOOL [ARG...]",
    .summary = "run one tool of the policy, or refuse",
    .details = "Exit status: the tool's own; 124 timeout; 125 refused, or chokepoint's own failure;\n"
               "126 found but not executable; 127 allowed but not installed; 128+N killed by signal N.\n",
    .operand = CK_OPERAND_TOOL,
    .options = run_options,
    .run = run_run,
};
