/*
 * cmd_policy_explain.c - "chokepoint policy explain": how a request would be decided. It is run
 * --dry-run under the name that a reviewer looks for, with the same options and the same output.
 */
#include "cli/cli.h"
#include "cli/event.h"
#include "cli/explain.h"
#include "cli/report.h"
#include "cli/request.h"

struct explain_options {
    struct ck_request_options request; /* must be first: CK_REQUEST_OPTIONS */
    bool json;
    bool verbose;
    bool help;
};

#define TARGET(field) .offset = offsetof(struct explain_options, field)

static const struct ck_option explain_options[] = {
    CK_REQUEST_OPTIONS,
    {"--json", NULL, "print one JSON object", CK_OPTION_FLAG, TARGET(json)},
    {"--verbose", NULL, "show all events, not only warnings", CK_OPTION_FLAG, TARGET(verbose)},
    {"--help", NULL, "show this help", CK_OPTION_FLAG, TARGET(help)},
    {.name = NULL},
};

static int explain(const struct explain_options *given, struct ck_session *session, char *const *argv)
{
    enum ck_report_form form = given->json ? CK_REPORT_JSON : CK_REPORT_TEXT;
    /* It lives as long as the context, which keeps a pointer to it. */
    struct ck_event_printer events = {&session->notes, form, given->verbose};
    struct choke_options options = {
        .policy_path = given->request.policy, .on_event = ck_event_print, .event_data = &events};
    struct ck_request request;
    struct choke_context *context = NULL;
    struct choke_error error = {0};
    int status;

    /* The context comes last: a mistake in the request is found without reading the policy. */
    if (ck_request_build(&request, &given->request, argv, &error) < 0 ||
        choke_context_new(&options, &context, &error) < 0)
        status = ck_report_failure(session, form, &error);
    else
        status = ck_explain_request(session, form, context, &request.request);
    /* NULL is fine; ck_request_done is required even if the build failed. */
    choke_context_free(context);
    ck_request_done(&request);
    return status;
}

/* An error with --json is a report, not a usage line: the reader parses standard output. */
static int parse_and_explain(struct explain_options *given, struct ck_session *session, char *const *args)
{
    struct choke_error error = {0};

    int count = ck_options_parse(explain_options, args, given, &error);
    if (count >= 0 && given->help)
        return ck_cmd_help_show(&ck_command_policy_explain);
    if (count < 0 || ck_request_check(&given->request, args + count, &error) < 0)
        return given->json ? ck_report_failure(session, CK_REPORT_JSON, &error)
                           : ck_cli_usage_error(&ck_command_policy_explain, &error);
    return explain(given, session, args + count);
}

/* ck_session_begin is not called: there is no job that a signal could cancel. */
static int run_explain(char *const *args)
{
    struct explain_options given = {.request = CK_REQUEST_PRESET};
    struct ck_session session;

    ck_session_init(&session);
    int status = parse_and_explain(&given, &session, args);
    ck_options_done(explain_options, &given);
    return status;
}

const struct ck_command ck_command_policy_explain = {
    .name = "policy explain",
    .operands = "-- TOOL [ARG...]",
    .summary = "show how a call would be decided, and why; run nothing",
    .details = "Exit status: 0 if the call would be run, else that of the refusal: 125, 126 or 127.\n",
    .operand = CK_OPERAND_TOOL,
    .options = explain_options,
    .run = run_explain,
};
