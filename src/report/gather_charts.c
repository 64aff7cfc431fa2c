/* gather_charts.c - the findings by rule, by where they are, and over time. */
#include "base/heap.h"
#include "report/bar.h"
#include "report/gather_view.h"

#include <string.h>

#define BARS 10   /* of a list */
#define POINTS 40 /* of the chart over time */
#define DAY 10    /* characters of a date that name the day */
#define MINUTE 16

/*
 * One line of a list: the words, the bar, the number. column, value: which findings it counts, for the
 * script (page/gather.js). The colours are said too, for those who do not see them.
 */
static void print_line(struct ck_page *page, const struct ck_tally_item *item, const char *words, const char *column,
                       const char *value, uint64_t most)
{
    ck_page_print(page, "<li><a href=\"#findings\" data-column=\"%s\" data-value=\"%s\" title=\"%s: ", column, value,
                  words);
    ck_bar_words(page, &ck_bar_severities, item->by_severity);
    ck_page_print(page, "\"><span class=\"words\">%s</span>", words);
    ck_bar_write(page, &ck_bar_severities, item->by_severity, most, "");
    ck_page_print(page, "<span class=\"number\">%'zu</span></a></li>\n", (size_t)item->total);
}

static uint64_t most_of(const struct ck_tally *tally)
{
    uint64_t most = 0;

    for (size_t i = 0; i < tally->count && i < BARS; i++)
        most = tally->items[i].total > most ? tally->items[i].total : most;
    return most;
}

static void print_rest(struct ck_page *page, const struct ck_tally *tally)
{
    if (tally->count > BARS)
        ck_page_print(page, "<p class=\"more\">and %'zu more</p>\n", tally->count - BARS);
    ck_page_print(page, "</section>\n");
}

void ck_gather_charts_rules(struct ck_page *page, const void *data)
{
    const struct ck_gather_view *view = data;

    if (view->rules.count == 0)
        return;
    ck_page_print(page, "<section class=\"card\"><h2>By rule <small>the worst first</small></h2>\n<ul class=\"bars\">");
    for (size_t i = 0; i < view->rules.count && i < BARS; i++) {
        const char *rule = ck_gather_page_text(view, view->rules.items[i].key);
        print_line(page, &view->rules.items[i], rule[0] != '\0' ? rule : "(no rule)", "rule", rule,
                   most_of(&view->rules));
    }
    ck_page_print(page, "</ul>\n");
    print_rest(page, &view->rules);
}

void ck_gather_charts_where(struct ck_page *page, const void *data)
{
    const struct ck_gather_view *view = data;
    const struct ck_tally *tally = view->only ? &view->directories : &view->repositories;

    if (tally->count == 0)
        return;
    ck_page_print(page, "<section class=\"card\"><h2>%s <small>the worst first</small></h2>\n<ul class=\"bars\">",
                  view->only ? "By directory" : "By repository");
    for (size_t i = 0; i < tally->count && i < BARS; i++) {
        const struct ck_tally_item *item = &tally->items[i];
        const char *name =
            view->only ? ck_gather_page_text(view, item->key) : ck_gather_page_name(view, item->first->look);
        print_line(page, item, name, view->only ? "directory" : "repository", ck_gather_page_text(view, item->key),
                   most_of(tally));
    }
    ck_page_print(page, "</ul>\n");
    print_rest(page, tally);
}

/* ---- over time ---- */

struct point {
    char date[24]; /* cut to the day, or to the minute */
    uint64_t by_severity[CK_LOOK_SEVERITIES];
    uint64_t total;
    size_t probes, probes_done; /* without those that had nothing to look at */
};

static int compare_points(const void *left, const void *right)
{
    const struct point *a = left, *b = right;
    return strcmp(a->date, b->date);
}

