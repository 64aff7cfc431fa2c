/*
 * lint_sarif.c - prints findings as SARIF 2.1.0, the format of code scanning services; see
 * front/sarif.h. The end column of a region is the first one after it, as in the report.
 */
#include "cli/lint.h"
#include "cli/review.h"
#include "front/sarif.h"

/* Returns object, or NULL if one of its members could not be made. */
static json_t *whole(json_t *object, int bad)
{
    if (!bad)
        return object;
    json_decref(object);
    return NULL;
}

static const char *level(enum choke_severity severity)
{
    return choke_severity_name(severity); /* SARIF has the same three levels */
}

/* A finding may have another severity than its rule; so a result has its own level. */
static json_t *rule_object(const struct choke_lint_rule *rule)
{
    json_t *object = json_object();
    json_t *usual = json_object();
    int bad = json_object_set_new(usual, "level", ck_jansson_text(level(rule->severity)));

    bad |= json_object_set_new(object, "id", ck_jansson_text(rule->id));
    bad |= json_object_set_new(object, "shortDescription", ck_sarif_text(rule->why));
    bad |= json_object_set_new(object, "help", ck_sarif_text(rule->instead));
    bad |= json_object_set_new(object, "defaultConfiguration", usual);
    return whole(object, bad);
}

/* SARIF counts lines and columns from 1, as the report does. */
static json_t *region_object(const struct choke_lint_finding *finding)
{
    json_t *object = json_object();
    int bad = json_object_set_new(object, "startLine", json_integer(finding->line));

    bad |= json_object_set_new(object, "startColumn", json_integer(finding->column));
    bad |= json_object_set_new(object, "endLine", json_integer(finding->end_line));
    bad |= json_object_set_new(object, "endColumn", json_integer(finding->end_column));
    return whole(object, bad);
}

/* A finding about the whole file has no region: SARIF has no line 0. */
static json_t *result_object(const struct choke_lint_report *report, const struct ck_lint_marks *marks, size_t index)
{
    const struct choke_lint_finding *finding = &report->findings[index];
    json_t *object = json_object();
    json_t *locations = json_array();
    json_t *region = finding->line != 0 ? region_object(finding) : NULL;
    int bad = json_array_append_new(locations, ck_sarif_location(finding->name, region));

    bad |= json_object_set_new(object, "ruleId", ck_jansson_text(finding->rule->id));
    /* Finds the rule in the list of rules, which has the same order. */
    bad |= json_object_set_new(object, "ruleIndex", json_integer(finding->rule - report->rules));
    bad |= json_object_set_new(object, "level", ck_jansson_text(level(finding->severity)));
    bad |= json_object_set_new(object, "message", ck_sarif_text(finding->message));
    bad |= json_object_set_new(object, "locations", locations);
    bad |= json_object_set_new(object, "partialFingerprints", ck_sarif_fingerprints(marks->items[index].fingerprint));
    if (marks->has_baseline)
        bad |= json_object_set_new(object, "baselineState", ck_sarif_baseline_state(marks->items[index].known));
    return whole(object, bad);
}

/* All rules are listed, also those without findings: ruleIndex is an index into the whole list. */
int ck_lint_sarif(const struct choke_lint_report *report, const struct ck_lint_marks *marks, int status)
{
    json_t *rules = json_array();
    json_t *results = json_array();
    int bad = 0;

    for (size_t i = 0; i < report->rule_count; i++)
        bad |= json_array_append_new(rules, rule_object(&report->rules[i]));
    for (size_t i = 0; i < report->finding_count; i++)
        bad |= json_array_append_new(results, result_object(report, marks, i));
    /* ck_review_write reports NULL as out of memory. */
    return ck_review_write(whole(ck_sarif_log("chokepoint lint", report->top, rules, results), bad), status);
}
