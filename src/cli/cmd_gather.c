/*
 * cmd_gather.c - "chokepoint gather": runs every probe on a repository and writes one document.
 *
 * The options, the probes and the policy are read first: none of them comes from the repository.
 * While probes run, only the table goes to the terminal. The library's events are shown after it.
 */

#include "base/fd.h"
#include "cli/cli.h"
#include "cli/event.h"
#include "cli/output_file.h"
#include "cli/parse.h"
#include "cli/recording.h"
#include "front/jansson.h"
#include "front/session.h"
#include "front/text.h"
#include "gather/call_report.h"
#include "gather/coordinate.h"
#include "gather/findings/findings.h"
#include "gather/via_repo_symlink.h"
#include "gather/view/severity.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define STATUS_REQUIRED 1            /* --require: a probe that applies is not ok; --fail-on: a finding */
#define JOBS_LEAST 2                 /* on one processor too */
#define NOTES_MAX ((size_t)64 << 10) /* bytes of events that are shown; later ones are dropped */
#define LAST_WRITE_MS 1000           /* for a slow reader of the document, after a signal */

struct gather_options {
    struct ck_recording recording;
    const char *out;            /* NULL: the document is not written */
    const char *sarif;          /* NULL: not written */
    const char *baseline;       /* NULL: none */
    int fail_on;                /* enum ck_severity; FAIL_ON_NOTHING */
    struct ck_string_list only; /* as given; names may be separated by commas */
    unsigned jobs;              /* 0: see jobs_of */
    uint64_t timeout_ms;
    bool json; /* the document instead of the summary */
    bool require;
    const char *probes; /* NULL: the embedded ones */
    const char *policy; /* NULL: the default one */
    const char *keep;   /* NULL: output is not stored */
    bool verbose;
    bool help;
};

/* Everything that one gather owns. */
struct gather {
    struct gather_options given;
    struct ck_session session;
    struct ck_outlet later; /* events, shown after the table */
    struct ck_event_printer events;
    char root[PATH_MAX];
    int root_fd; /* the repository */
    int keep_fd; /* the directory of --keep; -1: none */
    struct ck_output_file out, sarif;
    struct ck_baseline baseline;
    char *only_text;   /* the names of --only, each ended by a NUL */
    const char **only; /* NULL-terminated, into only_text; NULL: all */
    struct ck_probes probes;
    struct choke_context *context;
    struct ck_gathering gathering;
};

#define FAIL_ON_NOTHING (-1)

static const struct ck_choice levels[] = {{"critical", CK_SEVERITY_CRITICAL}, {"high", CK_SEVERITY_HIGH},
                                          {"medium", CK_SEVERITY_MEDIUM},     {"low", CK_SEVERITY_LOW},
                                          {"info", CK_SEVERITY_INFO},         {NULL, 0}};

#define TARGET(field) .offset = offsetof(struct gather_options, field)

static const struct ck_option gather_options[] = {
    {"--out", "FILE", "write the document to FILE", CK_OPTION_STRING, CK_OFFER_FILES, TARGET(out)},
    {"--sarif", "FILE", "write the findings to FILE as SARIF", CK_OPTION_STRING, CK_OFFER_FILES, TARGET(sarif)},
    {"--baseline", "FILE", "an earlier document: what it has is known, and does not count", CK_OPTION_STRING,
     CK_OFFER_FILES, TARGET(baseline)},
    {"--fail-on", "critical|high|medium|low|info", "exit 1 if a finding that is not known is this severe or worse",
     CK_OPTION_CHOICE, TARGET(fail_on), .choices = levels},
    {"--json", NULL, "print the document instead of the summary", CK_OPTION_FLAG, TARGET(json)},
    {"--only", "PROBE[,PROBE]...", "run these probes and those they need (default: all)", CK_OPTION_STRINGS,
     TARGET(only)},
    {"--jobs", "N", "run N probes at once, 1 to 64 (default: processors, at least 2)", CK_OPTION_COUNT, TARGET(jobs)},
    {"--timeout", "SECONDS", "limit for each call (default: the probe's limit)", CK_OPTION_SECONDS, TARGET(timeout_ms)},
    {"--require", NULL, "exit 1 unless every probe that applies is ok", CK_OPTION_FLAG, TARGET(require)},
    {"--keep", "DIR", "store what each call printed in DIR", CK_OPTION_STRING, CK_OFFER_DIRECTORIES, TARGET(keep)},
    {"--probes", "FILE", "use these probes, not the embedded ones", CK_OPTION_STRING, CK_OFFER_FILES, TARGET(probes)},
    {"--policy", "FILE", "use this policy, not the default one", CK_OPTION_STRING, CK_OFFER_FILES, TARGET(policy)},
    CK_RECORDING_OPTIONS(gather_options, recording),
    {"--verbose", NULL, "show all events, not only warnings", CK_OPTION_FLAG, TARGET(verbose)},
    {"--help", NULL, "show this help", CK_OPTION_FLAG, TARGET(help)},
    {.name = NULL},
};

