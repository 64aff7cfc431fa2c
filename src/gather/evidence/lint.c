/*
 * lint.c - the linter of the library as a probe: `inside: lint`.
 *
 * The repository has no say in it. An empty configuration is named, so none of the repository is
 * read; without a directory of decision records no waiver is valid. What .gitignore excludes is
 * left out, as in the other searches, and counted.
 *
 * The linter reports each call that goes around chokepoint. In a repository that does not use
 * chokepoint a call with a list of arguments is nothing to fix, so the severities here are those
 * of what a stranger could do with the call.
 */
#include "gather/evidence/common.h"
#include "gather/inside.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define EMPTY_CONFIG "/dev/null"
#define JOBS 2 /* threads: other probes run at the same time */

/*
 * Rules that are not listed are info: processes that are made, what cannot be decided, and what the
 * probe structural_patterns tells apart by the argument.
 */
static const struct {
    const char *rule, *severity;
} severities[] = {
    {"sh-pipe-shell", "high"},
    {"python-yaml-unsafe", "medium"},
    {"js-timer-text", "medium"},
    {"js-worker-text", "medium"},
};

static const char *severity_of(const char *rule)
{
    for (size_t i = 0; i < sizeof(severities) / sizeof(severities[0]); i++)
        if (strcmp(severities[i].rule, rule) == 0)
            return severities[i].severity;
    return "info";
}

static void add(struct ck_evidence_list *list, json_t *counts, const struct choke_lint_finding *finding)
{
    const char *id = finding->rule->id;

    /* They are about comments for a linter whose configuration is not used here. */
    if (strncmp(id, "waiver-", strlen("waiver-")) == 0)
        return;
    ck_evidence_count(counts, id, 1);
    const struct ck_evidence_location location = {id, severity_of(id), finding->name, strlen(finding->name),
                                                  finding->line};
    if (!ck_evidence_list_wants(list, &location))
        return;
    json_t *item = json_object();
    int bad = ck_evidence_set(item, "id", json_string(id));
    bad |= ck_evidence_set(item, "severity", json_string(severity_of(id)));
    bad |= ck_evidence_set(item, "message", ck_evidence_text(finding->message, strlen(finding->message)));
    bad |= ck_evidence_set(item, "path", ck_evidence_path(finding->name, strlen(finding->name)));
    if (finding->line != 0)
        bad |= ck_evidence_set(item, "line", json_integer(finding->line));
    list->failed |= bad != 0;
    ck_evidence_list_add(list, item);
}

static void write_headline(const struct choke_lint_report *report, const json_t *counts, struct ck_evidence *evidence)
{
    char found[64] = "nothing found", skipped[64] = "";
    /* A file that could not be read is a finding, too, and no call. */
    unsigned long long not_scanned = (unsigned long long)json_integer_value(json_object_get(counts, "not-scanned"));
    unsigned long long calls = evidence->findings - not_scanned;
    size_t rules = json_object_size(counts) - (not_scanned > 0);

    if (not_scanned > 0)
        (void)snprintf(skipped, sizeof(skipped), "; %llu not scanned", not_scanned);
    if (calls > 0)
        (void)snprintf(found, sizeof(found), "%llu call%s of %zu rule%s", calls, calls == 1 ? "" : "s", rules,
                       rules == 1 ? "" : "s");
    evidence->noun = "call";
    ck_evidence_headline(evidence, "%s in %zu file%s%s", found, report->file_count, report->file_count == 1 ? "" : "s",
                         skipped);
}

static int take_report(const struct choke_lint_report *report, struct ck_evidence *ret_evidence,
                       struct choke_error *error)
{
    struct ck_evidence_list list CK_CLEANUP_LIST = {0};
    json_t *counts CK_CLEANUP_JSON = json_object();
    json_t *document = json_object();

    for (size_t i = 0; i < report->finding_count; i++)
        add(&list, counts, &report->findings[i]);
    if (report->finding_dropped > 0)
        ck_evidence_list_drop(&list, "high"); /* no rule is worse */
    ret_evidence->findings = list.total + report->finding_dropped;
    write_headline(report, counts, ret_evidence);
    int bad = ck_evidence_set(document, "files", json_integer((json_int_t)report->file_count));
    bad |= ck_evidence_set(document, "ignored", json_integer((json_int_t)report->ignored));
    bad |= ck_evidence_set(document, "dropped", json_integer((json_int_t)report->finding_dropped));
    bad |= ck_evidence_set_counts(document, "by_id", counts);
    bad |= ck_evidence_set_list(document, "findings", &list);
    return ck_evidence_take(ret_evidence, document, bad, error);
}

/*
 * With a slash at its end a root like /proc/self/fd/3 is entered, and not taken for a symlink. The
 * linter resolves the root by its name; if the directory was replaced meanwhile, the report is of
 * another tree, but never of anything outside of a directory that the caller named.
 */
static int work(const struct ck_inside_call *call, struct ck_evidence *ret_evidence, struct choke_error *error)
{
    struct choke_lint_report *report = NULL;
    char *top = NULL;

    if (asprintf(&top, "%s/", call->root) < 0)
        return ck_evidence_take(ret_evidence, NULL, -1, error);
    const char *paths[] = {top, NULL};
    const struct choke_lint_options options = {
        .paths = paths, .root = top, .config_path = EMPTY_CONFIG, .jobs = JOBS, .stop = call->stop, .data = call->data};
    int r = choke_lint(&options, &report, error);
    if (r == 0)
        r = take_report(report, ret_evidence, error);
    choke_lint_report_free(report);
    free(top);
    return r;
}

const struct ck_inside ck_inside_lint = {.name = "lint", .work = work};
