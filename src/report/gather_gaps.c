/* gather_gaps.c - a gap in words, short for the first screen, and all of them as a table. */
#include "report/gather_view.h"

#include <stdio.h>
#include <string.h>

static const char *name_of(const struct ck_gather_view *view, const struct ck_gap *gap)
{
    const char *name = ck_gather_page_text(view, gap->what);
    return name[0] != '\0' ? name : "gather";
}

static void print_repositories(struct ck_page *page, const struct ck_gather_view *view, const struct ck_gap *gap)
{
    if (!view->only && gap->kind != CK_GAP_LOST)
        ck_page_print(
            page, gap->repositories == 1 ? " <small>(%'zu repository)</small>" : " <small>(%'zu repositories)</small>",
            gap->repositories);
}

/* As gather ends the reason of a probe that needs another one, whose tool is missing. */
#define NEEDS_MISSING ", which is tool_missing"

static void print_reason(struct ck_page *page, const struct ck_gather_view *view, const struct ck_gap *gap)
{
    char needed[CK_STRINGS_SHORT];
    const char *state = ck_gather_page_text(view, gap->state);
    const char *reason = ck_gather_page_text(view, gap->reason);
    const char *end = strstr(reason, NEEDS_MISSING);

    if (gap->kind == CK_GAP_SKIPPED && end && end[strlen(NEEDS_MISSING)] == '\0') {
        (void)snprintf(needed, sizeof(needed), "%.*s", (int)(end - reason), reason);
        ck_page_print(page, "%s, whose tool is not installed", needed);
        return;
    }
    if (gap->kind == CK_GAP_FAILED && strcmp(state, "failed") != 0)
        ck_page_print(page, "%s: ", state);
    ck_page_print(page, "%s", reason);
}

static void print_words(struct ck_page *page, const struct ck_gather_view *view, const struct ck_gap *gap)
{
    switch (gap->kind) {
    case CK_GAP_CANCELLED:
        ck_page_print(page, "it was ended by a signal before it was done");
        break;
    case CK_GAP_MISSING:
        ck_page_print(page, "its tool is not installed");
        break;
    case CK_GAP_FILES:
        if (gap->all > 0)
            ck_page_print(page, "%'zu of %'zu files were not searched", (size_t)(gap->all - gap->done),
                          (size_t)gap->all);
        else
            ck_page_print(page, "there are more files than it was given");
        break;
    case CK_GAP_OUTPUT:
        ck_page_print(page, "it printed more than is kept; its beginning was not read");
        break;
    case CK_GAP_LIST:
        ck_page_print(page, "%'zu of its %'zu findings are listed, the worst", (size_t)gap->done, (size_t)gap->all);
        break;
    default:
        print_reason(page, view, gap);
        break;
    }
}

void ck_gather_gaps_one(struct ck_page *page, const struct ck_gather_view *view, const struct ck_gap *gap)
{
    ck_page_print(page, "<b title=\"%s\">%s</b><span>", name_of(view, gap), name_of(view, gap));
    print_words(page, view, gap);
    print_repositories(page, view, gap);
    ck_page_print(page, "</span>");
}

void ck_gather_gaps_table(struct ck_page *page, const void *data)
{
    const struct ck_gather_view *view = data;
    const struct ck_gaps *gaps = &view->gaps;

    if (gaps->count == 0) {
        ck_page_print(page, "<p class=\"none\">Every probe has looked at all that it was given.</p>\n");
        return;
    }
    ck_page_print(
        page,
        "<table class=\"plain\"><thead><tr><th>What</th><th>Why not</th><th>What to do</th></tr></thead>\n<tbody>");
    for (size_t i = 0; i < gaps->count && i < CK_GATHER_STATIC_MAX; i++) {
        const struct ck_gap *gap = &gaps->items[i];
        ck_page_print(page, "<tr%s><th scope=\"row\">%s</th><td>",
                      gap->kind == CK_GAP_NOTHING ? " class=\"quiet\"" : "", name_of(view, gap));
        print_words(page, view, gap);
        print_repositories(page, view, gap);
        ck_page_print(page, "</td><td class=\"code\">%s</td></tr>\n", ck_gather_page_text(view, gap->install));
    }
    ck_page_print(page, "</tbody></table>\n");
    if (gaps->count > CK_GATHER_STATIC_MAX)
        ck_page_print(page, "<p class=\"more\">and %'zu more</p>\n", gaps->count - CK_GATHER_STATIC_MAX);
}
