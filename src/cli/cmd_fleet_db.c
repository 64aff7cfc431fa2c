/*
 * cmd_fleet_db.c - "chokepoint fleet collect" and "chokepoint fleet query": one database of what
 * fleets have found.
 */
#include "cli/cli.h"
#include "cli/parse.h"
#include "fleet/db_collect.h"
#include "fleet/db_query.h"
#include "front/text.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#define GRACE_MS 2000 /* for SQLite to end a query by itself */
#define EXIT_PART 1   /* some documents were not read, or not all rows are shown */

/* ---- collect ---- */

struct fleet_collect_options {
    const char *into; /* NULL: in the directory */
    bool help;
};

#define COLLECT(field) .offset = offsetof(struct fleet_collect_options, field)

static const struct ck_option fleet_collect_options[] = {
    {"--into", "FILE", "the database (default: DIR/fleet.sqlite)", CK_OPTION_STRING, CK_OFFER_FILES, COLLECT(into)},
    {"--help", NULL, "show this help", CK_OPTION_FLAG, COLLECT(help)},
    {.name = NULL},
};

static void report_summary(const struct ck_fleet_db_summary *summary)
{
    if (summary->aside[0] != '\0')
        (void)fprintf(
            stderr,
            "chokepoint: warning: the database was damaged and is made anew; it is now '%s'. Looks of directories "
            "that were not given have to be collected again\n",
            CK_TEXT_SAFE(summary->aside));
    if (summary->migrated)
        (void)fprintf(stderr, "chokepoint: the database was of an earlier version and has been brought to this one\n");
    (void)printf("%zu documents added, %zu replaced, %zu unchanged; %zu repositories without a document\n",
                 summary->added, summary->replaced, summary->unchanged, summary->failures);
}

static int collect(const struct fleet_collect_options *given, const struct ck_string_list *directories)
{
    struct ck_fleet_db_summary summary = {0};
    struct choke_error error = {0};

    int r = ck_fleet_db_collect(directories->items, given->into, &summary, &error);
    if (r < 0) {
        (void)fprintf(stderr, "chokepoint: %s\n", error.message);
        return CK_EXIT_REFUSED;
    }
    report_summary(&summary);
    int status = ck_cli_flush_stdout();
    return status == 0 && summary.unread > 0 ? EXIT_PART : status;
}

static int run_fleet_collect(char *const *args)
{
    struct fleet_collect_options given = {0};
    const struct ck_parse parse = {&ck_command_fleet_collect, &given, &given.help, .least = 1, .most = CK_PARSE_ANY};
    struct ck_string_list directories;
    struct choke_error error = {0};

    int status = ck_parse_words(&parse, args, &directories);
    if (status < 0 && directories.count > 1 && !given.into) {
        (void)ck_text_error(&error, CHOKE_INVALID, 0, "several directories need --into FILE");
        status = ck_cli_usage_error(&ck_command_fleet_collect, &error);
    }
    if (status < 0)
        status = collect(&given, &directories);
    ck_options_free_words(&directories);
    return status;
}

const struct ck_command ck_command_fleet_collect = {
    .name = "fleet collect",
    .operands = "DIR...",
    .summary = "make one database of what fleets have found",
    .details = "DIR is a directory of 'chokepoint fleet run --out': one look at many repositories, with its date.\n"
               "Only documents that have changed are read. A collect that was interrupted goes on where it was.\n"
               "FILE and its directory belong to you, and nobody else can write them.\n"
               "Exit status: 0 done; 1 some documents could not be read (named on standard error); 125 it failed.\n",
    .operand = CK_OPERAND_FILE,
    .options = fleet_collect_options,
    .run = run_fleet_collect,
};

/* ---- query ---- */

struct fleet_query_options {
    const char *from; /* a database, or a directory with one */
    const char *sql;
    bool list, json, csv, help;
    unsigned rows; /* 0: by the format */
    uint64_t timeout_ms;
};

#define QUERY(field) .offset = offsetof(struct fleet_query_options, field)

