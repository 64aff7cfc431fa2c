/*
 * cmd_audit_show.c - "chokepoint audit show": the log for people. It is verified while it is read.
 * Records after a damage are shown too, with a mark: whoever looks for the cause needs them most.
 */
#include "cli/audit.h"
#include "cli/audit_filter.h"
#include "cli/audit_table.h"
#include "cli/parse.h"

#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#define LOOK_EVERY_MS 200 /* --follow: how often the log is read again */

struct show_options {
    struct ck_audit_filter filter; /* outcomes, tools and probes directly; times by check() */
    const char *since;             /* as given; NULL: no limit */
    const char *until;             /* as given; NULL: no limit */
    bool follow;                   /* never ends by itself */
    bool json;                     /* records, not a table */
    bool rotated;                  /* the library finds the older files of each log */
    bool help;
};

#define TARGET(field) .offset = offsetof(struct show_options, field)

static const struct ck_option show_options[] = {
    {"--outcome", "WORD", "only calls with this outcome; may be repeated", CK_OPTION_STRINGS, TARGET(filter.outcomes)},
    {"--tool", "NAME", "only calls of this tool; may be repeated", CK_OPTION_STRINGS, TARGET(filter.tools)},
    {"--probe", "NAME", "only calls of this probe; may be repeated", CK_OPTION_STRINGS, TARGET(filter.probes)},
    {"--since", "TIME", "not before: 2026-11-15, 2026-11-15T16:38 (UTC), or an age: 90s, 15m, 2h, 7d", CK_OPTION_STRING,
     TARGET(since)},
    {"--until", "TIME", "not after", CK_OPTION_STRING, TARGET(until)},
    {"--follow", NULL, "wait for more, until interrupted", CK_OPTION_FLAG, TARGET(follow)},
    {"--json", NULL, "print the records unchanged, one JSON object per line", CK_OPTION_FLAG, TARGET(json)},
    {"--rotated", NULL, "also read the files that each FILE was rotated into", CK_OPTION_FLAG, TARGET(rotated)},
    {"--help", NULL, "show this help", CK_OPTION_FLAG, TARGET(help)},
    {.name = NULL},
};

/* What the callbacks of choke_audit_verify need. */
struct viewer {
    const struct show_options *given; /* not owned */
    struct ck_audit_table table;      /* not used with --json */
    bool out_of_memory;               /* the reading was stopped for this */
    bool damage_reported;             /* with --follow it is reported once, when it is found */
};

/* The time is the one that the library has checked, not the member of the record. */
static void print_line(const struct viewer *viewer, const struct choke_audit_record *record, const json_t *parsed)
{
    struct ck_audit_subject subject = ck_audit_subject(parsed);

    subject.time = record->time;
    if (!ck_audit_filter_matches(&viewer->given->filter, &subject))
        return;
    (void)fwrite(record->text, 1, record->length, stdout);
    (void)putchar('\n');
}

/* False stops the reading. */
static bool show_record(void *data, const struct choke_audit_record *record)
{
    struct viewer *viewer = data;
    json_t *parsed = json_loadb(record->text, record->length, 0, NULL);

    /* The library accepts only JSON, so a failure to load means out of memory. */
    if (!parsed)
        viewer->out_of_memory = true;
    else if (viewer->given->json)
        print_line(viewer, record, parsed);
    else
        viewer->out_of_memory = !ck_audit_table_add(&viewer->table, record, parsed);
    json_decref(parsed);
    return !viewer->out_of_memory && !ferror(stdout);
}

/* Notices a closed reader at once, not only at the next write. */
static bool wait_for_more(void *data, const struct choke_audit_report *report)
{
    struct viewer *viewer = data;
    struct pollfd out = {.fd = STDOUT_FILENO};

    if (fflush(stdout) != 0)
        return false;
    if (report->damage != CHOKE_DAMAGE_NONE && !viewer->damage_reported) {
        ck_audit_report_damage(report);
        viewer->damage_reported = true;
    }
    /* Without events poll reports only errors: POLLERR if a pipe has no reader any more. */
    (void)poll(&out, 1, LOOK_EVERY_MS);
    return (out.revents & (POLLERR | POLLNVAL)) == 0;
}

/*
 * The order of the checks matters: a failure to read or to allocate hides more than a damaged line.
 */
static int finish(struct viewer *viewer, const struct choke_audit_report *report, const struct choke_error *error)
{
    /* Before the flush: it prints the calls without an outcome. */
    if (!viewer->given->json)
        ck_audit_table_done(&viewer->table);
    int written = ck_cli_flush_stdout();
    if (viewer->out_of_memory) {
        (void)fputs("chokepoint: out of memory\n", stderr);
        return CK_AUDIT_UNREADABLE;
    }
    if (!report)
        return ck_audit_unreadable(error);
    if (report->damage == CHOKE_DAMAGE_NONE)
        return written;
    if (!viewer->damage_reported)
        ck_audit_report_damage(report);
    return CK_AUDIT_BROKEN;
}

/* Without FILE the rotated files are read too: the default log is one log for the user. */
static int show(const struct show_options *given, struct ck_string_list *files)
{
    char path[PATH_MAX];
    struct viewer viewer = {.given = given};
    struct choke_audit_report *report = NULL;
    struct choke_error error = {0};
    struct choke_audit_query query = {.rotated = given->rotated || files->count == 0,
                                      /* Records after a damage are shown too, with a mark. */
                                      .unproven = true,
                                      .on_record = show_record,
                                      .on_end = given->follow ? wait_for_more : NULL,
                                      .data = &viewer};

    ck_audit_table_init(&viewer.table, &given->filter);
    query.paths = ck_audit_paths(files, path, &error);
    /*
     * The return value is not needed: after a failure report is NULL, and finish prints the error.
     */
    if (query.paths)
        (void)choke_audit_verify(&query, &report, &error);
    int status = finish(&viewer, report, &error);
    choke_audit_report_free(report);
    return status;
}

/* Both limits are inclusive, so --until fills missing parts with the latest time. */
static int check(struct show_options *given, struct choke_error *error)
{
    if (given->since && ck_audit_parse_time(given->since, false, given->filter.since, error) < 0)
        return -error->errnum;
    if (given->until && ck_audit_parse_time(given->until, true, given->filter.until, error) < 0)
        return -error->errnum;
    return ck_audit_check_outcomes(&given->filter.outcomes, error);
}

static int run_show(char *const *args)
{
    struct show_options given = {0};
    const struct ck_parse parse = {&ck_command_audit_show, &given, &given.help, .most = CK_PARSE_ANY};
    struct ck_string_list files;
    struct choke_error error = {0};

    int status = ck_parse_words(&parse, args, &files);
    if (status < 0)
        status = check(&given, &error) < 0 ? ck_cli_usage_error(&ck_command_audit_show, &error) : show(&given, &files);
    ck_options_free_words(&files);
    ck_options_done(show_options, &given);
    return status;
}

const struct ck_command ck_command_audit_show = {
    .name = "audit show",
    .operands = "[FILE...]",
    .summary = "show the calls in an audit log as a table",
    .details = "One row per call, once its outcome is known; a call without an outcome is at the end, as unfinished.\n"
               "A '?' after a sequence number: an earlier line is damaged, so only the record's own hash is proven.\n"
               "Files and exit status are as for 'audit verify'. --json filters single records, so with --outcome\n"
               "it prints no intents.\n",
    .operand = CK_OPERAND_FILE,
    .options = show_options,
    .run = run_show,
};
