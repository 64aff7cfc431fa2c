/*
 * audit_page.c - see audit_page.h. First the proof: what a log says is worth as much as it.
 */
#include "report/audit_page.h"

#include "base/heap.h"
#include "report/grid.h"
#include "report/page.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#define STATIC_MAX 1000 /* rows that are readable without a script */
#define BUCKETS 60      /* columns of the timeline */
#define TOOLS_SHOWN 12

/* tools/gen/page.py makes it of page/audit.html, the style sheet and the scripts. */
extern const unsigned char ck_report_audit_page_text[];
extern const size_t ck_report_audit_page_length;

/* page/audit.js knows these names. */
enum audit_column {
    COLUMN_SEQ,
    COLUMN_CLASS,
    COLUMN_PROVEN,
    COLUMN_TIME,
    COLUMN_TOOL,
    COLUMN_OUTCOME,
    COLUMN_WHAT,
    COLUMN_JAIL,
    COLUMN_DURATION,
    COLUMN_GRANTED,
    COLUMN_HELD,
    COLUMN_MORE,
    COLUMN_COUNT
};

static const struct ck_grid_column columns[COLUMN_COUNT] = {
    [COLUMN_SEQ] = {"seq", false},        [COLUMN_CLASS] = {"class", false}, [COLUMN_PROVEN] = {"proven", false},
    [COLUMN_TIME] = {"time", true},       [COLUMN_TOOL] = {"tool", true},    [COLUMN_OUTCOME] = {"outcome", true},
    [COLUMN_WHAT] = {"what", true},       [COLUMN_JAIL] = {"jail", true},    [COLUMN_DURATION] = {"duration", false},
    [COLUMN_GRANTED] = {"granted", true}, [COLUMN_HELD] = {"held", true},    [COLUMN_MORE] = {"more", true},
};

static const char *text_of(const struct ck_audit_log *log, uint32_t number)
{
    return ck_strings_text(&log->strings, number);
}

static const char *last_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] != '\0' ? slash + 1 : path;
}

/* "2026-11-15 16:38:18 UTC" of the time of a record. */
static const char *short_time(char text[CK_AUDIT_LOG_TIME_SIZE], const char *time)
{
    if (time[0] != '\0')
        (void)snprintf(text, CK_AUDIT_LOG_TIME_SIZE, "%.10s %.8s UTC", time, time + 11);
    return text;
}

static void write_title(struct ck_page *page, const void *data)
{
    const struct ck_audit_log *log = data;
    ck_page_print(page, "%s · chokepoint audit report", last_of(text_of(log, log->file)));
}

static void write_heading(struct ck_page *page, const void *data)
{
    const struct ck_audit_log *log = data;

    const char *file = text_of(log, log->file);
    ck_page_print(
        page,
        "<h1 title=\"%s\">%s</h1>\n<dl class=\"facts\"><div><dt>Log</dt><dd class=\"path\" title=\"%s\">%s</dd></div>",
        last_of(file), last_of(file), file, file);
    if (log->count > 0)
        ck_page_print(page, "<div><dt>From</dt><dd>%s</dd></div><div><dt>To</dt><dd>%s</dd></div>",
                      short_time((char[CK_AUDIT_LOG_TIME_SIZE]){0}, log->first),
                      short_time((char[CK_AUDIT_LOG_TIME_SIZE]){0}, log->last));
    ck_page_print(page, "<div><dt>Files</dt><dd>%'zu</dd></div></dl>", log->proof->files);
}

