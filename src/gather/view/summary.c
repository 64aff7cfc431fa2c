/*
 * summary.c - the text for people at the end, in 80 columns: the repository, what to look at first,
 * the result of each probe, which tools are missing and how to install them, and where the document
 * is.
 */
#include "gather/gather.h"

#include "front/text.h"
#include "gather/findings/findings.h"
#include "gather/view/format.h"
#include "gather/view/severity.h"

#include <errno.h>
#include <string.h>

#define FIRST_MAX 10               /* kinds of findings */
#define NAMED_MAX 8                /* kinds after them that are named */
#define NAME_BYTES 60              /* of the name of such a kind */
#define TEXT_SIZE 1024             /* of one text; longer ones are cut */
#define LABEL 12                   /* columns of a label, with the space after it */
#define PATH_COLUMNS 190           /* more than two lines of a path are not shown */
#define ROOM (CK_VIEW_COLUMNS - 1) /* the last column stays empty, as in the table */

struct page {
    FILE *out;
    bool colour;
};

/* ---- text ---- */

static void put(const struct page *page, const char *paint, const char *text)
{
    bool painted = page->colour && paint[0] != '\0';

    (void)fprintf(page->out, "%s%s%s", painted ? paint : "", text, painted ? CK_VIEW_PLAIN : "");
}

/* Prints text from some column on; new lines start at indent. Words are kept whole if possible. */
static void put_from(const struct page *page, size_t column, size_t indent, const char *text)
{
    char safe[TEXT_SIZE];
    const char *at = ck_text_safe(safe, sizeof(safe), text);

    /* One line per round. A word that is longer than a line is broken where the line ends. */
    for (;;) {
        size_t length = ck_view_fitting(at, ROOM - column);
        size_t blank = length;
        /* Back to the last space that fits, unless the rest fits as a whole. */
        while (at[length] != '\0' && blank > 0 && at[blank] != ' ')
            blank--;
        length = blank > 0 ? blank : length;
        (void)fprintf(page->out, "%.*s\n", (int)length, at);
        at += length;
        at += strspn(at, " ");
        if (*at == '\0')
            return;
        (void)fprintf(page->out, "%*s", (int)indent, "");
        column = indent;
    }
}

/* The cursor is already at indent. */
static void put_paragraph(const struct page *page, size_t indent, const char *text)
{
    put_from(page, indent, indent, text);
}

/* An empty line before it. */
static void put_title(const struct page *page, const char *title)
{
    (void)fputc('\n', page->out);
    put(page, CK_VIEW_STRONG, title);
    (void)fputc('\n', page->out);
}

/* Every label is shorter than LABEL. */
static void put_labelled(const struct page *page, const char *label, const char *text)
{
    put(page, CK_VIEW_DIM, label);
    (void)fprintf(page->out, "%*s", (int)(LABEL - strlen(label)), "");
    put_paragraph(page, LABEL, text);
}

/* Prints a name in a column of that width. Returns where the text after it begins. */
static size_t put_name(const struct page *page, const char *name, size_t width)
{
    char cut[TEXT_SIZE];

    (void)ck_view_cut(cut, sizeof(cut), name, width);
    (void)fprintf(page->out, "  %s%*s  ", cut, (int)(width - ck_view_columns(cut)), "");
    /* Two spaces before the name and two after the column. */
    return width + 4;
}

/* ---- the head ---- */

/*
 * "11 probes in 3.2s: 7 ok, 3 tool_missing, 1 skipped". snprintf returns what it would have
 * written, so used may pass size; the loop ends then.
 */
static void describe_states(const struct ck_gathering *gathering, char *text, size_t size)
{
    char duration[CK_VIEW_DURATION_SIZE];
    const char *separator = ": ";
    size_t used = (size_t)snprintf(text, size, "%zu probe%s in %s", gathering->count, gathering->count == 1 ? "" : "s",
                                   ck_view_duration(duration, gathering->duration_us));

    for (enum ck_probe_state state = CK_PROBE_STATE_OK; state <= CK_PROBE_STATE_CANCELLED && used < size; state++) {
        size_t count = 0;
        for (size_t i = 0; i < gathering->count; i++)
            count += gathering->reports[i].state == state;
        if (count == 0)
            continue;
        used +=
            (size_t)snprintf(text + used, size - used, "%s%zu %s", separator, count, ck_gather_probe_state_name(state));
        separator = ", ";
    }
}

/* The commit, or why it is missing. If the snapshot failed, nothing is known. */
static const char *describe_commit(const struct ck_gathering *gathering)
{
    const char *commit = ck_gather_commit(gathering);
    bool known = false;

    for (size_t i = 0; i < gathering->count; i++)
        known = known || json_object_get(gathering->reports[i].evidence.document, "commit");
    return commit ? commit : known ? "none yet" : "not known";
}