/* ---- preparation ---- */

/* What can be checked before anything is opened. An error here also shows where the help is. */
static int check_options(const struct gather_options *given, const struct ck_string_list *repositories,
                         struct choke_error *error)
{
    if (repositories->count > 1)
        return ck_text_error(error, CHOKE_INVALID, EINVAL, "unexpected argument '%s'; gather takes one REPO",
                             CK_TEXT_SAFE(repositories->items[1]));
    if (given->jobs > CK_COORDINATE_JOBS_MAX)
        return ck_text_error(error, CHOKE_INVALID, EINVAL, "--jobs must be at most %d", CK_COORDINATE_JOBS_MAX);
    if (given->timeout_ms == 0)
        return ck_text_error(error, CHOKE_INVALID, EINVAL, "--timeout must be more than 0 seconds");
    return ck_recording_check(&given->recording, error);
}

static int open_directory(const char *path, const char *what, int *ret_fd, struct choke_error *error)
{
    *ret_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return *ret_fd >= 0 ? 0 : ck_output_file_fail(what, path, errno, error);
}

/* Resolved once: symlinks on the path to the repository are the caller's own. */
static int open_root(struct gather *gather, const char *path, struct choke_error *error)
{
    if (!realpath(path, gather->root))
        return ck_output_file_fail("repository", path, errno, error);
    return open_directory(gather->root, "repository", &gather->root_fd, error);
}

/*
 * The directory is made if needed, but its parents are not. A symlink of the repository on the path
 * is refused: the repository would choose where the output goes.
 */
static int open_keep(struct gather *gather, struct choke_error *error)
{
    const char *path = gather->given.keep;

    if (!path)
        return 0;
    if (ck_via_repo_symlink(gather->root, path))
        return ck_output_file_fail_via_symlink("--keep", path, error);
    if (mkdir(path, 0700) < 0 && errno != EEXIST)
        return ck_output_file_fail("--keep", path, errno, error);
    int r = open_directory(path, "--keep", &gather->keep_fd, error);
    /* Checked now: the first write comes only after a probe has run. */
    if (r == 0 && faccessat(gather->keep_fd, ".", W_OK, AT_EACCESS) < 0)
        r = ck_output_file_fail("--keep", path, errno, error);
    return r;
}

static int open_outputs(struct gather *gather, struct choke_error *error)
{
    gather->out.path = gather->given.out;
    gather->sarif.path = gather->given.sarif;
    int r = ck_output_file_open(&gather->out, gather->root, error);
    return r < 0 ? r : ck_output_file_open(&gather->sarif, gather->root, error);
}

static bool is_probe(const struct ck_probes *probes, const char *name)
{
    for (size_t i = 0; i < probes->count; i++)
        if (strcmp(probes->items[i].name, name) == 0)
            return true;
    return false;
}

/* Lists as many names as fit into the message. */
static int no_such_probe(const struct ck_probes *probes, const char *name, struct choke_error *error)
{
    char names[CHOKE_MESSAGE_MAX / 2];
    size_t used = 0;

    for (size_t i = 0; i < probes->count && used < sizeof(names) - CK_TEXT_SAFE_MAX; i++)
        used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", i > 0 ? ", " : "", probes->items[i].name);
    return ck_text_error(error, CHOKE_INVALID, EINVAL, "unknown probe '%s'; the probes are %s", CK_TEXT_SAFE(name),
                         names);
}