static void write_proof(struct ck_page *page, const void *data)
{
    const struct ck_audit_log *log = data;
    const struct choke_audit_report *proof = log->proof;

    if (proof->damage != CHOKE_DAMAGE_NONE) {
        ck_page_print(page, "<div class=\"proof bad\"><h2>The log is damaged</h2>\n<p><b>%s",
                      text_of(log, log->damaged_file));
        if (proof->line > 0)
            ck_page_print(page, ":%zu", (size_t)proof->line);
        ck_page_print(page, ": %s</b> %s</p>\n", choke_damage_name(proof->damage), text_of(log, log->damage));
        if (log->count > 0)
            ck_page_print(
                page,
                "<p>%'zu record%s before it %s proven. What comes after it is marked in the list: of these records "
                "only the hash of each is right.</p>",
                (size_t)proof->records, proof->records == 1 ? "" : "s", proof->records == 1 ? "is" : "are");
    } else {
        ck_page_print(page, "<div class=\"proof good\"><h2>The chain is unbroken</h2>\n<p>%'zu record%s proven",
                      (size_t)proof->records, proof->records == 1 ? " is" : "s are");
        if (proof->first_seq > 0)
            ck_page_print(page, ", from record %'zu on; those before it were not given", (size_t)proof->first_seq);
        ck_page_print(page, ".");
        if (proof->repairs > 0)
            ck_page_print(page, " %'zu torn writes were repaired by a later writer.", (size_t)proof->repairs);
        ck_page_print(page, "</p>");
    }
    if (proof->head)
        ck_page_print(page, "\n<p>Proven to this head: <span class=\"code head\">%s</span></p>", proof->head);
    ck_page_print(
        page,
        "\n<p class=\"quiet\">A chain alone does not show that its end was cut off, nor that all of it was written "
        "again. A head that was kept elsewhere does: chokepoint audit verify --head.</p></div>\n");
}

static void print_figure(struct ck_page *page, const char *class, uint64_t count, const char *words)
{
    ck_page_print(page, "<li><b>%'zu</b><span><i class=\"dot back-%s\"></i>%s%s</span>", (size_t)count, class, words,
                  count == 1 ? "" : "s");
}

static void write_figures(struct ck_page *page, const void *data)
{
    const struct ck_audit_log *log = data;

    ck_page_print(page, "<ul class=\"figures\">");
    print_figure(page, "run", log->counts[CK_AUDIT_RUN], "run");
    ck_page_print(page, "<small>%'zu did not exit with 0, %'zu unfinished, %'zu without a jail</small></li>",
                  (size_t)log->failed_runs, (size_t)log->unfinished_runs, (size_t)log->unconfined_runs);
    print_figure(page, "refusal", log->counts[CK_AUDIT_REFUSAL], "refusal");
    ck_page_print(page, "<small>calls that did not start</small></li>");
    print_figure(page, "denial", log->counts[CK_AUDIT_DENIAL], "denial");
    ck_page_print(page, "<small>what a jail did not let a tool do");
    if (log->unlisted_denials > 0)
        ck_page_print(page, "; %'zu more were only counted", (size_t)log->unlisted_denials);
    ck_page_print(page, "</small></li>");
    print_figure(page, "egress", log->counts[CK_AUDIT_EGRESS], "egress decision");
    ck_page_print(page, "<small>%'zu refused</small></li></ul>\n", (size_t)log->egress_refused);
}

/* ---- charts ---- */

static time_t seconds_of(const char *time)
{
    struct tm parts = {0};
    return strptime(time, "%Y-%m-%dT%H:%M:%S", &parts) ? timegm(&parts) : 0;
}

/* As an input for a date and a time has it. */
static void print_time(char text[CK_AUDIT_LOG_TIME_SIZE], time_t time)
{
    struct tm parts;

    text[0] = '\0';
    if (gmtime_r(&time, &parts))
        (void)strftime(text, CK_AUDIT_LOG_TIME_SIZE, "%Y-%m-%dT%H:%M:%S", &parts);
}

/* The rows by time. */
struct timeline {
    uint64_t counts[BUCKETS][CK_BAR_KINDS];
    uint64_t most;
    time_t first, span; /* seconds */
    time_t columns;
};

/* The log has rows. */
static void count_times(const struct ck_audit_log *log, struct timeline *timeline)
{
    time_t last = seconds_of(text_of(log, log->rows[log->count - 1].time));

    *timeline = (struct timeline){.first = seconds_of(text_of(log, log->rows[0].time))};
    /* The clock of a writer may have been set back. */
    timeline->span = last >= timeline->first ? last - timeline->first + 1 : 1;
    /* A column is a second at least. */
    timeline->columns = timeline->span < BUCKETS ? timeline->span : BUCKETS;
    for (size_t i = 0; i < log->count; i++) {
        time_t at =
            (seconds_of(text_of(log, log->rows[i].time)) - timeline->first) * timeline->columns / timeline->span;
        at = at < 0 ? 0 : at >= timeline->columns ? timeline->columns - 1 : at;
        timeline->counts[at][log->rows[i].class]++;
    }
    for (time_t i = 0; i < timeline->columns; i++) {
        uint64_t total = 0;
        for (unsigned kind = 0; kind < CK_BAR_KINDS; kind++)
            total += timeline->counts[i][kind];
        timeline->most = total > timeline->most ? total : timeline->most;
    }
}

