/*
 * gather_calls.c - each call that was made, and which layers of its jail held. Calls that do not
 * differ in what is shown are one row, with their number.
 */
#include "report/gather_view.h"

#include "base/heap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LAYERS_MAX 32
#define LAYER_BYTES 64
#define ROWS_MAX 500

/* In this order: what ran without a jail is what a reader has to know first. */
enum call_kind { CALL_BARE, CALL_JAILED, CALL_NOT_RUN };

struct call_row {
    struct ck_look_call call; /* the first of them */
    enum call_kind kind;
    size_t count;
};

/* The layers of all calls, in the order in which they first appear. */
struct layers {
    char names[LAYERS_MAX][LAYER_BYTES];
    size_t count;
};

static int compare_calls(const void *left, const void *right)
{
    const struct call_row *a = left, *b = right;
    const uint32_t x[] = {a->kind,         a->call.jail,   a->call.probe, a->call.tool,
                          a->call.outcome, a->call.layers, a->call.argv};
    const uint32_t y[] = {b->kind,         b->call.jail,   b->call.probe, b->call.tool,
                          b->call.outcome, b->call.layers, b->call.argv};

    for (size_t i = 0; i < sizeof(x) / sizeof(x[0]); i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return 0;
}

/* Of many repositories the arguments differ in names of files alone. */
static bool is_same(const struct ck_gather_view *view, const struct ck_look_call *a, const struct ck_look_call *b)
{
    return a->jail == b->jail && a->probe == b->probe && a->tool == b->tool && a->outcome == b->outcome &&
           a->layers == b->layers && (!view->only || a->argv == b->argv);
}

static enum call_kind kind_of(const struct ck_gather_view *view, const struct ck_look_call *call)
{
    const char *jail = ck_gather_page_text(view, call->jail);

    if (jail[0] == '\0')
        return CALL_NOT_RUN;
    return strcmp(jail, "none") == 0 ? CALL_BARE : CALL_JAILED;
}

static size_t collect(const struct ck_gather_view *view, struct call_row **ret_rows)
{
    size_t all = 0, count = 0, kept = 0;
    const struct ck_looks *looks = view->looks;

    for (size_t i = ck_looks_next(looks, 0); i < looks->count; i = ck_looks_next(looks, i + 1))
        all += looks->items[i].calls.count;
    struct call_row *rows = calloc(all + 1, sizeof(*rows));
    *ret_rows = rows;
    if (!rows)
        return 0;
    for (size_t i = ck_looks_next(looks, 0); i < looks->count; i = ck_looks_next(looks, i + 1))
        for (size_t j = 0; j < looks->items[i].calls.count; j++) {
            const struct ck_look_call *call = &looks->items[i].calls.items[j];
            rows[count++] = (struct call_row){*call, kind_of(view, call), 1};
        }
    qsort(rows, count, sizeof(*rows), compare_calls);
    for (size_t i = 0; i < count; i++)
        if (kept > 0 && is_same(view, &rows[kept - 1].call, &rows[i].call))
            rows[kept - 1].count++;
        else
            rows[kept++] = rows[i];
    return kept;
}

/* The length of the next name in a list with spaces; 0 at its end. */
static size_t next_layer(const char **at)
{
    *at += strspn(*at, " ");
    return strcspn(*at, " ");
}

static void add_layers(struct layers *layers, const char *list)
{
    for (size_t n; (n = next_layer(&list)) > 0; list += n) {
        size_t i = 0;
        while (i < layers->count && (strlen(layers->names[i]) != n || memcmp(layers->names[i], list, n) != 0))
            i++;
        if (i < layers->count || i == LAYERS_MAX || n >= LAYER_BYTES)
            continue;
        memcpy(layers->names[i], list, n);
        layers->names[i][n] = '\0';
        layers->count++;
    }
}

static bool has_layer(const char *list, const char *name)
{
    for (size_t n; (n = next_layer(&list)) > 0; list += n)
        if (strlen(name) == n && memcmp(list, name, n) == 0)
            return true;
    return false;
}

static void print_row(struct ck_page *page, const struct ck_gather_view *view, const struct call_row *row,
                      const struct layers *layers)
{
    const struct ck_look_call *call = &row->call;
    const char *jail = ck_gather_page_text(view, call->jail);
    const char *list = ck_gather_page_text(view, call->layers);

    ck_page_print(page, "<tr><th scope=\"row\">%s", ck_gather_page_text(view, call->probe));
    if (row->count > 1)
        ck_page_print(page, " <small>%'zu calls</small>", row->count);
    ck_page_print(page, "</th><td class=\"code\" title=\"%s\"><span class=\"command\">%s</span></td><td>%s</td>",
                  ck_gather_page_text(view, call->argv), ck_gather_page_text(view, call->argv),
                  ck_gather_page_text(view, call->outcome));
    if (jail[0] == '\0')
        ck_page_print(page, "<td class=\"quiet\">did not run</td>");
    else
        ck_page_print(page, "<td><span class=\"state %s\">%s</span></td>", strcmp(jail, "none") == 0 ? "off" : "good",
                      jail);
    for (size_t i = 0; i < layers->count; i++)
        if (jail[0] != '\0' && has_layer(list, layers->names[i]))
            ck_page_print(page, "<td class=\"held\" title=\"%s held\">●</td>", layers->names[i]);
        else
            ck_page_print(page, "<td class=\"not-held\" title=\"%s: not in force\">–</td>", layers->names[i]);
    ck_page_print(page, "</tr>\n");
}

void ck_gather_calls_table(struct ck_page *page, const void *data)
{
    const struct ck_gather_view *view = data;
    struct layers layers = {.count = 0};
    CK_HEAP struct call_row *rows = NULL;
    size_t count = collect(view, &rows);

    if (!rows) {
        page->error = page->error == 0 ? -ENOMEM : page->error;
        return;
    }
    if (count == 0) {
        ck_page_print(page, "<p class=\"none\">No tool was called.</p>\n");
        return;
    }
    for (size_t i = 0; i < count; i++)
        add_layers(&layers, ck_gather_page_text(view, rows[i].call.layers));
    ck_page_print(page, "<div class=\"scroll-x\"><table class=\"plain layers\"><thead><tr><th>Probe</th><th>Call</th>"
                        "<th>Outcome</th><th>Jail</th>");
    for (size_t i = 0; i < layers.count; i++)
        ck_page_print(page, "<th class=\"turned\"><span>%s</span></th>", layers.names[i]);
    ck_page_print(page, "</tr></thead>\n<tbody>");
    for (size_t i = 0; i < count && i < ROWS_MAX; i++)
        print_row(page, view, &rows[i], &layers);
    ck_page_print(page, "</tbody></table></div>\n");
    if (count > ROWS_MAX)
        ck_page_print(page, "<p class=\"more\">and %'zu more that differ</p>\n", count - ROWS_MAX);
}

/* ---- tools ---- */

static int compare_tools(const void *left, const void *right)
{
    const struct ck_look_tool *a = left, *b = right;
    const uint32_t x[] = {a->name, a->version, a->path, a->sha256};
    const uint32_t y[] = {b->name, b->version, b->path, b->sha256};

    for (size_t i = 0; i < sizeof(x) / sizeof(x[0]); i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return 0;
}

void ck_gather_calls_tools(struct ck_page *page, const void *data)
{
    const struct ck_gather_view *view = data;
    const struct ck_looks *looks = view->looks;
    size_t all = 0, count = 0;

    for (size_t i = ck_looks_next(looks, 0); i < looks->count; i = ck_looks_next(looks, i + 1))
        all += looks->items[i].tools.count;
    CK_HEAP struct ck_look_tool *tools = ck_heap_own(calloc(all + 1, sizeof(*tools)));
    if (!tools || all == 0)
        return;
    for (size_t i = ck_looks_next(looks, 0); i < looks->count; i = ck_looks_next(looks, i + 1))
        for (size_t j = 0; j < looks->items[i].tools.count; j++)
            tools[count++] = looks->items[i].tools.items[j];
    qsort(tools, count, sizeof(*tools), compare_tools);
    ck_page_print(
        page, "<h3>Tools</h3>\n<div class=\"scroll-x\"><table class=\"plain\"><thead><tr><th>Tool</th><th>Version</th>"
              "<th>File</th><th>SHA-256</th></tr></thead>\n<tbody>");
    for (size_t i = 0; i < count && i < ROWS_MAX; i++)
        if (i == 0 || compare_tools(&tools[i - 1], &tools[i]) != 0)
            ck_page_print(page,
                          "<tr><th scope=\"row\">%s</th><td>%s</td><td class=\"code path\">%s</td>"
                          "<td class=\"code path\"><small>%s</small></td></tr>\n",
                          ck_gather_page_text(view, tools[i].name), ck_gather_page_text(view, tools[i].version),
                          ck_gather_page_text(view, tools[i].path), ck_gather_page_text(view, tools[i].sha256));
    ck_page_print(page, "</tbody></table></div>\n");
}