/* Splits at commas. Several --only options form one list. */
static int choose_probes(struct gather *gather, struct choke_error *error)
{
    const struct ck_string_list *given = &gather->given.only;
    size_t bytes = 1, count = 0;

    for (size_t i = 0; i < given->count; i++)
        bytes += strlen(given->items[i]) + 1;
    gather->only_text = calloc(bytes, 1);
    /* There are fewer names than bytes; one more entry is the NULL. */
    gather->only = calloc(bytes, sizeof(*gather->only));
    if (!gather->only_text || !gather->only)
        return ck_text_error(error, CHOKE_NONE, ENOMEM, "out of memory");
    char *at = gather->only_text;
    for (size_t i = 0; i < given->count; i++) {
        memcpy(at, given->items[i], strlen(given->items[i]) + 1);
        for (char *name = at, *comma; name; name = comma ? comma + 1 : NULL) {
            comma = strchr(name, ',');
            if (comma)
                *comma = '\0';
            if (!is_probe(&gather->probes, name))
                return no_such_probe(&gather->probes, name, error);
            gather->only[count++] = name;
        }
        at += strlen(given->items[i]) + 1;
    }
    return 0;
}

static unsigned jobs_of(const struct gather_options *given)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);

    if (given->jobs != 0)
        return given->jobs;
    /* Also if sysconf fails, with -1. */
    if (online < JOBS_LEAST)
        return JOBS_LEAST;
    return online > CK_COORDINATE_JOBS_MAX ? CK_COORDINATE_JOBS_MAX : (unsigned)online;
}

/* Refusals and timeouts are left out: the table, the summary and the document show them. */
static void print_event(void *data, const struct choke_event *event)
{
    const struct ck_event_printer *printer = data;
    bool is_shown = strcmp(event->name, "subproc.refused") == 0 || strcmp(event->name, "subproc.timeout") == 0;

    if (printer->verbose || !is_shown)
        ck_event_print(data, event);
}

/* Events printed between the lines of the table would damage it. */
static void choose_notes(struct gather *gather)
{
    enum ck_report_form form = gather->given.json ? CK_REPORT_JSON : CK_REPORT_TEXT;

    /*
     * Without a terminal there is no table, and events are printed at once. The same if
     * memfd_create fails.
     */
    gather->later = CK_OUTLET(isatty(STDERR_FILENO) ? memfd_create("notes", MFD_CLOEXEC) : -1);
    gather->events = (struct ck_event_printer){&gather->session.notes, form, gather->given.verbose};
}

/*
 * Everything is opened and checked before the context is made, so that a mistake on the command
 * line starts nothing.
 */
static int make_ready(struct gather *gather, const char *repository, struct choke_error *error)
{
    struct choke_options options = {
        .policy_path = gather->given.policy,
        .on_event = print_event,
        .event_data = &gather->events,
        /* With --only the probes that were asked for report their own tools. */
        .report_missing = gather->given.only.count == 0,
    };
    int r = open_root(gather, repository, error);

    if (r == 0)
        r = ck_probes_load(gather->given.probes, gather->root, &gather->probes, error);
    if (r == 0 && gather->given.only.count > 0)
        r = choose_probes(gather, error);
    if (r == 0)
        r = open_keep(gather, error);
    if (r == 0)
        r = open_outputs(gather, error);
    if (r == 0 && gather->given.baseline)
        r = ck_baseline_load(gather->given.baseline, &gather->baseline, error);
    ck_recording_set(&gather->given.recording, &options);
    /* Before the context is made, because its events are printed through this. */
    choose_notes(gather);
    if (r == 0)
        r = choke_context_new(&options, &gather->context, error);
    /* What is missing was printed at once: the table begins after this. */
    if (gather->later.fd >= 0)
        gather->events.notes = &gather->later;
    /* A locked policy of the machine refuses the probes too: they choose what is called. */
    if (r == 0)
        r = choke_locked(gather->context, gather->given.probes ? "another probes file" : NULL, error);
    if (r == 0 && gather->out.directory_fd >= 0)
        r = choke_locked_directory(gather->context, gather->out.directory_fd, error);
    if (r == 0 && gather->sarif.directory_fd >= 0)
        r = choke_locked_directory(gather->context, gather->sarif.directory_fd, error);
    if (r == 0 && gather->keep_fd >= 0)
        r = choke_locked_directory(gather->context, gather->keep_fd, error);
    return r;
}

/* ---- results ---- */

/* The events were written to a memfd while the table was on the terminal. */
static void show_notes(struct gather *gather)
{
    char *text = gather->later.fd >= 0 ? malloc(NOTES_MAX) : NULL;
    ssize_t length = text ? pread(gather->later.fd, text, NOTES_MAX, 0) : 0;

    if (length > 0)
        ck_outlet_write(&gather->session.notes, text, (size_t)length);
    free(text);
}

/*
 * A skipped probe does not apply, so --require ignores it; but a FIFO in the repository must not be
 * enough to make a probe not apply.
 */