/* Of a column, as count_times puts them there: rounded up. */
static time_t first_second(const struct timeline *timeline, time_t column)
{
    return timeline->first + (column * timeline->span + timeline->columns - 1) / timeline->columns;
}

/* What the colours stand for, of those that are there. */
static void print_kinds(struct ck_page *page, const struct ck_audit_log *log)
{
    ck_page_print(page, "<ul class=\"legend\">");
    for (unsigned kind = 0; kind < CK_BAR_KINDS; kind++)
        if (log->counts[kind] > 0)
            ck_page_print(page, "<li><i class=\"dot back-%s\"></i>%s</li>", ck_audit_log_scale.names[kind],
                          ck_audit_log_scale.names[kind]);
    ck_page_print(page, "</ul>");
}

static void write_timeline(struct ck_page *page, const void *data)
{
    const struct ck_audit_log *log = data;
    struct timeline timeline;

    if (log->count == 0)
        return;
    count_times(log, &timeline);
    ck_page_print(
        page,
        "<section class=\"card wide\" id=\"timeline\"><h2>Timeline</h2>\n<figure class=\"columns\">"
        "<svg viewBox=\"0 0 1000 100\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"Records over time\">");
    for (time_t i = 0; i < timeline.columns; i++) {
        char from[CK_AUDIT_LOG_TIME_SIZE], to[CK_AUDIT_LOG_TIME_SIZE];
        print_time(from, first_second(&timeline, i));
        print_time(to, first_second(&timeline, i + 1) - 1);
        ck_page_print(page, "<g data-from=\"%s\" data-to=\"%s\"><title>from %s: ", from, to, from);
        ck_bar_words(page, &ck_audit_log_scale, timeline.counts[i]);
        ck_page_print(page, "</title>");
        ck_bar_hit(page, (size_t)i, (size_t)timeline.columns);
        ck_bar_column(page, &ck_audit_log_scale, timeline.counts[i], timeline.most, (size_t)i,
                      (size_t)timeline.columns);
        ck_page_print(page, "</g>");
    }
    ck_page_print(
        page,
        "</svg>\n<figcaption><span>%s</span><span>at most %'zu in a column</span><span>%s</span></figcaption></figure>\n",
        short_time((char[CK_AUDIT_LOG_TIME_SIZE]){0}, text_of(log, log->rows[0].time)), (size_t)timeline.most,
        short_time((char[CK_AUDIT_LOG_TIME_SIZE]){0}, log->last));
    print_kinds(page, log);
    ck_page_print(page, "</section>\n");
}

static void write_tools(struct ck_page *page, const void *data)
{
    const struct ck_audit_log *log = data;
    size_t order[CK_AUDIT_LOG_TOOLS_MAX];
    uint64_t most = 0;

    /* Insertion sort is stable, and there are few tools. */
    for (size_t i = 0; i < log->tool_count; i++) {
        size_t at = i;
        for (; at > 0 && log->tools[order[at - 1]].total < log->tools[i].total; at--)
            order[at] = order[at - 1];
        order[at] = i;
        most = log->tools[i].total > most ? log->tools[i].total : most;
    }
    if (log->tool_count == 0)
        return;
    ck_page_print(page, "<section class=\"card wide\"><h2>By tool</h2>\n<ul class=\"bars\">");
    for (size_t i = 0; i < log->tool_count && i < TOOLS_SHOWN; i++) {
        const struct ck_audit_log_tool *tool = &log->tools[order[i]];
        ck_page_print(page, "<li><a href=\"#calls\" data-tool=\"%s\" title=\"%s: ", text_of(log, tool->name),
                      text_of(log, tool->name));
        ck_bar_words(page, &ck_audit_log_scale, tool->counts);
        ck_page_print(page, "\"><span class=\"words\">%s</span>", text_of(log, tool->name));
        ck_bar_write(page, &ck_audit_log_scale, tool->counts, most, "");
        ck_page_print(page, "<span class=\"number\">%'zu</span></a></li>\n", (size_t)tool->total);
    }
    ck_page_print(page, "</ul>\n");
    if (log->tool_count > TOOLS_SHOWN)
        ck_page_print(page, "<p class=\"more\">and %'zu more</p>\n", log->tool_count - TOOLS_SHOWN);
    ck_page_print(page, "</section>\n");
}

