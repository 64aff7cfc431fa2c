/* gather_tables.c - the tables that are readable without a script. */
#include "report/bar.h"
#include "report/gather_view.h"

static void print_finding(struct ck_page *page, const struct ck_gather_view *view, const struct ck_found_item *item)
{
    const struct ck_look_finding *finding = item->finding;
    const char *severity = ck_look_severity_name(finding->severity);

    ck_page_print(page, "<tr><td><i class=\"dot back-%s\"></i>%s</td>", severity, severity);
    if (!view->only)
        ck_page_print(page, "<td>%s</td>", ck_gather_page_name(view, item->look));
    ck_page_print(page, "<td>%s<br><small class=\"code\">%s</small></td><td class=\"code path\">%s",
                  ck_gather_page_text(view, finding->message), ck_gather_page_text(view, finding->rule),
                  ck_gather_page_text(view, finding->path));
    if (finding->line > 0)
        ck_page_print(page, ":%zu", (size_t)finding->line);
    ck_page_print(page, "</td><td>%s</td></tr>\n", ck_gather_page_text(view, finding->seen_by));
}

void ck_gather_tables_findings(struct ck_page *page, const void *data)
{
    const struct ck_gather_view *view = data;
    size_t shown = view->found.here < CK_GATHER_STATIC_MAX ? view->found.here : CK_GATHER_STATIC_MAX;

    if (view->found.here == 0) {
        ck_page_print(page, "<p class=\"none\">There are no findings.</p>\n");
        return;
    }
    if (shown < view->found.here)
        ck_page_print(page, "<p>The first %'zu of %'zu findings, the worst first.</p>\n", shown, view->found.here);
    ck_page_print(page, "<table class=\"plain\"><thead><tr><th>Severity</th>");
    if (!view->only)
        ck_page_print(page, "<th>Repository</th>");
    ck_page_print(page, "<th>Finding</th><th>Where</th><th>Seen by</th></tr></thead>\n<tbody>");
    for (size_t i = 0; i < shown; i++)
        print_finding(page, view, &view->found.items[i]);
    ck_page_print(page, "</tbody></table>\n");
}

/* ---- repositories ---- */

static void print_repository(struct ck_page *page, const struct ck_gather_view *view, const struct ck_look *look,
                             const struct ck_look *before)
{
    size_t total = 0, earlier = 0;

    for (unsigned s = 0; s < CK_LOOK_SEVERITIES; s++) {
        total += (size_t)look->by_severity[s];
        earlier += before ? (size_t)before->by_severity[s] : 0;
    }
    ck_page_print(
        page,
        "<tr><th scope=\"row\"><a href=\"#findings\" data-column=\"repository\" data-value=\"%s\" title=\"%s\">%s</a></th><td>",
        ck_gather_page_text(view, look->name), ck_gather_page_text(view, look->name), ck_gather_page_name(view, look));
    ck_gather_lead_date(page, look);
    ck_page_print(
        page,
        "</td><td class=\"n\" data-label=\"Files\">%'zu</td><td class=\"n\" data-label=\"Findings\">%'zu</td><td>",
        (size_t)look->files, total);
    ck_bar_words(page, &ck_bar_severities, look->by_severity);
    ck_page_print(page, "</td>");
    if (before)
        ck_page_print(page, "<td class=\"n\" data-label=\"Before\">%'zu</td>", earlier);
    else if (view->looks->compared > 0)
        ck_page_print(page, "<td></td>");
    ck_page_print(page, "</tr>\n");
}

/* In the order of the chart, then those without findings. */
void ck_gather_tables_repositories(struct ck_page *page, const void *data)
{
    const struct ck_gather_view *view = data;
    const struct ck_looks *looks = view->looks;
    size_t shown = 0;

    if (view->only)
        return;
    ck_page_print(
        page, "<section class=\"card wide\" id=\"repositories\"><h2>Repositories</h2>\n<table class=\"plain\"><thead>"
              "<tr><th>Repository</th><th>Looked at</th><th class=\"n\">Files</th><th class=\"n\">Findings</th>"
              "<th>By severity</th>");
    if (looks->compared > 0)
        ck_page_print(page, "<th class=\"n\">Before</th>");
    ck_page_print(page, "</tr></thead>\n<tbody>");
    for (size_t i = 0; i < view->repositories.count && shown < CK_GATHER_STATIC_MAX; i++, shown++) {
        const struct ck_look *look = view->repositories.items[i].first->look;
        print_repository(page, view, look, ck_looks_before(looks, (size_t)(look - looks->items)));
    }
    for (size_t i = ck_looks_next(looks, 0); i < looks->count && shown < CK_GATHER_STATIC_MAX;
         i = ck_looks_next(looks, i + 1))
        if (looks->items[i].findings.count == 0) {
            print_repository(page, view, &looks->items[i], ck_looks_before(looks, i));
            shown++;
        }
    ck_page_print(page, "</tbody></table>\n");
    if (shown < looks->repositories)
        ck_page_print(page, "<p class=\"more\">and %'zu more, with fewer findings</p>\n", looks->repositories - shown);
    ck_page_print(page, "</section>\n");
}

/* ---- probes ---- */

static void print_probe(struct ck_page *page, const struct ck_gather_view *view, const struct ck_look_probe *probe)
{
    ck_page_print(page, "<tr><th scope=\"row\">%s</th><td>%s</td><td><span class=\"state %s\">%s</span></td><td>%s",
                  ck_gather_page_text(view, probe->name), ck_gather_page_text(view, probe->tool),
                  probe->ok ? "good" : "off", ck_gather_page_text(view, probe->state),
                  ck_gather_page_text(view, probe->ok ? probe->headline : probe->reason));
    ck_page_print(page, "<br><small>%s</small></td>", ck_gather_page_text(view, probe->why));
    if (probe->duration_ms > 0)
        ck_page_print(page, "<td class=\"n\" data-label=\"Time\">%'zu ms</td></tr>\n", (size_t)probe->duration_ms);
    else
        ck_page_print(page, "<td></td></tr>\n");
}

/* Of one repository. Of many, the gaps and the calls say what differs. */
void ck_gather_tables_probes(struct ck_page *page, const void *data)
{
    const struct ck_gather_view *view = data;

    if (!view->only)
        return;
    ck_page_print(
        page,
        "<section class=\"card wide\" id=\"probes\"><h2>Probes</h2>\n<p class=\"lead\">What was asked, with which "
        "tool, and what the answer was.</p>\n<table class=\"plain\"><thead><tr><th>Probe</th><th>Tool</th>"
        "<th>State</th><th>Answer</th><th class=\"n\">Time</th></tr></thead>\n<tbody>");
    for (size_t i = 0; i < view->only->probes.count && i < CK_GATHER_STATIC_MAX; i++)
        print_probe(page, view, &view->only->probes.items[i]);
    ck_page_print(page, "</tbody></table></section>\n");
}
