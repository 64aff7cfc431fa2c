/*
 * baseline.c - see baseline.h.
 */
#include "gather/findings/baseline.h"

#include "base/file.h"
#include "front/text.h"
#include "gather/view/severity.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX ((size_t)256 << 20) /* bytes of a document */

static int fail(const char *path, const char *why, struct choke_error *error)
{
    return ck_text_error(error, CHOKE_INVALID, EINVAL, "cannot use baseline '%s': %s", CK_TEXT_SAFE(path), why);
}

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
        return fail(path, "it is not a document of this gather; make one with 'chokepoint gather --out FILE'", error);
    if (json_is_true(json_object_get(document, "cancelled")))
        return fail(path, "the gather that wrote it was cancelled; make a complete one", error);
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
    size_t length = 0;
    char *text = NULL;
    int r = ck_file_read(AT_FDCWD, path, 0, FILE_MAX, &text, &length);

    if (r < 0) {
        ck_baseline_done(&baseline);
        return fail(path, r == -EINVAL ? "it is not a regular file" : strerror(-r), error);
    }
    /* jansson's message is not used: it quotes the file. */
    json_t *document = json_loadb(text, length, 0, NULL);
    free(text);
    r = document ? fill(document, path, &baseline, error) : fail(path, "it is not JSON", error);
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
