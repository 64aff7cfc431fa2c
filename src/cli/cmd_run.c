/*
 * cmd_run.c - "chokepoint run": options into a request, the request into a run, the run into a report.
 */
#include "cli/cli.h"
#include "cli/event.h"
#include "cli/explain.h"
#include "cli/report.h"
#include "cli/session.h"
#include "cli/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct run_options {
    const char *cwd;
    const char *root;
    uint64_t timeout_ms;
    const char *probe;
    struct ck_words egress;
    struct ck_words env;
    const char *stdin_name;
    size_t max_output_bytes;
    int jail;
    bool require_jail;
    const char *policy;
    bool json;
    bool stream;
    bool dry_run;
    bool verbose;
    bool help;
};

/* All that one run owns. */
struct run {
    struct run_options given;
    struct ck_session session;
    struct ck_event_printer events;
    struct choke_context *context;
    struct choke_request request;
    char *root;
    char *cwd;
    int stdin_fd;
};

static const struct ck_choice jails[] = {{"auto", CHOKE_JAIL_AUTO},
                                         {"native", CHOKE_JAIL_NATIVE},
                                         {"bwrap", CHOKE_JAIL_BWRAP},
                                         {"none", CHOKE_JAIL_NONE},
                                         {NULL, 0}};

/*
 * What is passed on is captured all the same and then not used; a small copy will do, but one that is still read in
 * large pieces.
 */
#define STREAM_CAPTURE_BYTES ((size_t)1 << 20)

#define TARGET(field) .offset = offsetof(struct run_options, field)

static const struct ck_option run_options[] = {
    {"--cwd", "DIR", "run the tool there (default: .)", CK_OPTION_WORD, CK_OFFER_DIRECTORIES, TARGET(cwd)},
    {"--root", "DIR", "what the call may not leave (default: --cwd)", CK_OPTION_WORD, CK_OFFER_DIRECTORIES,
     TARGET(root)},
    {"--timeout", "SECONDS", "default: the policy's limit for the tool", CK_OPTION_SECONDS, TARGET(timeout_ms)},
    {"--probe", "NAME", "a probe's call: no --env", CK_OPTION_WORD, TARGET(probe)},
    {"--egress", "HOST[:PORT]", "a host the tool may reach; needs a jail", CK_OPTION_WORDS, TARGET(egress)},
    {"--env", "NAME=VALUE", "a variable that the policy grants", CK_OPTION_WORDS, TARGET(env)},
    {"--stdin", "FILE|-", "input; - passes this command's own (default: none)", CK_OPTION_WORD, CK_OFFER_FILES,
     TARGET(stdin_name)},
    {"--max-output", "BYTES", "keep the last of each stream (default: 67108864)", CK_OPTION_BYTES,
     TARGET(max_output_bytes)},
    {"--jail", "auto|native|bwrap|none", "the cage (default: by the tool's route)", CK_OPTION_CHOICE, TARGET(jail),
     .choices = jails},
    {"--require-jail", NULL, "refuse rather than run without a jail", CK_OPTION_FLAG, TARGET(require_jail)},
    {"--policy", "FILE", "this policy, not the embedded one", CK_OPTION_WORD, CK_OFFER_FILES, TARGET(policy)},
    {"--json", NULL, "print one JSON object", CK_OPTION_FLAG, TARGET(json)},
    {"--stream", NULL, "pass output on as it arrives", CK_OPTION_FLAG, TARGET(stream)},
    {"--dry-run", NULL, "show the decision and run nothing", CK_OPTION_FLAG, TARGET(dry_run)},
    {"--verbose", NULL, "show all events, not only warnings", CK_OPTION_FLAG, TARGET(verbose)},
    {"--help", NULL, "show this help", CK_OPTION_FLAG, TARGET(help)},
    {.name = NULL},
};

static enum ck_report_form form_of(const struct run_options *given)
{
    if (given->json)
        return CK_REPORT_JSON;
    return given->stream && !given->dry_run ? CK_REPORT_STREAM : CK_REPORT_TEXT;
}

static int check_options(const struct run_options *given, char *const *argv, struct choke_error *error)
{
    if (given->json && given->stream)
        return ck_text_error(error, CHOKE_INVALID, EINVAL, "--json and --stream exclude each other");
    if (given->max_output_bytes < CHOKE_MIN_OUTPUT_BYTES) /* the library would read 0 as its default */
        return ck_text_error(error, CHOKE_INVALID, EINVAL, "--max-output is too small; give %zu bytes or more",
                             CHOKE_MIN_OUTPUT_BYTES);
    if (!argv[0])
        return ck_text_error(error, CHOKE_INVALID, EINVAL,
                             "no tool is named; write '-- TOOL ARG...' behind the options");
    return 0;
}

/* The library takes a relative cwd from the root; on the command line it is meant from here. Links stay as they are. */
static int absolute_path(const char *path, char **ret_path, struct choke_error *error)
{
    if (path[0] == '/') {
        *ret_path = strdup(path);
        return *ret_path ? 0 : ck_text_error(error, CHOKE_NONE, ENOMEM, "out of memory");
    }
    char *here = getcwd(NULL, 0);
    if (!here)
        return ck_text_error(error, CHOKE_CWD, errno, "cannot tell the current directory: %s", strerror(errno));
    if (strcmp(path, ".") == 0) {
        *ret_path = here;
        return 0;
    }
    int length = asprintf(ret_path, "%s/%s", here, path);
    free(here);
    if (length >= 0)
        return 0;
    *ret_path = NULL;
    return ck_text_error(error, CHOKE_NONE, ENOMEM, "out of memory");
}

