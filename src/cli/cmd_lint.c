/*
 * cmd_lint.c - "chokepoint lint": finds calls that start programs without chokepoint, and prints
 * them in the chosen format.
 */
#include "cli/lint.h"
#include "cli/review.h"
#include "front/text.h"

#include <string.h>

#define STATUS_FOUND 1 /* an error or a warning, or findings that did not fit into the report */

enum format { FORMAT_TEXT = 0, FORMAT_JSON, FORMAT_SARIF, FORMAT_GITHUB };

static const struct ck_choice formats[] = {
    {"text", FORMAT_TEXT}, {"json", FORMAT_JSON}, {"sarif", FORMAT_SARIF}, {"github", FORMAT_GITHUB}, {NULL, 0}};

struct lint_options {
    int format;           /* enum format */
    const char *config;   /* NULL: .chokepoint-lint.yaml at the top of the tree */
    const char *baseline; /* NULL: none */
    const char *root;     /* NULL: see struct choke_lint_options */
    unsigned jobs;        /* 0: one per processor */
    bool no_gitignore;    /* also read what .gitignore excludes */
    bool verbose;         /* for the text form only */
    bool help;
};

#define TARGET(field) .offset = offsetof(struct lint_options, field)

static const struct ck_option lint_options[] = {
    {"--format", "text|json|sarif|github", "how findings are printed (default: text)", CK_OPTION_CHOICE, TARGET(format),
     .choices = formats},
    {"--config", "FILE", "use this configuration, not the tree's", CK_OPTION_STRING, CK_OFFER_FILES, TARGET(config)},
    {"--baseline", "FILE", "only what this earlier JSON report lacks counts", CK_OPTION_STRING, CK_OFFER_FILES,
     TARGET(baseline)},
    {"--root", "DIR", "the top directory of the tree", CK_OPTION_STRING, CK_OFFER_DIRECTORIES, TARGET(root)},
    {"--jobs", "COUNT", "use COUNT threads (default: one per processor)", CK_OPTION_COUNT, TARGET(jobs)},
    {"--no-gitignore", NULL, "also read what .gitignore excludes", CK_OPTION_FLAG, TARGET(no_gitignore)},
    {"--verbose", NULL, "name each file that was skipped", CK_OPTION_FLAG, TARGET(verbose)},
    {"--help", NULL, "show this help", CK_OPTION_FLAG, TARGET(help)},
    {.name = NULL},
};

/* Notes do not change the status. Findings that were dropped for their number do. */
static int write_report(const struct lint_options *given, const struct choke_lint_report *report,
                        const struct ck_lint_marks *marks)
{
    bool found = marks->errors > 0 || marks->warnings > 0 || report->finding_dropped > 0;
    int status = found ? STATUS_FOUND : 0;

    switch ((enum format)given->format) {
    case FORMAT_JSON:
        return ck_lint_json(report, marks, status);
    case FORMAT_SARIF:
        return ck_lint_sarif(report, marks, status);
    case FORMAT_GITHUB:
        return ck_lint_github(report, marks, status);
    case FORMAT_TEXT:
        break;
    }
    return ck_lint_text(report, marks, given->verbose, status);
}

static int lint(const struct lint_options *given, char *const *paths)
{
    const struct choke_lint_options options = {.paths = (const char *const *)paths,
                                               .root = given->root,
                                               .config_path = given->config,
                                               .no_gitignore = given->no_gitignore,
                                               .jobs = given->jobs};
    /*
     * A failure is JSON with --format json only. With the other formats it is a line on standard
     * error.
     */
    const struct ck_review_options review = {.json = given->format == FORMAT_JSON};
    struct choke_lint_report *report = NULL;
    struct choke_error error = {0};

    if (choke_lint(&options, &report, &error) < 0)
        return ck_review_failure(&review, &error);
    struct ck_lint_marks marks = {0};
    int r = ck_lint_marks_make(report, given->baseline, &marks, &error);
    int status = r < 0 ? ck_review_failure(&review, &error) : write_report(given, report, &marks);
    ck_lint_marks_done(&marks);
    choke_lint_report_free(report);
    return status;
}

/* ck_options_done is not called: no option of this table owns memory. */
static int run_lint(char *const *args)
{
    struct lint_options given = {0};
    struct choke_error error = {0};

    int count = ck_options_parse(lint_options, args, &given, &error);
    if (count < 0)
        return ck_review_usage(&ck_command_lint, given.format == FORMAT_JSON, &error);
    /* No operand means the working directory; the library sees an empty list. */
    return given.help ? ck_cmd_help_show(&ck_command_lint) : lint(&given, args + count);
}

const struct ck_command ck_command_lint = {
    .name = "lint",
    .operands = "[PATH]...",
    .summary = "find calls in source files that start programs without chokepoint",
    .details =
        "A PATH is a file, or a directory with everything in it (default: the working directory).\n"
        "Python, JavaScript, TypeScript, C and Bash are read. At the top of the tree (of the Git\n"
        "repository) .chokepoint-lint.yaml says what is allowed; see chokepoint(1).\n"
        "Exit status: 0 no error and no warning; 1 at least one that --baseline lacks; 125 lint itself failed.\n",
    .operand = CK_OPERAND_FILE,
    .options = lint_options,
    .run = run_lint,
};
