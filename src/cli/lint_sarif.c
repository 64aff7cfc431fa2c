/*
 * lint_sarif.c - prints findings as SARIF 2.1.0, the format of code scanning services.
 *
 * A path is a URI relative to the top of the tree. Bytes that a URI cannot contain are written as
 * %XX, so any file name works. Columns count characters; this must be declared because the default
 * is UTF-16. The end column of a region is the first one after it, as in the report.
 */
#include "cli/lint.h"
#include "cli/review.h"

#include <stdlib.h>
#include <string.h>

#define SCHEMA "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
#define BASE "SRCROOT" /* the name that results use for the top of the tree */

/* Returns object, or NULL if one of its members could not be made. */
static json_t *whole(json_t *object, int bad)
{
    if (!bad)
        return object;
    json_decref(object);
    return NULL;
}

/* SARIF wraps every message in an object with the member "text". */
static json_t *text_object(const char *text)
{
    json_t *object = json_object();
    return whole(object, json_object_set_new(object, "text", ck_jansson_text(text)));
}

/* suffix is "/" for a directory. */
static json_t *uri(const char *prefix, const char *path, const char *suffix)
{
    /* The unreserved characters of RFC 3986, and the slash that separates the names of a path. */
    static const char bare[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";
    static const char hex[] = "0123456789ABCDEF";
    /* Three bytes for each byte, if all are escaped. */
    char *text = malloc(strlen(prefix) + 3 * strlen(path) + strlen(suffix) + 1);
    if (!text)
        return NULL;

    size_t used = strlen(prefix);
    memcpy(text, prefix, used);
    for (; *path != '\0'; path++) {
        /* *path is not NUL here, which strchr would also find. */
        if (strchr(bare, *path)) {
            text[used++] = *path;
            continue;
        }
        text[used++] = '%';
        text[used++] = hex[(unsigned char)*path >> 4];
        text[used++] = hex[(unsigned char)*path & 15];
    }
    memcpy(text + used, suffix, strlen(suffix) + 1);
    json_t *string = json_string(text);
    free(text);
    return string;
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
    bad |= json_object_set_new(object, "shortDescription", text_object(rule->why));
    bad |= json_object_set_new(object, "help", text_object(rule->instead));
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
static json_t *location_object(const struct choke_lint_finding *finding)
{
    json_t *artifact = json_object();
    json_t *physical = json_object();
    json_t *object = json_object();
    int bad = json_object_set_new(artifact, "uri", uri("", finding->name, ""));

    bad |= json_object_set_new(artifact, "uriBaseId", ck_jansson_text(BASE));
    bad |= json_object_set_new(physical, "artifactLocation", artifact);
    if (finding->line != 0)
        bad |= json_object_set_new(physical, "region", region_object(finding));
    bad |= json_object_set_new(object, "physicalLocation", physical);
    return whole(object, bad);
}

static json_t *result_object(const struct choke_lint_report *report, const struct choke_lint_finding *finding)
{
    json_t *object = json_object();
    json_t *locations = json_array();
    int bad = json_array_append_new(locations, location_object(finding));

    bad |= json_object_set_new(object, "ruleId", ck_jansson_text(finding->rule->id));
    /* Finds the rule in the list of tool_object, which has the same order. */
    bad |= json_object_set_new(object, "ruleIndex", json_integer(finding->rule - report->rules));
    bad |= json_object_set_new(object, "level", ck_jansson_text(level(finding->severity)));
    bad |= json_object_set_new(object, "message", text_object(finding->message));
    bad |= json_object_set_new(object, "locations", locations);
    return whole(object, bad);
}

/* All rules are listed, also those without findings: ruleIndex is an index into the whole list. */
static json_t *tool_object(const struct choke_lint_report *report)
{
    json_t *driver = json_object();
    json_t *object = json_object();
    json_t *rules = json_array();
    int bad = 0;

    for (size_t i = 0; i < report->rule_count; i++)
        bad |= json_array_append_new(rules, rule_object(&report->rules[i]));
    bad |= json_object_set_new(driver, "name", ck_jansson_text("chokepoint lint"));
    bad |= json_object_set_new(driver, "version", ck_jansson_text(choke_version()));
    bad |= json_object_set_new(driver, "rules", rules);
    bad |= json_object_set_new(object, "driver", driver);
    return whole(object, bad);
}

/* The base URI must end in a slash: relative URIs are resolved against it. */
static json_t *bases_object(const struct choke_lint_report *report)
{
    json_t *base = json_object();
    json_t *object = json_object();
    bool slash = report->top[strlen(report->top) - 1] == '/';
    int bad = json_object_set_new(base, "uri", uri("file://", report->top, slash ? "" : "/"));

    bad |= json_object_set_new(object, BASE, base);
    return whole(object, bad);
}

static json_t *run_object(const struct choke_lint_report *report)
{
    json_t *object = json_object();
    json_t *results = json_array();
    int bad = 0;

    for (size_t i = 0; i < report->finding_count; i++)
        bad |= json_array_append_new(results, result_object(report, &report->findings[i]));
    bad |= json_object_set_new(object, "tool", tool_object(report));
    bad |= json_object_set_new(object, "columnKind", ck_jansson_text("unicodeCodePoints"));
    bad |= json_object_set_new(object, "originalUriBaseIds", bases_object(report));
    bad |= json_object_set_new(object, "results", results);
    return whole(object, bad);
}

int ck_lint_sarif(const struct choke_lint_report *report, int status)
{
    json_t *object = json_object();
    json_t *runs = json_array();
    int bad = json_array_append_new(runs, run_object(report));

    bad |= json_object_set_new(object, "$schema", ck_jansson_text(SCHEMA));
    bad |= json_object_set_new(object, "version", ck_jansson_text("2.1.0"));
    bad |= json_object_set_new(object, "runs", runs);
    /* whole returns NULL after a failure, and ck_review_write reports that as out of memory. */
    return ck_review_write(whole(object, bad), status);
}
