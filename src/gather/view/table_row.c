/*
 * table_row.c - one line of the live table. If a line does not fit, names are cut first, then whole
 * columns are left out. The name of the probe and its state remain on any terminal.
 */
#include "gather/view/table_row.h"

#include "gather/view/format.h"

#include <string.h>

#define GAP 2 /* spaces between two columns */

/* One entry of a line. */
struct cell {
    enum ck_column column;
    const char *text;
    const char *paint; /* "" for none */
};

struct table_row {
    char *text;  /* the caller's buffer, CK_TABLE_ROW_SIZE bytes */
    size_t used; /* bytes without the NUL */
    bool colour; /* with escapes */
    const struct ck_table_row_widths *widths;
};

static const char *const heads[CK_COLUMN_COUNT] = {"PROBE", "TOOL", "JAIL", "STATE", "TIME", "FOUND"};

/* ---- widths ---- */

/* A column of width 0 has no gap either. */
static size_t total(const struct ck_table_row_widths *widths)
{
    size_t sum = 0;

    for (size_t i = 0; i < CK_COLUMN_COUNT; i++)
        if (widths->columns[i] > 0)
            sum += widths->columns[i] + (sum > 0 ? GAP : 0);
    return sum;
}

/* Names are at most as wide as the table. */
static void widen(size_t *width, const char *text)
{
    char safe[CK_TABLE_ROW_SIZE];
    size_t columns = ck_view_columns(ck_view_cut(safe, sizeof(safe), text, CK_VIEW_COLUMNS));

    if (columns > *width)
        *width = columns;
}

/*
 * Reduces one column by what is too much in total, but not below least; with least 0 the whole
 * column is removed.
 */
static void narrow(struct ck_table_row_widths *widths, enum ck_column column, size_t least, size_t room)
{
    size_t *width = &widths->columns[column];
    size_t sum = total(widths);

    if (sum <= room || *width <= least)
        return;
    size_t excess = sum - room;
    *width = least == 0 || *width - least < excess ? least : *width - excess;
}

void ck_table_row_fit_widths(struct ck_table_row_widths *widths, const struct ck_gathering *gathering, size_t columns)
{
    /* In this order until the line fits. A later step may repeat a column with a smaller width. */
    static const struct {
        enum ck_column column;
        size_t least;
    } steps[] = {{CK_COLUMN_TOOL, 8},  {CK_COLUMN_PROBE, 16}, {CK_COLUMN_JAIL, 0},  {CK_COLUMN_TOOL, 0},
                 {CK_COLUMN_FOUND, 0}, {CK_COLUMN_TIME, 0},   {CK_COLUMN_PROBE, 4}, {CK_COLUMN_STATE, 2}};
    size_t most = columns < CK_VIEW_COLUMNS ? columns : CK_VIEW_COLUMNS;

    /* The widest value of each column. The other two depend on the probes. */
    *widths = (struct ck_table_row_widths){.columns = {[CK_COLUMN_JAIL] = strlen("seatbelt"),
                                                       [CK_COLUMN_STATE] = strlen("tool_missing"),
                                                       [CK_COLUMN_TIME] = strlen("99m59s"),
                                                       [CK_COLUMN_FOUND] = strlen("9999999")}};
    widen(&widths->columns[CK_COLUMN_PROBE], heads[CK_COLUMN_PROBE]);
    widen(&widths->columns[CK_COLUMN_TOOL], heads[CK_COLUMN_TOOL]);
    for (size_t i = 0; i < gathering->count; i++) {
        widen(&widths->columns[CK_COLUMN_PROBE], gathering->reports[i].probe->name);
        widen(&widths->columns[CK_COLUMN_TOOL], gathering->reports[i].probe->tool);
    }
    /*
     * The last column of a terminal stays empty: a character there makes some terminals begin a new
     * line.
     */
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
        narrow(widths, steps[i].column, steps[i].least, most > 0 ? most - 1 : 0);
}

/* ---- cells ---- */

/* A text that does not fit is cut; used stays within the buffer. */
static void put(struct table_row *row, const char *text)
{
    size_t room = CK_TABLE_ROW_SIZE - row->used;
    int length = snprintf(row->text + row->used, room, "%s", text);

    row->used += (size_t)length < room ? (size_t)length : room - 1;
}

