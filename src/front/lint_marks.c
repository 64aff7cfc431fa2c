/*
 * lint_marks.c - see lint_marks.h.
 */
#include "front/lint_marks.h"

#include "front/baseline_file.h"
#include "front/text.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REMEDY "make one with 'chokepoint lint --format json'"

/* An object with the fingerprints of a report; NULL and *error if it is not one. */
static json_t *load(const char *path, struct choke_error *error)
{
    json_t *report = ck_baseline_file_load(path, REMEDY, error);
    if (!report)
        return NULL;
    const json_t *findings = json_object_get(report, "findings");
    json_t *known = json_is_array(findings) && json_object_get(report, "clean") ? json_object() : NULL;
    if (!known)
        (void)ck_baseline_file_refuse(path, "it is not a report of lint; " REMEDY, error);
    for (size_t i = 0; known && i < json_array_size(findings); i++) {
        const char *name = json_string_value(json_object_get(json_array_get(findings, i), "fingerprint"));
        if (name)
            (void)json_object_set_new(known, name, json_true());
    }
    json_decref(report);
    return known;
}

/*
 * The occurrence makes two equal lines two findings: the baseline knows the first and not the copy.
 * Findings come in the order of files and lines, so the counts of one file are enough.
 */
static void name(const struct choke_lint_finding *finding, json_t *seen, char dst[CK_FINGERPRINT_SIZE])
{
    char line[1024], again[32], key[sizeof(line) + 128];
    const char *parts[] = {"lint 1", finding->rule->id, finding->name, line, again};

    (void)ck_fingerprint_line(line, sizeof(line), finding->source ? finding->source : "");
    (void)snprintf(key, sizeof(key), "%s %s", finding->rule->id, line);
    json_int_t before = json_integer_value(json_object_get(seen, key));
    (void)json_object_set_new_nocheck(seen, key, json_integer(before + 1));
    (void)snprintf(again, sizeof(again), "%lld", (long long)before);
    ck_fingerprint_make(dst, parts, sizeof(parts) / sizeof(parts[0]));
}

static void mark_all(const struct choke_lint_report *report, const json_t *known, json_t *seen,
                     struct ck_lint_marks *marks)
{
    for (size_t i = 0; i < report->finding_count; i++) {
        const struct choke_lint_finding *finding = &report->findings[i];
        struct ck_lint_mark *mark = &marks->items[i];
        if (i > 0 && strcmp(report->findings[i - 1].name, finding->name) != 0)
            (void)json_object_clear(seen);
        name(finding, seen, mark->fingerprint);
        mark->known = !!json_object_get(known, mark->fingerprint);
        if (!mark->known)
            continue;
        marks->known++;
        marks->errors -= finding->severity == CHOKE_SEVERITY_ERROR;
        marks->warnings -= finding->severity == CHOKE_SEVERITY_WARNING;
        marks->notes -= finding->severity == CHOKE_SEVERITY_NOTE;
    }
}

int ck_lint_marks_make(const struct choke_lint_report *report, const char *baseline, struct ck_lint_marks *ret_marks,
                       struct choke_error *error)
{
    struct ck_lint_marks marks = {
        .errors = report->errors, .warnings = report->warnings, .notes = report->notes, .has_baseline = !!baseline};
    json_t *known = baseline ? load(baseline, error) : NULL;

    if (baseline && !known)
        return -EINVAL;
    json_t *seen = json_object();
    marks.items = calloc(report->finding_count + 1, sizeof(*marks.items));
    if (seen && marks.items)
        mark_all(report, known, seen, &marks);
    int r = seen && marks.items ? 0 : ck_text_error(error, CHOKE_NONE, ENOMEM, "out of memory");
    json_decref(known);
    json_decref(seen);
    if (r < 0)
        ck_lint_marks_done(&marks);
    *ret_marks = marks;
    return r;
}

void ck_lint_marks_done(struct ck_lint_marks *marks)
{
    free(marks->items);
    *marks = (struct ck_lint_marks){0};
}