/* The different dates, sorted. With more than POINTS some are left out, but never the last. */
static size_t list_points(const struct ck_looks *looks, size_t shown, struct point *points)
{
    size_t count = 0;

    for (size_t i = 0; i < looks->count; i++)
        (void)snprintf(points[i].date, sizeof(points[i].date), "%.*s", (int)shown, looks->items[i].date);
    qsort(points, looks->count, sizeof(*points), compare_points);
    for (size_t i = 0; i < looks->count; i++)
        if (count == 0 || strcmp(points[count - 1].date, points[i].date) != 0)
            points[count++] = points[i];
    if (count <= POINTS)
        return count;
    for (size_t i = 0; i < POINTS; i++)
        points[i] = points[(i + 1) * count / POINTS - 1];
    return POINTS;
}

/* A column that is lower because less was looked at is no progress. */
static void count_probes(const struct ck_look *look, struct point *point)
{
    for (size_t i = 0; i < look->probes.count; i++) {
        point->probes += look->probes.items[i].nothing ? 0 : 1;
        point->probes_done += look->probes.items[i].ok ? 1 : 0;
    }
}

/* Of each repository the last look up to then. */
static void count_point(const struct ck_looks *looks, size_t shown, struct point *point)
{
    for (size_t i = 0; i < looks->count; i++) {
        const struct ck_look *look = &looks->items[i];
        bool over = i + 1 == looks->count || looks->items[i + 1].name != look->name ||
                    strncmp(looks->items[i + 1].date, point->date, shown) > 0;
        if (!over || strncmp(look->date, point->date, shown) > 0)
            continue;
        for (unsigned s = 0; s < CK_LOOK_SEVERITIES; s++) {
            point->by_severity[s] += look->by_severity[s];
            point->total += look->by_severity[s];
        }
        count_probes(look, point);
    }
}

static void print_points(struct ck_page *page, const struct point *points, size_t count)
{
    uint64_t most = 0;

    for (size_t i = 0; i < count; i++)
        most = points[i].total > most ? points[i].total : most;
    ck_page_print(
        page,
        "<section class=\"card wide\" id=\"time\"><h2>Over time</h2>\n<figure class=\"columns\">"
        "<svg viewBox=\"0 0 1000 100\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"Findings over time\">");
    for (size_t i = 0; i < count; i++) {
        ck_page_print(page, "<g><title>%s: %'zu findings: ", points[i].date, (size_t)points[i].total);
        ck_bar_words(page, &ck_bar_severities, points[i].by_severity);
        ck_page_print(page, "</title>");
        ck_bar_column(page, &ck_bar_severities, points[i].by_severity, most, i, count);
        ck_page_print(page, "</g>");
    }
    ck_page_print(page,
                  "</svg>\n<figcaption><span>%s</span><span>at most %'zu</span><span>%s</span></figcaption></figure>\n",
                  points[0].date, (size_t)most, points[count - 1].date);
    ck_page_print(
        page, "<table class=\"plain narrow\"><thead><tr><th>Date</th><th class=\"n\">Findings</th><th>By severity</th>"
              "<th>Probes that ran</th></tr></thead>\n<tbody>");
    for (size_t i = 0; i < count; i++) {
        ck_page_print(page, "<tr><td>%s</td><td class=\"n\">%'zu</td><td>", points[i].date, (size_t)points[i].total);
        ck_bar_words(page, &ck_bar_severities, points[i].by_severity);
        ck_page_print(page, "</td><td>%'zu of %'zu</td></tr>\n", points[i].probes_done, points[i].probes);
    }
    ck_page_print(page, "</tbody></table></section>\n");
}

void ck_gather_charts_time(struct ck_page *page, const void *data)
{
    const struct ck_gather_view *view = data;
    const struct ck_looks *looks = view->looks;
    size_t shown = DAY;

    if (looks->compared == 0)
        return;
    CK_HEAP struct point *points = ck_heap_own(calloc(looks->count, sizeof(*points)));
    size_t count = points ? list_points(looks, shown, points) : 0;
    if (count == 1) { /* all on one day */
        memset(points, 0, looks->count * sizeof(*points));
        shown = MINUTE;
        count = list_points(looks, shown, points);
    }
    if (count < 2)
        return;
    for (size_t i = 0; i < count; i++)
        count_point(looks, shown, &points[i]);
    print_points(page, points, count);
}