static void put_head(const struct page *page, const struct ck_gathering *gathering)
{
    char text[TEXT_SIZE];

    put_labelled(page, "Repository", gathering->root);
    put_labelled(page, "Commit", describe_commit(gathering));
    (void)snprintf(text, sizeof(text), "%s%zu", gathering->files_incomplete ? "more than " : "", gathering->file_count);
    put_labelled(page, "Files", text);
    describe_states(gathering, text, sizeof(text));
    put_labelled(page, gathering->cancelled ? "Cancelled" : "Gathered", text);
}

/* ---- the probes ---- */

/* The longest name, but at most 32 columns; longer ones are cut. */
static size_t name_width(const struct ck_gathering *gathering)
{
    size_t width = 0;

    for (size_t i = 0; i < gathering->count; i++) {
        size_t columns = ck_view_columns(gathering->reports[i].probe->name);
        if (columns > width)
            width = columns;
    }
    return width < 32 ? width : 32;
}

/* A missing tool has a fixed text here: the way to install it is shown below. */
static void put_probe(const struct page *page, const struct ck_probe_report *report, size_t width)
{
    size_t indent = put_name(page, report->probe->name, width);
    const char *state = ck_gather_probe_state_name(report->state);
    char text[TEXT_SIZE];

    if (report->state == CK_PROBE_STATE_OK) {
        (void)snprintf(text, sizeof(text), "%s%s",
                       report->evidence.headline[0] != '\0' ? report->evidence.headline : state,
                       report->files_cut ? "; it was not given all matching files" : "");
        put_paragraph(page, indent, text);
        return;
    }
    put(page, ck_view_state_colour(report->state), state);
    (void)fputs(": ", page->out);
    if (report->state == CK_PROBE_STATE_TOOL_MISSING)
        (void)snprintf(text, sizeof(text), "%s is not installed", report->probe->tool);
    else
        (void)snprintf(text, sizeof(text), "%s", report->reason ? report->reason : "");
    put_from(page, indent + strlen(state) + 2, indent, text);
}

/* Skipped probes have their own part. */
static void put_probes(const struct page *page, const struct ck_gathering *gathering)
{
    size_t width = name_width(gathering);

    put_title(page, "Probes");
    for (size_t i = 0; i < gathering->count; i++)
        if (gathering->reports[i].state != CK_PROBE_STATE_SKIPPED)
            put_probe(page, &gathering->reports[i], width);
}

/* ---- what was skipped ---- */

/* A reason that could not be stored counts as "". */
static bool is_skipped_for(const struct ck_probe_report *report, const char *reason)
{
    return report->state == CK_PROBE_STATE_SKIPPED && strcmp(report->reason ? report->reason : "", reason) == 0;
}

/* "sbom, vulnerabilities: not asked for" */
static void put_skipped_for(const struct page *page, const struct ck_gathering *gathering, const char *reason)
{
    char text[TEXT_SIZE];
    const char *separator = "";
    size_t used = 0;

    for (size_t i = 0; i < gathering->count && used < sizeof(text); i++)
        if (is_skipped_for(&gathering->reports[i], reason)) {
            used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", separator,
                                     gathering->reports[i].probe->name);
            separator = ", ";
        }
    if (used < sizeof(text))
        (void)snprintf(text + used, sizeof(text) - used, ": %s", reason);
    (void)fputs("  ", page->out);
    put_paragraph(page, 2, text);
}

/* Probes that were skipped for the same reason share a line, at the position of the first. */
static void put_skipped(const struct page *page, const struct ck_gathering *gathering)
{
    bool titled = false;

    for (size_t i = 0; i < gathering->count; i++) {
        const char *reason = gathering->reports[i].reason ? gathering->reports[i].reason : "";
        /* Not skipped, or its reason was already printed for an earlier probe. */
        bool again = gathering->reports[i].state != CK_PROBE_STATE_SKIPPED;
        for (size_t j = 0; j < i && !again; j++)
            again = is_skipped_for(&gathering->reports[j], reason);
        if (again)
            continue;
        if (!titled)
            put_title(page, "Skipped");
        titled = true;
        put_skipped_for(page, gathering, reason);
    }
}

/* ---- what to look at first ---- */

/* Red for critical and high, yellow for medium. */
static const char *paint_of(enum ck_severity severity)
{
    return severity <= CK_SEVERITY_HIGH ? "\033[31m" : severity == CK_SEVERITY_MEDIUM ? "\033[33m" : "";
}