/* ---- rows ---- */

static void write_note(struct ck_page *page, const void *data)
{
    const struct ck_audit_log *log = data;

    if (log->dropped > 0)
        ck_page_print(
            page,
            "<p class=\"warning\">The list and the timeline have the last %'zu rows; %'zu before them are left out. "
            "The figures count all of them.</p>\n",
            log->count, log->dropped);
}

/* The newest first. */
static void write_rows(struct ck_page *page, const void *data)
{
    const struct ck_audit_log *log = data;

    if (log->count == 0) {
        ck_page_print(page, "<p class=\"none\">There are no records that can be read.</p>\n");
        return;
    }
    ck_page_print(page,
                  "<table class=\"plain\"><thead><tr><th>Time (UTC)</th><th>What</th><th>Tool</th><th>Outcome</th>"
                  "<th>Call</th><th>Jail</th></tr></thead>\n<tbody>");
    for (size_t i = log->count; i > 0 && i + STATIC_MAX > log->count; i--) {
        const struct ck_audit_log_row *row = &log->rows[i - 1];
        ck_page_print(
            page, "<tr><td class=\"code\">%s</td><td><i class=\"dot back-%s\"></i>%s</td><td>%s</td><td>%s%s</td>",
            text_of(log, row->time), ck_audit_log_scale.names[row->class], ck_audit_log_scale.names[row->class],
            text_of(log, row->tool), text_of(log, row->outcome), row->proven ? "" : " (not proven)");
        ck_page_print(page, "<td class=\"code path\">%s</td><td>%s</td></tr>\n", text_of(log, row->what),
                      text_of(log, row->jail));
    }
    ck_page_print(page, "</tbody></table>\n");
    if (log->count > STATIC_MAX)
        ck_page_print(page, "<p class=\"more\">and %'zu older</p>\n", log->count - STATIC_MAX);
}

static void write_data(struct ck_page *page, const void *data)
{
    const struct ck_audit_log *log = data;
    struct ck_grid grid = {.columns = columns, .column_count = COLUMN_COUNT};
    int r = 0;

    for (size_t i = 0; r == 0 && i < log->count; i++) {
        const struct ck_audit_log_row *from = &log->rows[i];
        uint64_t *row = ck_grid_add(&grid);
        if (!row) {
            r = -ENOMEM;
            break;
        }
        row[COLUMN_SEQ] = from->seq;
        row[COLUMN_CLASS] = from->class;
        row[COLUMN_PROVEN] = from->proven ? 1 : 0;
        row[COLUMN_TIME] = from->time;
        row[COLUMN_TOOL] = from->tool;
        row[COLUMN_OUTCOME] = from->outcome;
        row[COLUMN_WHAT] = from->what;
        row[COLUMN_JAIL] = from->jail;
        row[COLUMN_DURATION] = from->duration_ms;
        row[COLUMN_GRANTED] = from->granted;
        row[COLUMN_HELD] = from->held;
        row[COLUMN_MORE] = from->more;
    }
    if (r == 0)
        r = ck_grid_write(&grid, &log->strings, page);
    if (r < 0 && page->error == 0)
        page->error = r;
    ck_grid_done(&grid);
}

static void write_version(struct ck_page *page, const void *data)
{
    (void)data;
    ck_page_print(page, "%s", choke_version());
}

static const struct ck_page_slot slots[] = {
    {"title", write_title},       {"heading", write_heading}, {"proof", write_proof}, {"figures", write_figures},
    {"timeline", write_timeline}, {"tools", write_tools},     {"note", write_note},   {"rows", write_rows},
    {"data", write_data},         {"version", write_version}, {.name = NULL},
};

int ck_audit_page_write(const struct ck_audit_log *log, int fd)
{
    CK_HEAP struct ck_page *page = ck_heap_own(calloc(1, sizeof(*page)));

    if (!page)
        return -ENOMEM;
    page->fd = fd;
    ck_page_fill(page, (const char *)ck_report_audit_page_text, ck_report_audit_page_length, slots, log);
    return ck_page_flush(page);
}
