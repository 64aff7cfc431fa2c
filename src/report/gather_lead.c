/*
 * gather_lead.c - the first screen: what was found, and beside it, as large, what was not looked
 * at.
 */
#include "report/bar.h"
#include "report/gather_view.h"

#include <stdio.h>
#include <string.h>

#define FIRST_RULES 5
#define FIRST_GAPS 6
#define FIRST_LOSSES 2 /* more of them are one line, so that there is room for probes */
#define COMMIT_SHOWN 12

/* The last component of a path or a URL. */
static const char *last_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] != '\0' ? slash + 1 : path;
}

void ck_gather_lead_title(struct ck_page *page, const void *data)
{
    const struct ck_gather_view *view = data;

    if (view->only)
        ck_page_print(page, "%s · chokepoint report", last_of(ck_gather_page_text(view, view->only->name)));
    else
        ck_page_print(page, "%'zu repositories · chokepoint report", view->looks->repositories);
}

/* "2026-11-18 21:30 UTC" of a date as documents have it. */
void ck_gather_lead_date(struct ck_page *page, const struct ck_look *look)
{
    char text[24];

    (void)snprintf(text, sizeof(text), "%.10s %.5s UTC", look->date, look->date + 11);
    ck_page_print(page, "<time datetime=\"%s\">%s</time>%s", look->date, text,
                  look->date_is_files ? " (time of the file)" : "");
}

static void print_one(struct ck_page *page, const struct ck_gather_view *view)
{
    const struct ck_look *look = view->only;
    const char *commit = ck_gather_page_text(view, look->commit);
    const char *name = ck_gather_page_text(view, look->name);
    char shown[COMMIT_SHOWN + 1];

    (void)snprintf(shown, sizeof(shown), "%s", commit);
    ck_page_print(
        page,
        "<h1 title=\"%s\">%s</h1>\n<dl class=\"facts\"><div><dt>Repository</dt><dd class=\"path\" title=\"%s\">"
        "%s</dd></div>",
        last_of(name), last_of(name), name, name);
    ck_page_print(page, "<div><dt>Commit</dt><dd class=\"code\" title=\"%s\">%s</dd></div>", commit,
                  commit[0] != '\0' ? shown : "not known");
    ck_page_print(page, "<div><dt>Looked at</dt><dd>");
    ck_gather_lead_date(page, look);
    ck_page_print(page, "</dd></div><div><dt>Files</dt><dd>%'zu%s</dd></div></dl>", (size_t)look->files,
                  look->files_incomplete ? " and more" : "");
}

void ck_gather_lead_heading(struct ck_page *page, const void *data)
{
    const struct ck_gather_view *view = data;
    const struct ck_look *first = &view->looks->items[ck_looks_next(view->looks, 0)];
    const struct ck_look *last = first;
    size_t files = 0;

    if (view->only) {
        print_one(page, view);
        return;
    }
    for (size_t i = ck_looks_next(view->looks, 0); i < view->looks->count; i = ck_looks_next(view->looks, i + 1)) {
        const struct ck_look *look = &view->looks->items[i];
        first = strcmp(look->date, first->date) < 0 ? look : first;
        last = strcmp(look->date, last->date) > 0 ? look : last;
        files += (size_t)look->files;
    }
    ck_page_print(page, "<h1>%'zu repositories</h1>\n<dl class=\"facts\"><div><dt>Looked at</dt><dd>",
                  view->looks->repositories);
    ck_gather_lead_date(page, first);
    if (last != first) {
        ck_page_print(page, " to ");
        ck_gather_lead_date(page, last);
    }
    ck_page_print(page,
                  "</dd></div><div><dt>Files</dt><dd>%'zu</dd></div><div><dt>Documents</dt><dd>%'zu</dd></div></dl>",
                  files, view->looks->count);
}

/* ---- what was found ---- */

static void print_legend(struct ck_page *page, const struct ck_gather_view *view)
{
    ck_page_print(page, "<ul class=\"legend\">");
    for (unsigned s = 0; s < CK_LOOK_SEVERITIES; s++)
        ck_page_print(page, "<li%s><i class=\"dot back-%s\"></i><b>%'zu</b> %s</li>",
                      view->found.by_severity[s] == 0 ? " class=\"zero\"" : "", ck_look_severity_name(s),
                      (size_t)view->found.by_severity[s], ck_look_severity_name(s));
    ck_page_print(page, "</ul>\n");
}

static void print_change(struct ck_page *page, const struct ck_gather_view *view)
{
    const struct ck_looks *looks = view->looks;

    /* Without an earlier look, documents made with --baseline say what they know. */
    if (looks->compared == 0 && view->found.known > 0)
        ck_page_print(page, "<p class=\"change\"><b>%'zu</b> of them %s known from a baseline</p>\n", view->found.known,
                      view->found.known == 1 ? "is" : "are");
    if (looks->compared == 0)
        return;
    ck_page_print(page, "<p class=\"change\"><b>%'zu new</b>, <b>%'zu gone</b>", (size_t)looks->fresh,
                  (size_t)looks->gone);
    /* By a probe that ran before, and did not now, or has cut its list. */
    if (looks->unchecked > 0)
        ck_page_print(page, ", <b>%'zu not looked for again</b>", (size_t)looks->unchecked);
    ck_page_print(page, " since the look before");
    if (looks->compared < looks->repositories)
        ck_page_print(page, " (%'zu of %'zu repositories have one)", looks->compared, looks->repositories);
    ck_page_print(page, "</p>\n");
}

