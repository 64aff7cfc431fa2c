/*
 * baseline.c - see baseline.h.
 */
#include "gather/findings/baseline.h"

#include "front/baseline_file.h"
#include "front/text.h"
#include "gather/view/severity.h"

#include <errno.h>

#define REMEDY "make one with 'chokepoint gather --out FILE'"

/* The worst one, if two findings have the same fingerprint. */
static int add(json_t *severities, const char *fingerprint, int severity)
{
    const json_t *before = json_object_get(severities, fingerprint);

    if (before && json_integer_value(before) <= severity)
        return 0;
    return json_object_set_new(severities, fingerprint, json_integer(severity));
}

static int fill(const json_t *document, const char *path, struct ck_baseline *baseline, struct choke_error *error)
{
    const json_t *findings = json_object_get(document, "findings");
    int bad = 0;

    if (json_integer_value(json_object_get(document, "format")) != 1 || !json_is_array(findings))
        return ck_baseline_file_refuse(path, "it is not a document of this gather; " REMEDY, error);
    if (json_is_true(json_object_get(document, "cancelled")))
        return ck_baseline_file_refuse(path, "the gather that wrote it was cancelled; make a complete one", error);
    for (size_t i = 0; i < json_array_size(findings); i++) {
        const json_t *finding = json_array_get(findings, i);
        const char *fingerprint = json_string_value(json_object_get(finding, "fingerprint"));
        if (fingerprint)
            bad |= add(baseline->severities, fingerprint, (int)ck_severity_of(finding));
    }
    return bad ? ck_text_error(error, CHOKE_NONE, ENOMEM, "out of memory") : 0;
}

int ck_baseline_load(const char *path, struct ck_baseline *ret_baseline, struct choke_error *error)
{
    struct ck_baseline baseline = {.severities = json_object()};
    json_t *document = ck_baseline_file_load(path, REMEDY, error);
    int r = document ? fill(document, path, &baseline, error) : -EINVAL;

    json_decref(document);
    if (r < 0)
        ck_baseline_done(&baseline);
    *ret_baseline = baseline;
    return r;
}

bool ck_baseline_has(const struct ck_baseline *baseline, const char *fingerprint, int severity)
{
    const json_t *known = baseline ? json_object_get(baseline->severities, fingerprint) : NULL;
    return known && json_integer_value(known) <= severity;
}

void ck_baseline_done(struct ck_baseline *baseline)
{
    json_decref(baseline->severities);
    *baseline = (struct ck_baseline){0};
}