/* Without --root the root is the directory itself, and "." then names it whatever links lead there. */
static int set_directories(struct run *run, struct choke_error *error)
{
    const char *cwd = run->given.cwd ? run->given.cwd : ".";

    int r = absolute_path(run->given.root ? run->given.root : cwd, &run->root, error);
    if (r < 0)
        return r;
    run->request.root = run->root;
    run->request.cwd = ".";
    if (!run->given.root)
        return 0;
    r = absolute_path(cwd, &run->cwd, error);
    run->request.cwd = run->cwd;
    return r;
}

static int set_stdin(struct run *run, struct choke_error *error)
{
    const char *name = run->given.stdin_name;
    struct stat status;

    if (!name)
        return 0;
    run->request.stdin_kind = CHOKE_STDIN_FD;
    if (strcmp(name, "-") == 0) {
        run->request.stdin_fd = STDIN_FILENO;
        return 0;
    }
    run->stdin_fd = open(name, O_RDONLY | O_CLOEXEC);
    if (run->stdin_fd < 0)
        return ck_text_error(error, CHOKE_INVALID, errno, "cannot open '%s' for --stdin: %s", CK_TEXT_SAFE(name),
                             strerror(errno));
    if (fstat(run->stdin_fd, &status) == 0 && S_ISDIR(status.st_mode))
        return ck_text_error(error, CHOKE_INVALID, EISDIR, "'%s' for --stdin is a directory; name a file",
                             CK_TEXT_SAFE(name));
    run->request.stdin_fd = run->stdin_fd;
    return 0;
}

static void pass_on(void *data, enum choke_stream stream, const void *bytes, size_t length)
{
    struct ck_session *session = data;
    ck_outlet_write(stream == CHOKE_STDOUT ? &session->out : &session->err, bytes, length);
}

static int build_request(struct run *run, char *const *argv, struct choke_error *error)
{
    const struct run_options *given = &run->given;

    run->request = (struct choke_request){
        .argv = (const char *const *)argv,
        .timeout_ms = given->timeout_ms,
        .probe = given->probe,
        .egress = given->egress.items,
        .env = given->env.items,
        .stdin_fd = -1,
        .max_output_bytes = given->max_output_bytes,
        .jail = (enum choke_jail)given->jail,
        .require_jail = given->require_jail,
    };
    if (form_of(given) == CK_REPORT_STREAM) {
        run->request.on_output = pass_on;
        run->request.output_data = &run->session;
        run->request.max_output_bytes = STREAM_CAPTURE_BYTES;
    }
    int r = set_directories(run, error);
    return r < 0 ? r : set_stdin(run, error);
}

/*
 * A reader that takes nothing must not keep the command beyond 1.5 times the timeout. The tool is dead by
 * then; a quarter of its time is left for what it wrote last.
 */
static int bound_stream(struct run *run, struct choke_error *error)
{
    uint64_t timeout_ms = run->given.timeout_ms;

    if (timeout_ms == CHOKE_TIMEOUT_FROM_POLICY) {
        struct choke_decision *decision = NULL;
        int r = choke_explain(run->context, &run->request, &decision, error);
        if (r < 0)
            return r;
        timeout_ms = decision->timeout_ms;
        choke_decision_free(decision);
    }
    ck_session_deadline(&run->session, timeout_ms + timeout_ms / 4);
    return 0;
}

static int run_to_end(struct run *run, struct choke_job **ret_job, struct choke_error *error)
{
    int r = ck_session_begin(&run->session, error);
    if (r < 0)
        return r;
    if (form_of(&run->given) == CK_REPORT_STREAM)
        r = bound_stream(run, error);
    if (r >= 0)
        r = choke_start(run->context, &run->request, ret_job, error);
    if (r >= 0)
        r = ck_session_wait(&run->session, run->context, *ret_job, error);
    ck_session_end(&run->session);
    return r;
}

static int run_tool(struct run *run, char *const *argv)
{
    struct choke_options options = {
        .policy_path = run->given.policy, .on_event = ck_event_print, .event_data = &run->events};
    enum ck_report_form form = form_of(&run->given);
    struct choke_error error = {0};
    struct choke_job *job = NULL;

    run->events = (struct ck_event_printer){&run->session.notes, form, run->given.verbose};
    if (build_request(run, argv, &error) < 0 || choke_context_new(&options, &run->context, &error) < 0)
        return ck_report_failure(&run->session, form, &error);
    if (run->given.dry_run)
        return ck_explain_request(&run->session, form, run->context, &run->request);
    if (run_to_end(run, &job, &error) < 0)
        return ck_report_failure(&run->session, form, &error);
    return ck_report_result(&run->session, form, choke_job_result(job));
}

static int usage_failure(struct run *run, const struct choke_error *error)
{
    if (run->given.json)
        return ck_report_failure(&run->session, CK_REPORT_JSON, error);
    return ck_usage_error(&ck_command_run, error);
}

static int parse_and_run(struct run *run, char *const *words)
{
    struct choke_error error = {0};

    int count = ck_options_parse(run_options, words, &run->given, &error);
    if (count < 0)
        return usage_failure(run, &error);
    if (run->given.help) {
        ck_help_command(stdout, &ck_command_run);
        return ck_finish_stdout();
    }
    if (check_options(&run->given, words + count, &error) < 0)
        return usage_failure(run, &error);
    return run_tool(run, words + count);
}

static int run_run(char *const *words)
{
    struct run run = {
        .given = {.timeout_ms = CHOKE_TIMEOUT_FROM_POLICY, .max_output_bytes = CHOKE_DEFAULT_OUTPUT_BYTES},
        .stdin_fd = -1,
    };

    ck_session_init(&run.session);
    int status = parse_and_run(&run, words);
    choke_context_free(run.context); /* frees the job too */
    if (run.stdin_fd >= 0)
        (void)close(run.stdin_fd);
    free(run.root);
    free(run.cwd);
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