static bool is_lacking(const struct ck_gathering *gathering)
{
    for (size_t i = 0; i < gathering->count; i++) {
        const struct ck_probe_report *report = &gathering->reports[i];
        if (report->blocked || (report->state != CK_PROBE_STATE_OK && report->state != CK_PROBE_STATE_SKIPPED))
            return true;
    }
    return false;
}

/* The findings that --fail-on counts: severe enough, and not in the baseline. */
static size_t count_failing(const struct gather *gather)
{
    const json_t *findings = gather->gathering.findings;
    size_t count = 0;

    for (size_t i = 0; i < json_array_size(findings); i++) {
        const json_t *finding = json_array_get(findings, i);
        count +=
            (int)ck_severity_of(finding) <= gather->given.fail_on && !json_is_true(json_object_get(finding, "known"));
    }
    return count;
}

/*
 * The first probe that may have found something that --fail-on counts, and that is in no list; NULL:
 * none. Without this, many findings in tests would let one in a source pass.
 */
static const struct ck_probe_report *find_full_list(const struct gather *gather)
{
    const struct ck_gathering *gathering = &gather->gathering;

    for (size_t i = 0; gather->given.fail_on != FAIL_ON_NOTHING && i < gathering->count; i++)
        if (ck_findings_may_lack(&gathering->reports[i], (enum ck_severity)gather->given.fail_on))
            return &gathering->reports[i];
    return NULL;
}

/* A signal wins over --require and --fail-on. */
static int status_of(const struct gather *gather)
{
    if (gather->session.signal != 0)
        return CK_EXIT_SIGNAL + gather->session.signal;
    if (count_failing(gather) > 0 || find_full_list(gather))
        return STATUS_REQUIRED;
    return gather->given.require && is_lacking(&gather->gathering) ? STATUS_REQUIRED : 0;
}

static int fail(struct gather *gather, const struct choke_error *error)
{
    ck_report_message(&gather->session, error);
    return CK_EXIT_REFUSED;
}

/* A job that fails in CI has its reason in its last line. */
static void say_why(struct gather *gather)
{
    size_t count = gather->session.signal == 0 ? count_failing(gather) : 0;
    const struct ck_probe_report *full = gather->session.signal == 0 ? find_full_list(gather) : NULL;

    if (full)
        ck_outlet_print(
            &gather->session.notes,
            "chokepoint gather: '%s' found more than is listed, and the rest may be %s or worse (--fail-on %s)\n",
            full->probe->name, ck_severity_name((enum ck_severity)gather->given.fail_on),
            ck_severity_name((enum ck_severity)gather->given.fail_on));
    if (count > 0)
        ck_outlet_print(&gather->session.notes, "chokepoint gather: %zu finding%s %s or worse%s (--fail-on %s)\n",
                        count, count == 1 ? " is" : "s are", ck_severity_name((enum ck_severity)gather->given.fail_on),
                        gather->given.baseline ? " and not in the baseline" : "",
                        ck_severity_name((enum ck_severity)gather->given.fail_on));
}

/*
 * The notes come before the summary, so that the summary is last on the screen; but after the JSON,
 * which is on another stream.
 */
static int show(struct gather *gather, const json_t *document)
{
    if (gather->given.json) {
        ck_jansson_write(&gather->session.out, document);
        show_notes(gather);
        return ck_report_written(&gather->session, status_of(gather));
    }
    show_notes(gather);
    (void)ck_summary_write(&gather->gathering, stdout, ck_text_colour(STDOUT_FILENO));
    int written = ck_cli_flush_stdout();
    return written != 0 ? written : status_of(gather);
}

/*
 * Signals stay blocked until the file is written: at this point there is nothing left to cancel,
 * and a signal must not leave half a file. If the file cannot be written, the result is still
 * shown.
 */
