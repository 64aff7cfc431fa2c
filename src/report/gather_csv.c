/*
 * gather_csv.c - the findings as CSV: every field in quotes, lines end in CR LF. front/csv.h says what is
 * done about formulas.
 */
#include "report/gather_page.h"
#include "report/target.h"

#include "base/heap.h"
#include "front/csv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void put(struct ck_page *out, const char *text, size_t length)
{
    ck_page_markup(out, text, length);
}

static void put_field(struct ck_page *out, const char *text, const char *after)
{
    put(out, "\"", 1);
    for (size_t at = 0; text[at] != '\0';) {
        size_t plain = strcspn(text + at, "\"" CK_CSV_FORMULA);
        put(out, text + at, plain);
        at += plain;
        if (text[at] == '\0')
            break;
        if (text[at] == '"')
            put(out, "\"", 1);
        else if (ck_csv_begins_formula(text, at))
            put(out, "'", 1);
        put(out, text + at++, 1);
    }
    put(out, "\"", 1);
    put(out, after, strlen(after));
}

static void put_line(struct ck_page *out, uint64_t line)
{
    if (line > 0)
        ck_page_print(out, "%zu", (size_t)line);
    put(out, ",", 1);
}

static void put_row(struct ck_page *out, const struct ck_gather_view *view, const struct ck_found_item *item)
{
    const struct ck_look_finding *finding = item->finding;

    put_field(out, ck_look_severity_name(finding->severity), ",");
    put_field(out, ck_found_state_name(finding->state), ",");
    put_field(out, ck_gather_page_text(view, item->look->name), ",");
    put_field(out, item->look->date, ",");
    put_field(out, ck_gather_page_text(view, finding->rule), ",");
    put_field(out, ck_gather_page_text(view, finding->message), ",");
    put_field(out, ck_gather_page_text(view, finding->path), ",");
    put_line(out, finding->line);
    put_field(out, ck_gather_page_text(view, finding->place), ",");
    put_field(out, ck_gather_page_text(view, finding->seen_by), ",");
    put_field(out, ck_gather_page_text(view, finding->source), ",");
    put_field(out, ck_gather_page_text(view, finding->commit), ",");
    put_field(out, ck_gather_page_text(view, finding->fingerprint), "\r\n");
}

int ck_gather_csv_write(const struct ck_gather_view *view, int fd)
{
    static const char head[] =
        CK_TARGET_CSV "\"date\",\"rule\",\"message\",\"path\",\"line\",\"place\",\"seen_by\",\"source\","
                      "\"commit\",\"fingerprint\"\r\n";
    CK_HEAP struct ck_page *out = ck_heap_own(calloc(1, sizeof(*out)));

    if (!out)
        return -ENOMEM;
    out->fd = fd;
    put(out, head, sizeof(head) - 1);
    for (size_t i = 0; i < view->found.count; i++)
        put_row(out, view, &view->found.items[i]);
    return ck_page_flush(out);
}
