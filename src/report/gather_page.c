/* gather_page.c - see gather_page.h. */
#include "report/gather_page.h"

#include "base/heap.h"
#include "report/grid.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* tools/gen/page.py makes it of page/gather.html, the style sheet and the scripts. */
extern const unsigned char ck_report_gather_page_text[];
extern const size_t ck_report_gather_page_length;

/* page/gather.js knows these names. */
enum gather_column {
    COLUMN_SEVERITY,
    COLUMN_STATE,
    COLUMN_REPOSITORY,
    COLUMN_MESSAGE,
    COLUMN_RULE,
    COLUMN_PATH,
    COLUMN_LINE,
    COLUMN_SEEN_BY,
    COLUMN_PLACE,
    COLUMN_SOURCE,
    COLUMN_COMMIT,
    COLUMN_DETAILS,
    COLUMN_COUNT
};

static const struct ck_grid_column columns[COLUMN_COUNT] = {
    [COLUMN_SEVERITY] = {"severity", false},
    [COLUMN_STATE] = {"state", false},
    [COLUMN_REPOSITORY] = {"repository", true},
    [COLUMN_MESSAGE] = {"message", true},
    [COLUMN_RULE] = {"rule", true},
    [COLUMN_PATH] = {"path", true},
    [COLUMN_LINE] = {"line", false},
    [COLUMN_SEEN_BY] = {"seen_by", true},
    [COLUMN_PLACE] = {"place", true},
    [COLUMN_SOURCE] = {"source", true},
    [COLUMN_COMMIT] = {"commit", true},
    [COLUMN_DETAILS] = {"details", true},
};

const char *ck_gather_page_text(const struct ck_gather_view *view, uint32_t number)
{
    return ck_strings_text(&view->looks->strings, number);
}

const char *ck_gather_page_name(const struct ck_gather_view *view, const struct ck_look *look)
{
    return ck_gather_page_text(view, view->names[look - view->looks->items]);
}

/* ---- names ---- */

/* The last component of a path or URL, without ".git". */
static uint32_t short_name(struct ck_strings *strings, uint32_t whole)
{
    char text[CK_STRINGS_SHORT];
    const char *name = ck_strings_text(strings, whole);
    const char *slash = strrchr(name, '/');
    size_t length = strlen(slash ? slash + 1 : name);

    if (length == 0 || length >= sizeof(text))
        return whole;
    memcpy(text, slash ? slash + 1 : name, length + 1);
    if (length > 4 && strcmp(text + length - 4, ".git") == 0)
        text[length - 4] = '\0';
    return ck_strings_own(strings, text);
}

/* Two repositories with one short name keep their long ones. */
static int make_names(struct ck_gather_view *view)
{
    struct ck_looks *looks = view->looks;
    uint32_t *names = calloc(looks->count + 1, sizeof(*names));

    view->names = names;
    for (size_t i = 0; names && i < looks->count; i++)
        names[i] = short_name(&looks->strings, looks->items[i].name);
    CK_HEAP uint32_t *uses = ck_heap_own(calloc((size_t)looks->strings.count + 1, sizeof(*uses)));
    if (!names || !uses)
        return -ENOMEM;
    for (size_t i = 0; i < looks->count; i++)
        uses[names[i]] += looks->items[i].latest ? 1 : 0;
    for (size_t i = 0; i < looks->count; i++)
        if (uses[names[i]] > 1)
            names[i] = looks->items[i].name;
    return 0;
}

/* ---- rows ---- */

static void fill_row(const struct ck_gather_view *view, const struct ck_found_item *item, uint64_t *row)
{
    const struct ck_look_finding *finding = item->finding;

    row[COLUMN_SEVERITY] = finding->severity;
    row[COLUMN_STATE] = finding->state;
    row[COLUMN_REPOSITORY] = view->only ? 0 : item->look->name;
    row[COLUMN_MESSAGE] = finding->message;
    row[COLUMN_RULE] = finding->rule;
    row[COLUMN_PATH] = finding->path;
    row[COLUMN_LINE] = finding->line;
    row[COLUMN_SEEN_BY] = finding->seen_by;
    row[COLUMN_PLACE] = finding->place;
    row[COLUMN_SOURCE] = finding->source;
    row[COLUMN_COMMIT] = finding->commit;
    row[COLUMN_DETAILS] = finding->details;
}