static int report(struct gather *gather)
{
    struct choke_error error = {0};
    json_t *document = ck_document_make(&gather->gathering);
    json_t *sarif = gather->given.sarif ? ck_gather_sarif_make(&gather->gathering) : NULL;

    if (!document || (gather->given.sarif && !sarif)) {
        json_decref(document);
        json_decref(sarif);
        ck_session_end(&gather->session);
        (void)ck_text_error(&error, CHOKE_NONE, ENOMEM, "out of memory");
        return fail(gather, &error);
    }
    int r = gather->given.out ? ck_output_file_write(&gather->out, document, &error) : 0;
    if (r == 0)
        gather->gathering.document = gather->given.out;
    if (r == 0 && sarif)
        r = ck_output_file_write(&gather->sarif, sarif, &error);
    json_decref(sarif);
    if (r == 0 && gather->gathering.keep_error < 0)
        r = ck_output_file_fail("--keep", gather->given.keep, -gather->gathering.keep_error, &error);
    ck_session_end(&gather->session);
    /*
     * ck_session_handle_signal has set the deadline to the past. The document gets a little more
     * time.
     */
    if (gather->session.signal != 0)
        ck_session_deadline(&gather->session, LAST_WRITE_MS);
    int status = show(gather, document);
    say_why(gather);
    json_decref(document);
    return r < 0 ? fail(gather, &error) : status;
}

/* ---- the whole ---- */

/* A signal stops the gather. A closed reader only cancels the jobs, and their probes fail. */
static bool take_signal(void *data, struct choke_context *context)
{
    struct ck_session *session = data;

    ck_session_handle_signal(session, context);
    return session->signal != 0;
}

static int gather_facts(struct gather *gather, const char *repository)
{
    struct choke_error error = {0};

    if (make_ready(gather, repository, &error) < 0 || ck_session_begin(&gather->session, &error) < 0)
        return fail(gather, &error);
    const struct ck_coordinate_options how = {
        .context = gather->context,
        .stop = {gather->session.signal_fd, take_signal, &gather->session},
        .probes = &gather->probes,
        .only = gather->only,
        .root = gather->root,
        .root_fd = gather->root_fd,
        .jobs = jobs_of(&gather->given),
        .timeout_ms = gather->given.timeout_ms,
        .keep_fd = gather->keep_fd,
        .baseline = gather->given.baseline ? &gather->baseline : NULL,
        .table_fd = STDERR_FILENO,
    };
    int r = ck_coordinate(&how, &gather->gathering, &error);
    if (r == 0)
        return report(gather);
    ck_session_end(&gather->session);
    return fail(gather, &error);
}

/* Safe at any point: descriptors are -1 and pointers are NULL until they are set. */
static void done(struct gather *gather)
{
    ck_gather_done(&gather->gathering);
    choke_context_free(gather->context);
    ck_probes_done(&gather->probes);
    free(gather->only);
    free(gather->only_text);
    ck_fd_close(&gather->root_fd);
    ck_fd_close(&gather->keep_fd);
    ck_output_file_done(&gather->out);
    ck_output_file_done(&gather->sarif);
    ck_baseline_done(&gather->baseline);
    ck_fd_close(&gather->later.fd);
    ck_options_done(gather_options, &gather->given);
}

static int run_gather(char *const *args)
{
    struct gather gather = {
        .given = {.recording = CK_RECORDING_PRESET,
                  .timeout_ms = CHOKE_TIMEOUT_FROM_POLICY,
                  .fail_on = FAIL_ON_NOTHING},
        .root_fd = -1,
        .keep_fd = -1,
        .out = CK_OUTPUT_FILE("--out"),
        .sarif = CK_OUTPUT_FILE("--sarif"),
        .later = {.fd = -1},
    };
    const struct ck_parse parse = {&ck_command_gather, &gather.given, &gather.given.help, .most = CK_PARSE_ANY};
    struct ck_string_list repositories;
    struct choke_error error;

    ck_session_init(&gather.session);
    int status = ck_parse_words(&parse, args, &repositories);
    if (status < 0 && check_options(&gather.given, &repositories, &error) < 0)
        status = ck_cli_usage_error(&ck_command_gather, &error);
    if (status < 0)
        status = gather_facts(&gather, repositories.count > 0 ? repositories.items[0] : ".");
    done(&gather);
    ck_options_free_words(&repositories);
    return status;
}

const struct ck_command ck_command_gather = {
    .name = "gather",
    .operands = "[REPO]",
    .summary = "collect facts about a repository with every installed tool",
    .details =
        "REPO is a directory (default: the working directory). Each probe runs a tool of the policy, in a jail if\n"
        "one is available; see chokepoint(1) and docs/probes.\n"
        "Exit status: 0 done, whatever the probes found; 1 with --require, a probe that applies is not ok, or with\n"
        "--fail-on, a finding is that severe; 125 REPO cannot be read or the document cannot be written; 128+N ended\n"
        "by signal N.\n",
    .operand = CK_OPERAND_FILE,
    .options = gather_options,
    .run = run_gather,
};