/* The same rule for one more language has another id and the same message. */
static bool says_same(const struct ck_gather_view *view, const struct ck_tally_item *one,
                      const struct ck_tally_item *other)
{
    const char *message = ck_gather_page_text(view, one->first->finding->message);

    return one->first->finding->severity == other->first->finding->severity && message[0] != '\0' &&
           strcmp(message, ck_gather_page_text(view, other->first->finding->message)) == 0;
}

/* One line of what to look at first. total: of its rule and of those that say the same. */
static void print_kind(struct ck_page *page, const struct ck_gather_view *view, const struct ck_tally_item *rule,
                       uint64_t total)
{
    const struct ck_look_finding *finding = rule->first->finding;
    const char *path = ck_gather_page_text(view, finding->path);
    const char *severity = ck_look_severity_name(finding->severity);

    ck_page_print(page, "<li><i class=\"dot back-%s\" title=\"%s\"></i><span class=\"words\">%s</span>", severity,
                  severity, ck_gather_page_text(view, finding->message));
    ck_page_print(page, "<span class=\"at\">");
    if (!view->only)
        ck_page_print(page, "%s: ", ck_gather_page_name(view, rule->first->look));
    ck_page_print(page, "<span class=\"code\">%s", path[0] != '\0' ? path : "no file");
    if (finding->line > 0)
        ck_page_print(page, ":%zu", (size_t)finding->line);
    ck_page_print(page, "</span>");
    if (total > 1)
        ck_page_print(page, " and %'zu more", (size_t)total - 1);
    ck_page_print(page, "</span></li>\n");
}

/* The rules are sorted, those that are only info come last: they are in the list alone. */
static void print_first(struct ck_page *page, const struct ck_gather_view *view)
{
    const struct ck_tally *rules = &view->rules;
    size_t shown = 0;

    ck_page_print(page, "<h3>Look at these first</h3>\n<ol class=\"first\">");
    for (size_t i = 0; i < rules->count && shown < FIRST_RULES; i++) {
        if (rules->items[i].by_severity[CK_LOOK_INFO] == rules->items[i].total)
            break;
        uint64_t total = rules->items[i].total;
        bool again = false;
        for (size_t j = 0; j < i && !again; j++)
            again = says_same(view, &rules->items[i], &rules->items[j]);
        if (again)
            continue;
        for (size_t j = i + 1; j < rules->count; j++)
            total += says_same(view, &rules->items[i], &rules->items[j]) ? rules->items[j].total : 0;
        print_kind(page, view, &rules->items[i], total);
        shown++;
    }
    ck_page_print(page, "</ol>\n");
}

void ck_gather_lead_found(struct ck_page *page, const void *data)
{
    const struct ck_gather_view *view = data;

    size_t info = (size_t)view->found.by_severity[CK_LOOK_INFO];
    size_t above = view->found.here - info;

    /* What is only info is most of a list, and would make every repository look alike. */
    ck_page_print(page, "<p class=\"figure\"><b>%'zu</b> finding%s", above, ck_gather_plural(above));
    if (info > 0)
        ck_page_print(page, " and %'zu info", info);
    ck_page_print(page, "</p>\n");
    ck_bar_write(page, &ck_bar_severities, view->found.by_severity, above > 0 ? above : info, "Findings by severity");
    print_legend(page, view);
    print_change(page, view);
    if (above > 0)
        print_first(page, view);
    else if (info > 0)
        ck_page_print(page, "<p class=\"none\">No finding is above info.%s</p>\n",
                      view->gaps.gaps > 0 ? " That says nothing about what was not looked at." : "");
    else
        ck_page_print(page, "<p class=\"none\">The probes that ran found nothing.%s</p>\n",
                      view->gaps.gaps > 0 ? " That says nothing about what was not looked at." : "");
}

/* ---- what was not looked at ---- */

static size_t count_losses(const struct ck_gaps *gaps)
{
    size_t losses = 0;

    while (losses < gaps->gaps && gaps->items[losses].kind == CK_GAP_LOST)
        losses++;
    return losses;
}

void ck_gather_lead_gaps(struct ck_page *page, const void *data)
{
    const struct ck_gather_view *view = data;
    const struct ck_gaps *gaps = &view->gaps;
    size_t missing = gaps->probes - gaps->probes_done;
    size_t losses = count_losses(gaps);
    size_t at = 0, shown = 0;

    ck_page_print(page, "<p class=\"figure\"><b>%'zu</b> of %'zu probe%s did not run</p>\n", missing, gaps->probes,
                  ck_gather_plural(gaps->probes));
    if (gaps->gaps == 0)
        ck_page_print(page, "<p class=\"none\">Every probe that applies has looked at all that it was given.</p>\n");
    ck_page_print(page, "<ul class=\"gaps\">");
    if (losses > FIRST_LOSSES) {
        ck_page_print(page, "<li><b>%'zu repositories</b><span>without a document that can be read</span></li>\n",
                      losses);
        at = losses;
        shown = 1;
    }
    for (; at < gaps->gaps && shown < FIRST_GAPS; at++, shown++) {
        ck_page_print(page, "<li>");
        ck_gather_gaps_one(page, view, &gaps->items[at]);
        ck_page_print(page, "</li>\n");
    }
    ck_page_print(page, "</ul>\n");
    if (gaps->gaps > at)
        ck_page_print(page, "<p class=\"more\"><a href=\"#gaps\">and %'zu more</a></p>\n", gaps->gaps - at);
    else if (gaps->count > 0)
        ck_page_print(page, "<p class=\"more\"><a href=\"#gaps\">why, and what to install</a></p>\n");
}
