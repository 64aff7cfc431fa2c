/*
 * lint_report_json.c - see lint_report_json.h.
 */
#include "front/lint_report_json.h"

#include "front/jansson.h"

#define REPORT_VERSION 1

/* json_int_t has 63 bits; no count comes near that. */
static int set_count(json_t *object, const char *key, uint64_t count)
{
    return json_object_set_new(object, key, json_integer((json_int_t)count));
}

/* Null if the finding is about the whole file. */
static int set_position(json_t *object, const struct choke_lint_finding *finding)
{
    const struct {
        const char *key;
        unsigned value;
    } positions[] = {
        {"line", finding->line},
        {"column", finding->column},
        {"byte_column", finding->byte_column},
        {"end_line", finding->end_line},
        {"end_column", finding->end_column},
        {"end_byte_column", finding->end_byte_column},
    };
    /*
     * json_object_set_new takes the value and returns -1 if the object or the value is NULL. So out
     * of memory needs one check, at the end.
     */
    int bad = 0;

    for (size_t i = 0; i < sizeof(positions) / sizeof(positions[0]); i++)
        bad |= json_object_set_new(object, positions[i].key,
                                   finding->line != 0 ? json_integer(positions[i].value) : json_null());
    return bad;
}

/*
 * Paths, names and source lines may be any bytes, so ck_jansson_bytes; the rest is text of the
 * library.
 */
static json_t *finding_object(const struct choke_lint_finding *finding, const struct ck_lint_mark *mark)
{
    json_t *object = json_object();
    int bad = 0;

    bad |= json_object_set_new(object, "severity", ck_jansson_text(choke_severity_name(finding->severity)));
    bad |= json_object_set_new(object, "rule", ck_jansson_text(finding->rule->id));
    bad |= json_object_set_new(object, "path", ck_jansson_bytes(finding->path));
    bad |= json_object_set_new(object, "name", ck_jansson_bytes(finding->name));
    bad |= set_position(object, finding);
    bad |= json_object_set_new(object, "found", ck_jansson_bytes(finding->found));
    bad |= json_object_set_new(object, "message", ck_jansson_text(finding->message));
    bad |= json_object_set_new(object, "instead", ck_jansson_text(finding->rule->instead));
    bad |= json_object_set_new(object, "source", ck_jansson_bytes(finding->source));
    bad |= json_object_set_new(object, "fingerprint", ck_jansson_text(mark->fingerprint));
    bad |= json_object_set_new(object, "known", json_boolean(mark->known));
    /* All or nothing: a finding without some of its members would mislead a script. */
    if (!bad)
        return object;
    json_decref(object);
    return NULL;
}

/* A file that was not read, and why: a reader must not take it for a clean one. */
static json_t *skip_object(const struct choke_lint_skip *skip)
{
    json_t *object = json_object();
    int bad = 0;

    bad |= json_object_set_new(object, "path", ck_jansson_bytes(skip->path));
    bad |= json_object_set_new(object, "reason", ck_jansson_text(skip->reason));
    if (!bad)
        return object;
    json_decref(object);
    return NULL;
}

/*
 * dropped: found too, but not listed, because there were too many. The other counts:
 * chokepoint-lint.h.
 */
static int set_counts(json_t *object, const struct choke_lint_report *report)
{
    int bad = 0;

    bad |= set_count(object, "errors", report->errors);
    bad |= set_count(object, "warnings", report->warnings);
    bad |= set_count(object, "notes", report->notes);
    bad |= set_count(object, "dropped", report->finding_dropped);
    bad |= set_count(object, "waived", report->waived);
    bad |= set_count(object, "allowed", report->allowed);
    bad |= set_count(object, "files", report->file_count);
    bad |= set_count(object, "bytes", report->byte_count);
    bad |= set_count(object, "ignored", report->ignored);
    bad |= set_count(object, "excluded", report->excluded);
    return bad;
}

/*
 * clean is what the exit status says: no error and no warning that a baseline lacks, and no finding
 * was dropped.
 */
json_t *ck_lint_report_json_make(const struct choke_lint_report *report, const struct ck_lint_marks *marks, size_t most,
                                 bool clean)
{
    json_t *object = json_object();
    json_t *findings = json_array();
    json_t *skips = json_array();
    int bad = 0;

    for (size_t i = 0; i < report->finding_count && i < most; i++)
        /* A NULL from finding_object is an error of the append too. */
        bad |= json_array_append_new(findings, finding_object(&report->findings[i], &marks->items[i]));
    for (size_t i = 0; i < report->skip_count && i < most; i++)
        bad |= json_array_append_new(skips, skip_object(&report->skips[i]));
    bad |= json_object_set_new(object, "version", json_integer(REPORT_VERSION));
    bad |= json_object_set_new(object, "clean", json_boolean(clean));
    bad |= json_object_set_new(object, "top", ck_jansson_bytes(report->top));
    bad |= json_object_set_new(object, "config", ck_jansson_bytes(report->config));
    bad |= set_counts(object, report);
    bad |= set_count(object, "known", marks->known);
    bad |= json_object_set_new(object, "findings", findings);
    bad |= json_object_set_new(object, "skipped", skips);
    if (!bad)
        return object;
    /* json_object_set_new has taken findings and skips, or freed them if it failed. */
    json_decref(object);
    return NULL;
}