/*
 * "src/a.js:12", "src/a.js" or "". A long path is cut, but never the line number; the document has
 * the whole path.
 */
static void describe_location(const json_t *finding, char *text, size_t size)
{
    const json_t *path = json_object_get(finding, "path");
    const json_t *line = json_object_get(finding, "line");
    const char *base64 = json_string_value(json_object_get(path, "base64"));
    char bytes[TEXT_SIZE / 2];
    char shown[TEXT_SIZE / 2];
    char number[32] = "";

    if (json_is_integer(line))
        (void)snprintf(number, sizeof(number), ":%lld", json_integer_value(line));
    /* A path that is not UTF-8. */
    if (base64)
        (void)snprintf(bytes, sizeof(bytes), "<base64:%s>", base64);
    const char *whole = base64 ? bytes : json_is_string(path) ? json_string_value(path) : "";
    (void)snprintf(text, size, "%s%s", ck_view_cut(shown, sizeof(shown), whole, PATH_COLUMNS), number);
}

/* " by lint, semgrep": who saw the place. One probe may have seen it with several rules. */
static size_t describe_probes(const json_t *seen_by, char *text, size_t size)
{
    const char *separator = " by ", *before = "";
    size_t used = 0;

    for (size_t i = 0; i < json_array_size(seen_by) && used < size; i++) {
        const char *probe = json_string_value(json_object_get(json_array_get(seen_by, i), "probe"));
        bool again = !probe || strcmp(probe, before) == 0;
        for (size_t j = 0; j < i && !again; j++)
            again = strcmp(json_string_value(json_object_get(json_array_get(seen_by, j), "probe")), probe) == 0;
        if (again)
            continue;
        used += (size_t)snprintf(text + used, size - used, "%s%s", separator, probe);
        separator = ", ";
        before = probe;
    }
    return used;
}

/* The source line, cut to one line of the screen: the place is more important than all of it. */
static void put_source(const struct page *page, const json_t *finding)
{
    const char *source = json_string_value(json_object_get(finding, "source"));
    char cut[TEXT_SIZE];

    if (!source || source[0] == '\0')
        return;
    (void)fprintf(page->out, "%*s", LABEL, "");
    put(page, CK_VIEW_DIM, ck_view_cut(cut, sizeof(cut), source, ROOM - LABEL));
    (void)fputc('\n', page->out);
}

/* The first finding is shown for its kind, with the number of the others. */
static void put_kind(const struct page *page, const struct ck_finding_kind *kind)
{
    const char *message = json_string_value(json_object_get(kind->first, "message"));
    const char *severity = ck_severity_name(kind->severity);
    const char *said = message && message[0] != '\0' ? message : kind->id;
    char location[TEXT_SIZE / 2];
    char text[TEXT_SIZE];

    (void)fputs("  ", page->out);
    put(page, paint_of(kind->severity), severity);
    (void)fprintf(page->out, "%*s", (int)(LABEL - 2 - strlen(severity)), "");
    put_paragraph(page, LABEL, said);
    describe_location(kind->first, location, sizeof(location));
    int used = snprintf(text, sizeof(text), "%s", location);
    if (kind->count > 1)
        used += snprintf(text + used, sizeof(text) - (size_t)used, "%s%zu more", location[0] != '\0' ? " and " : "",
                         kind->count - 1);
    /* The location takes at most half of the text, and an id of a reader is shorter than the rest. */
    used +=
        snprintf(text + used, sizeof(text) - (size_t)used, "%s[%.*s]", used > 0 ? " " : "", TEXT_SIZE / 8, kind->id);
    (void)describe_probes(json_object_get(kind->first, "seen_by"), text + used, sizeof(text) - (size_t)used);
    (void)fprintf(page->out, "%*s", LABEL, "");
    put_paragraph(page, LABEL, text);
    put_source(page, kind->first);
}

/* Without any list there is nothing to look at, and "nothing found" would be wrong. */
static size_t count_lists(const struct ck_gathering *gathering)
{
    size_t count = 0;

    for (size_t i = 0; i < gathering->count; i++)
        count += !!json_object_get(gathering->reports[i].evidence.document, "findings");
    return count;
}

/* "Nothing" means little if half of the probes could not look: says which these are. */
static void put_nothing(const struct page *page, const struct ck_gathering *gathering)
{
    size_t lists = count_lists(gathering);
    char text[TEXT_SIZE];
    const char *separator = "; these have no answer: ";
    size_t used =
        (size_t)snprintf(text, sizeof(text), "nothing%s: no %sfinding is above info, by the %zu probe%s that looked",
                         gathering->findings_known > 0 ? " new" : "", gathering->findings_known > 0 ? "new " : "",
                         lists, lists == 1 ? "" : "s");

    for (size_t i = 0; i < gathering->count && used < sizeof(text); i++) {
        const struct ck_probe_report *report = &gathering->reports[i];
        if (report->state == CK_PROBE_STATE_OK || report->state == CK_PROBE_STATE_SKIPPED)
            continue;
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s (%s)", separator, report->probe->name,
                                 ck_gather_probe_state_name(report->state));
        separator = ", ";
    }
    (void)fputs("  ", page->out);
    put_paragraph(page, 2, text);
}