static void write_data(struct ck_page *page, const void *data)
{
    const struct ck_gather_view *view = data;
    struct ck_grid grid = {.columns = columns, .column_count = COLUMN_COUNT};
    int r = 0;

    for (size_t i = 0; r == 0 && i < view->found.count && i < CK_GATHER_ROWS_MAX; i++) {
        uint64_t *row = ck_grid_add(&grid);
        if (row)
            fill_row(view, &view->found.items[i], row);
        r = row ? 0 : -ENOMEM;
    }
    if (r == 0)
        r = ck_grid_write(&grid, &view->looks->strings, page);
    if (r < 0 && page->error == 0)
        page->error = r;
    ck_grid_done(&grid);
}

/* What a reader has to know about the list itself. */
static void write_note(struct ck_page *page, const void *data)
{
    const struct ck_gather_view *view = data;

    if (view->left_out > 0)
        ck_page_print(page,
                      "<p class=\"warning\">This page has the worst %'zu findings; %'zu more are left out.%s</p>\n",
                      (size_t)CK_GATHER_ROWS_MAX, view->left_out,
                      view->csv ? " The file of --csv has them all." : " Use --csv to get them all.");
}

static void write_version(struct ck_page *page, const void *data)
{
    (void)data;
    ck_page_print(page, "%s", choke_version());
}

static const struct ck_page_slot slots[] = {
    {"title", ck_gather_lead_title},
    {"heading", ck_gather_lead_heading},
    {"found", ck_gather_lead_found},
    {"not-looked-at", ck_gather_lead_gaps},
    {"rules", ck_gather_charts_rules},
    {"where", ck_gather_charts_where},
    {"time", ck_gather_charts_time},
    {"note", write_note},
    {"findings", ck_gather_tables_findings},
    {"repositories", ck_gather_tables_repositories},
    {"gaps", ck_gather_gaps_table},
    {"probes", ck_gather_tables_probes},
    {"calls", ck_gather_calls_table},
    {"tools", ck_gather_calls_tools},
    {"data", write_data},
    {"version", write_version},
    {.name = NULL},
};

/* ---- the whole ---- */

int ck_gather_page_begin(struct ck_gather_view *view, struct ck_looks *looks)
{
    *view = (struct ck_gather_view){.looks = looks};
    if (looks->repositories == 1)
        view->only = &looks->items[ck_looks_next(looks, 0)];
    int r = make_names(view);
    if (r == 0)
        r = ck_found_list(&view->found, looks);
    if (r == 0)
        r = ck_gaps_collect(&view->gaps, looks);
    if (r == 0)
        r = ck_tally_make(&view->rules, &view->found, &looks->strings, ck_tally_by_rule);
    if (r == 0)
        r = view->only ? ck_tally_make(&view->directories, &view->found, &looks->strings, ck_tally_by_directory)
                       : ck_tally_make(&view->repositories, &view->found, &looks->strings, ck_tally_by_repository);
    if (r == 0 && looks->strings.failed)
        r = -ENOMEM;
    view->left_out = view->found.count > CK_GATHER_ROWS_MAX ? view->found.count - CK_GATHER_ROWS_MAX : 0;
    return r;
}

int ck_gather_page_write(const struct ck_gather_view *view, int fd)
{
    CK_HEAP struct ck_page *page = ck_heap_own(calloc(1, sizeof(*page)));

    if (!page)
        return -ENOMEM;
    page->fd = fd;
    ck_page_fill(page, (const char *)ck_report_gather_page_text, ck_report_gather_page_length, slots, view);
    return ck_page_flush(page);
}

void ck_gather_page_done(struct ck_gather_view *view)
{
    ck_found_done(&view->found);
    ck_gaps_done(&view->gaps);
    ck_tally_done(&view->rules);
    ck_tally_done(&view->directories);
    ck_tally_done(&view->repositories);
    ck_heap_free(&view->names);
}