static const struct ck_option fleet_query_options[] = {
    {"--from", "FILE|DIR", "the database, or its directory (default: .)", CK_OPTION_STRING, CK_OFFER_FILES,
     QUERY(from)},
    {"--list", NULL, "show the named queries", CK_OPTION_FLAG, QUERY(list)},
    {"--sql", "TEXT", "ask this instead of a named query; it can only read", CK_OPTION_STRING, QUERY(sql)},
    {"--json", NULL, "print JSON", CK_OPTION_FLAG, QUERY(json)},
    {"--csv", NULL, "print CSV", CK_OPTION_FLAG, QUERY(csv)},
    {"--rows", "N", "at most N rows (default: 1000; of JSON and CSV 1000000)", CK_OPTION_COUNT, QUERY(rows)},
    {"--timeout", "SECONDS", "end the query after this time (default: 60)", CK_OPTION_SECONDS, QUERY(timeout_ms)},
    {"--help", NULL, "show this help", CK_OPTION_FLAG, QUERY(help)},
    {.name = NULL},
};

static int fail(const struct choke_error *error)
{
    (void)fprintf(stderr, "chokepoint: %s\n", error->message);
    return CK_EXIT_REFUSED;
}

static int list_as_json(const struct ck_fleet_db_named *named, size_t count)
{
    json_t *all = json_array();

    for (size_t i = 0; i < count; i++)
        (void)json_array_append_new(all,
                                    json_pack("{s:s, s:s, s:s, s:s}", "name", named[i].name, "argument",
                                              named[i].argument, "summary", named[i].summary, "sql", named[i].sql));
    (void)json_dumpf(all, stdout, JSON_INDENT(1));
    (void)printf("\n");
    json_decref(all);
    return ck_cli_flush_stdout();
}

static int list_queries(const struct ck_fleet_db_named *named, size_t count, bool json)
{
    if (json)
        return list_as_json(named, count);
    for (size_t i = 0; i < count; i++) {
        bool takes = named[i].argument[0] != '\0';
        int width = (int)(strlen(named[i].name) + strlen(named[i].argument) + takes);
        (void)printf("%s%s%s%*s  %s\n", named[i].name, takes ? " " : "", named[i].argument, width < 13 ? 13 - width : 0,
                     "", named[i].summary);
    }
    return ck_cli_flush_stdout();
}

/* A directory: the database in it. */
static void find_database(const char *given, char path[PATH_MAX])
{
    struct stat status;
    const char *from = given ? given : ".";

    if (stat(from, &status) == 0 && S_ISDIR(status.st_mode))
        (void)snprintf(path, PATH_MAX, "%s/%s", from, CK_FLEET_DB_NAME);
    else
        (void)snprintf(path, PATH_MAX, "%s", from);
}

static void end_now(int number)
{
    static const char text[] =
        "chokepoint: the query was ended after its time, in one long step; --timeout gives it more\n";

    (void)number;
    (void)!write(STDERR_FILENO, text, sizeof(text) - 1);
    _exit(CK_EXIT_REFUSED);
}

/*
 * SQLite is asked between two steps whether it is late, and one step over long strings can take hours. Time of the processor: whoever
 * reads the output may be slow.
 */
static void set_last_end(uint64_t timeout_ms)
{
    const uint64_t ms = timeout_ms + GRACE_MS;
    const struct itimerval timer = {
        .it_value = {.tv_sec = (time_t)(ms / 1000), .tv_usec = (suseconds_t)(ms % 1000 * 1000)}};
    const struct sigaction action = {.sa_handler = end_now};

    (void)sigaction(SIGPROF, &action, NULL);
    (void)setitimer(ITIMER_PROF, &timer, NULL);
}

