/*
 * cmd_audit_report.c - "chokepoint audit report": an audit log as an HTML page. The page is written
 * for a damaged log too, with the first bad line at its top.
 */
#include "cli/audit.h"
#include "cli/parse.h"
#include "front/text.h"
#include "report/report.h"

struct audit_report_options {
    const char *out;
    bool rotated;
    bool force;
    bool help;
};

#define TARGET(field) .offset = offsetof(struct audit_report_options, field)

static const struct ck_option report_options[] = {
    {"--out", "FILE", "write the page to FILE (required)", CK_OPTION_STRING, CK_OFFER_FILES, TARGET(out),
     .required = true},
    {"--rotated", NULL, "also read the files that each FILE was rotated into", CK_OPTION_FLAG, TARGET(rotated)},
    {"--force", NULL, "replace a file that is not a report", CK_OPTION_FLAG, TARGET(force)},
    {"--help", NULL, "show this help", CK_OPTION_FLAG, TARGET(help)},
    {.name = NULL},
};

static int write_report(const struct audit_report_options *given, struct ck_string_list *files)
{
    char path[PATH_MAX];
    struct ck_report_summary summary = {0};
    struct choke_error error = {0};
    /* Without FILE the rotated files are read too: the default log is one log for the user. */
    struct ck_report_options options = {
        .out = given->out, .force = given->force, .rotated = given->rotated || files->count == 0};

    options.paths = ck_audit_paths(files, path, &error);
    if (!options.paths || ck_report_audit(&options, &summary, &error) < 0)
        return ck_audit_unreadable(&error);
    (void)printf("%s: %llu record%s proven\n", CK_TEXT_SAFE(given->out), (unsigned long long)summary.proof->records,
                 summary.proof->records == 1 ? " is" : "s are");
    int status = ck_cli_flush_stdout();
    if (summary.proof->damage != CHOKE_DAMAGE_NONE) {
        ck_audit_report_damage(summary.proof);
        status = CK_AUDIT_BROKEN;
    }
    choke_audit_report_free(summary.proof);
    return status;
}

static int run_audit_report(char *const *args)
{
    struct audit_report_options given = {0};
    const struct ck_parse parse = {&ck_command_audit_report, &given, &given.help, .most = CK_PARSE_ANY};
    struct ck_string_list files;
    struct choke_error error = {0};

    int status = ck_parse_words(&parse, args, &files);
    if (status < 0 && !given.out) {
        (void)ck_text_error(&error, CHOKE_INVALID, 0, "--out FILE is missing");
        status = ck_cli_usage_error(&ck_command_audit_report, &error);
    }
    if (status < 0)
        status = write_report(&given, &files);
    ck_options_free_words(&files);
    return status;
}

const struct ck_command ck_command_audit_report = {
    .name = "audit report",
    .operands = "[FILE...]",
    .summary = "make a page of an audit log",
    .details = "The page has the proof, a timeline, and every call with what it was granted and what held.\n"
               "Files are as for 'audit verify'. The page replaces an earlier report, and no other file.\n"
               "Exit status: 0 proven; 1 the log is damaged, and the page says where; 2 nothing was written.\n",
    .operand = CK_OPERAND_FILE,
    .options = report_options,
    .run = run_audit_report,
};