/* Kinds after those that are shown: "and 14 of other kinds: py-weak-hash, image_unpinned". */
static void put_others(const struct page *page, const struct ck_finding_kinds *kinds)
{
    char text[TEXT_SIZE];
    const char *separator = ": ";
    size_t others = 0;

    if (kinds->count <= FIRST_MAX)
        return;
    for (size_t i = FIRST_MAX; i < kinds->count; i++)
        others += kinds->items[i].count;
    size_t used = (size_t)snprintf(text, sizeof(text), "and %zu of other kinds", others);
    for (size_t i = FIRST_MAX; i < kinds->count && i < FIRST_MAX + NAMED_MAX; i++) {
        const char *id = kinds->items[i].id;
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%.*s", separator, NAME_BYTES,
                                 id[0] != '\0' ? id : "without a rule");
        separator = ", ";
    }
    if (kinds->count > FIRST_MAX + NAMED_MAX)
        (void)snprintf(text + used, sizeof(text) - used, " and more");
    (void)fputs("  ", page->out);
    put_paragraph(page, 2, text);
}

/* Of probes that found more than is listed, if that may be above info. */
static void put_unlisted(const struct page *page, const struct ck_gathering *gathering)
{
    char text[TEXT_SIZE];

    for (size_t i = 0; i < gathering->count; i++) {
        const struct ck_probe_report *report = &gathering->reports[i];
        const json_t *evidence = report->evidence.document;
        const char *cut = json_string_value(json_object_get(evidence, "findings_cut"));
        if (!ck_findings_may_lack(report, CK_SEVERITY_LOW))
            continue;
        if (json_is_true(json_object_get(evidence, "incomplete")))
            cut = "anything";
        (void)snprintf(text, sizeof(text), "%s found more than is listed; the rest may be %s", report->probe->name,
                       cut);
        (void)fputs("  ", page->out);
        put_paragraph(page, 2, text);
    }
}

/* Findings of severity info are in the document only. */
static void put_first(const struct page *page, const struct ck_gathering *gathering)
{
    struct ck_finding_kinds kinds;

    if (count_lists(gathering) == 0)
        return;
    put_title(page, "Look at these first");
    ck_severity_collect_kinds(&kinds, gathering);
    for (size_t i = 0; i < kinds.count && i < FIRST_MAX; i++)
        put_kind(page, &kinds.items[i]);
    put_others(page, &kinds);
    if (kinds.count == 0)
        put_nothing(page, gathering);
    put_unlisted(page, gathering);
    if (gathering->findings_known > 0)
        (void)fprintf(page->out, "  known from the baseline: %zu\n", gathering->findings_known);
}

/* ---- what is missing, and where the rest is ---- */

/*
 * Each tool once, at the first probe that needs it. A tool without an install command is left out.
 */
static void put_missing(const struct page *page, const struct ck_gathering *gathering)
{
    bool titled = false;

    for (size_t i = 0; i < gathering->count; i++) {
        const struct ck_probe_report *report = &gathering->reports[i];
        bool again = report->state != CK_PROBE_STATE_TOOL_MISSING || !report->install;
        for (size_t j = 0; j < i && !again; j++)
            again = gathering->reports[j].state == CK_PROBE_STATE_TOOL_MISSING &&
                    strcmp(gathering->reports[j].probe->tool, report->probe->tool) == 0;
        if (again)
            continue;
        if (!titled)
            put_title(page, "To see more, install");
        titled = true;
        put_paragraph(page, put_name(page, report->probe->tool, name_width(gathering)), report->install);
    }
}

/* Errors of single writes are found at the end, by ferror. */
int ck_summary_write(const struct ck_gathering *gathering, FILE *out, bool colour)
{
    const struct page page = {.out = out, .colour = colour};

    put_head(&page, gathering);
    put_first(&page, gathering);
    put_probes(&page, gathering);
    put_skipped(&page, gathering);
    put_missing(&page, gathering);
    (void)fputc('\n', out);
    put_labelled(&page, "Document", gathering->document ? gathering->document : "not kept; --out FILE keeps it");
    return fflush(out) == 0 && !ferror(out) ? 0 : -EIO;
}
