/*
 * cmd_report.c - "chokepoint report": one HTML page about what gather has found.
 */
#include "cli/cli.h"
#include "cli/parse.h"
#include "front/text.h"
#include "report/report.h"

struct report_options {
    const char *out;
    const char *csv; /* NULL: none */
    bool force;
    bool help;
};

#define TARGET(field) .offset = offsetof(struct report_options, field)

static const struct ck_option report_options[] = {
    {"--out", "FILE", "write the page to FILE (required)", CK_OPTION_STRING, CK_OFFER_FILES, TARGET(out),
     .required = true},
    {"--csv", "FILE", "also write all findings to FILE, as a table", CK_OPTION_STRING, CK_OFFER_FILES, TARGET(csv)},
    {"--force", NULL, "replace files that are not reports", CK_OPTION_FLAG, TARGET(force)},
    {"--help", NULL, "show this help", CK_OPTION_FLAG, TARGET(help)},
    {.name = NULL},
};

static int write_report(const struct report_options *given, const struct ck_string_list *documents)
{
    const struct ck_report_options options = {
        .paths = documents->items, .out = given->out, .csv = given->csv, .force = given->force};
    struct ck_report_summary summary = {0};
    struct choke_error error = {0};

    if (ck_report_gather(&options, &summary, &error) < 0) {
        (void)fprintf(stderr, "chokepoint: %s\n", error.message);
        return CK_EXIT_REFUSED;
    }
    (void)printf("%s: %zu finding%s in %zu %s\n", CK_TEXT_SAFE(given->out), summary.findings,
                 summary.findings == 1 ? "" : "s", summary.repositories,
                 summary.repositories == 1 ? "repository" : "repositories");
    if (summary.losses > 0)
        (void)fprintf(stderr,
                      "chokepoint: warning: %zu document%s or repositor%s could not be read; the page names %s\n",
                      summary.losses, summary.losses == 1 ? "" : "s", summary.losses == 1 ? "y" : "ies",
                      summary.losses == 1 ? "it" : "them");
    return ck_cli_flush_stdout();
}

static int run_report(char *const *args)
{
    struct report_options given = {0};
    const struct ck_parse parse = {&ck_command_report, &given, &given.help, .least = 1, .most = CK_PARSE_ANY};
    struct ck_string_list documents;
    struct choke_error error = {0};

    int status = ck_parse_words(&parse, args, &documents);
    if (status < 0 && !given.out) {
        (void)ck_text_error(&error, CHOKE_INVALID, 0, "--out FILE is missing");
        status = ck_cli_usage_error(&ck_command_report, &error);
    }
    if (status < 0)
        status = write_report(&given, &documents);
    ck_options_free_words(&documents);
    return status;
}

const struct ck_command ck_command_report = {
    .name = "report",
    .operands = "DOC|DIR...",
    .summary = "make a page of what gather has found",
    .details =
        "DOC is a document of 'chokepoint gather --out'; DIR is a directory of documents, such as that of a fleet.\n"
        "With several documents of one repository the page shows what is new and what is gone.\n"
        "FILE is one HTML file that needs nothing else. It replaces an earlier report, and no other file.\n"
        "Exit status: 0 done; 125 nothing was written.\n",
    .operand = CK_OPERAND_FILE,
    .options = report_options,
    .run = run_report,
};