static void put_blanks(struct table_row *row, size_t count)
{
    for (; count > 0; count--)
        put(row, " ");
}

/* Names are on the left of their column, numbers on the right. */
static void put_cell(struct table_row *row, const struct cell *cell)
{
    char text[CK_TABLE_ROW_SIZE / 2];
    size_t width = row->widths->columns[cell->column];
    /* The last two columns. */
    bool numeric = cell->column >= CK_COLUMN_TIME;
    bool painted = row->colour && cell->paint[0] != '\0';
    if (width == 0)
        return;

    (void)ck_view_cut(text, sizeof(text), cell->text, width);
    size_t columns = ck_view_columns(text);
    put_blanks(row, (row->used > 0 ? GAP : 0) + (numeric ? width - columns : 0));
    put(row, painted ? cell->paint : "");
    put(row, text);
    put(row, painted ? CK_VIEW_PLAIN : "");
    put_blanks(row, numeric ? 0 : width - columns);
}

/* Blanks at the end would only cost bytes. */
static const char *finish(struct table_row *row)
{
    while (row->used > 0 && row->text[row->used - 1] == ' ')
        row->text[--row->used] = '\0';
    return row->text;
}

const char *ck_table_row_head(char dst[CK_TABLE_ROW_SIZE], const struct ck_table_row_widths *widths, bool colour)
{
    struct table_row row = {.text = dst, .colour = colour, .widths = widths};

    dst[0] = '\0';
    for (enum ck_column column = CK_COLUMN_PROBE; column < CK_COLUMN_COUNT; column++)
        put_cell(&row, &(struct cell){column, heads[column], CK_VIEW_DIM});
    return finish(&row);
}

/* How long it ran, or has been running; "" if it did not run. */
static const char *time_of(char dst[CK_VIEW_DURATION_SIZE], const struct ck_probe_report *report, uint64_t now_us)
{
    uint64_t end_us = report->state == CK_PROBE_STATE_RUNNING ? now_us : report->ended_us;

    if (report->state == CK_PROBE_STATE_WAITING || report->state == CK_PROBE_STATE_TOOL_MISSING || end_us == 0)
        return "";
    return ck_view_duration(dst, end_us > report->started_us ? end_us - report->started_us : 0);
}

/* "" for a probe without a count. */
static const char *found_of(char dst[CK_VIEW_DURATION_SIZE], const struct ck_evidence *evidence)
{
    if (!evidence->document || !evidence->noun)
        return "";
    (void)snprintf(dst, CK_VIEW_DURATION_SIZE, "%llu", (unsigned long long)evidence->findings);
    return dst;
}

/* The jail of the last call that ran. */
static const char *jail_of(const struct ck_probe_report *report)
{
    const char *jail = "";

    for (size_t i = 0; i < report->call_count; i++)
        if (report->calls[i].jail)
            jail = report->calls[i].jail;
    return jail;
}

const char *ck_table_row_probe(char dst[CK_TABLE_ROW_SIZE], const struct ck_table_row_widths *widths,
                               const struct ck_probe_report *report, uint64_t now_us, bool colour)
{
    struct table_row row = {.text = dst, .colour = colour, .widths = widths};
    char duration[CK_VIEW_DURATION_SIZE];
    char found[CK_VIEW_DURATION_SIZE];
    const struct cell cells[] = {
        {CK_COLUMN_PROBE, report->probe->name, ""},
        {CK_COLUMN_TOOL, report->probe->tool, ""},
        {CK_COLUMN_JAIL, jail_of(report), ""},
        {CK_COLUMN_STATE, ck_gather_probe_state_name(report->state), ck_view_state_colour(report->state)},
        {CK_COLUMN_TIME, time_of(duration, report, now_us), ""},
        {CK_COLUMN_FOUND, found_of(found, &report->evidence), ""},
    };

    dst[0] = '\0';
    for (size_t i = 0; i < CK_COLUMN_COUNT; i++)
        put_cell(&row, &cells[i]);
    return finish(&row);
}