static int ask(const struct fleet_query_options *given, const char *sql, const char *argument)
{
    char path[PATH_MAX];
    struct ck_fleet_db db = {0};
    struct ck_fleet_db_answer answer = {0};
    struct choke_error error = {0};
    const struct ck_fleet_db_query query = {
        .sql = sql,
        .argument = argument,
        .format = given->json  ? CK_FLEET_DB_JSON
                  : given->csv ? CK_FLEET_DB_CSV
                               : CK_FLEET_DB_TABLE,
        .rows_max = given->rows > 0             ? given->rows
                    : given->json || given->csv ? CK_FLEET_DB_QUERY_ROWS
                                                : CK_FLEET_DB_QUERY_ROWS_TABLE,
        .timeout_ms = given->timeout_ms > 0 ? given->timeout_ms : CK_FLEET_DB_QUERY_TIMEOUT_MS,
    };

    find_database(given->from, path);
    int r = ck_fleet_db_open_to_read(&db, path, &error);
    set_last_end(query.timeout_ms);
    if (r == 0)
        r = ck_fleet_db_query_run(&db, &query, stdout, &answer, &error);
    ck_fleet_db_close(&db);
    int status = ck_cli_flush_stdout();
    if (r < 0)
        return fail(&error);
    if (status == 0 && answer.cut) {
        (void)fprintf(stderr, "chokepoint: warning: there are more rows than these %zu; see --rows, --csv and --json\n",
                      answer.rows);
        status = EXIT_PART;
    }
    return status;
}

/* words: the name of a query, and its argument if it has one. */
static int ask_named(const struct fleet_query_options *given, const struct ck_string_list *words,
                     const struct ck_fleet_db_named *named, size_t count)
{
    struct choke_error error = {0};
    size_t i = 0;

    while (i < count && strcmp(named[i].name, words->items[0]) != 0)
        i++;
    if (i == count) {
        (void)ck_text_error(&error, CHOKE_INVALID, EINVAL, "unknown query '%s'; --list shows them",
                            CK_TEXT_SAFE(words->items[0]));
        return ck_cli_usage_error(&ck_command_fleet_query, &error);
    }
    bool takes = named[i].argument[0] != '\0';
    if (words->count != (takes ? 2 : 1)) {
        (void)ck_text_error(&error, CHOKE_INVALID, EINVAL, takes ? "'%s' needs %s" : "'%s' takes no argument%s",
                            named[i].name, named[i].argument);
        return ck_cli_usage_error(&ck_command_fleet_query, &error);
    }
    return ask(given, named[i].sql, takes ? words->items[1] : NULL);
}

static int check_query(const struct fleet_query_options *given, const struct ck_string_list *words)
{
    struct choke_error error = {0};
    int asked = (words->count > 0) + (given->sql ? 1 : 0) + given->list;

    if (asked == 1 && !(given->json && given->csv))
        return -1;
    (void)ck_text_error(&error, CHOKE_INVALID, EINVAL,
                        asked != 1 ? "one of NAME, --sql and --list is needed" : "--json and --csv exclude each other");
    return ck_cli_usage_error(&ck_command_fleet_query, &error);
}

static int query(const struct fleet_query_options *given, const struct ck_string_list *words)
{
    struct ck_fleet_db_named *named;

    if (given->sql)
        return ask(given, given->sql, NULL);
    size_t count = ck_fleet_db_query_list(&named);
    int status = given->list ? list_queries(named, count, given->json) : ask_named(given, words, named, count);
    ck_fleet_db_query_list_done(named, count);
    return status;
}

static int run_fleet_query(char *const *args)
{
    struct fleet_query_options given = {0};
    const struct ck_parse parse = {&ck_command_fleet_query, &given, &given.help, .least = 0, .most = 2};
    struct ck_string_list words;

    int status = ck_parse_words(&parse, args, &words);
    if (status < 0)
        status = check_query(&given, &words);
    if (status < 0)
        status = query(&given, &words);
    ck_options_free_words(&words);
    return status;
}

const struct ck_command ck_command_fleet_query = {
    .name = "fleet query",
    .operands = "[NAME [ARGUMENT]]",
    .summary = "ask the database of a fleet",
    .details =
        "NAME is a named query (--list). TEXT is one SELECT of SQLite over the tables in docs/fleet.md.\n"
        "What repositories wrote is escaped. In CSV a text that a spreadsheet would take for a formula begins with an apostrophe.\n"
        "Exit status: 0 all rows were printed; 1 there are more rows; 125 it failed.\n",
    .options = fleet_query_options,
    .run = run_fleet_query,
};
