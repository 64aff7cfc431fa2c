/*
 * severity.c - groups findings by their rule: one noisy rule must not hide the others. A rule for
 * one more language has an id of its own and says the same, so it is the same kind. The first
 * finding of each kind is shown for all of them; see severity.h.
 */
#include "gather/view/severity.h"

#include <string.h>

/* The order is that of enum ck_severity. */
static const char *const names[] = {"critical", "high", "medium", "low", "info"};
#define NAME_COUNT (sizeof(names) / sizeof(names[0]))

const char *ck_severity_name(enum ck_severity severity)
{
    return names[severity];
}

bool ck_severity_find(const char *name, enum ck_severity *ret_severity)
{
    for (unsigned i = 0; i < NAME_COUNT; i++)
        if (strcmp(name, names[i]) == 0) {
            *ret_severity = (enum ck_severity)i;
            return true;
        }
    return false;
}

enum ck_severity ck_severity_of(const json_t *finding)
{
    const char *name = json_string_value(json_object_get(finding, "severity"));
    enum ck_severity severity = CK_SEVERITY_INFO;

    return name && ck_severity_find(name, &severity) ? severity : CK_SEVERITY_INFO;
}

static bool is_same(const char *one, const char *other)
{
    return one && other && one[0] != '\0' && strcmp(one, other) == 0;
}

static bool is_of_kind(const struct ck_finding_kind *kind, const json_t *finding)
{
    return is_same(kind->id, json_string_value(json_object_get(finding, "id"))) ||
           is_same(json_string_value(json_object_get(kind->first, "message")),
                   json_string_value(json_object_get(finding, "message")));
}

/* A rule may have findings of several severities: each severity is a kind of its own. */
static void add(struct ck_finding_kinds *kinds, const json_t *finding)
{
    const char *id = json_string_value(json_object_get(finding, "id"));
    enum ck_severity severity = ck_severity_of(finding);
    size_t at = 0;

    while (at < kinds->count && (kinds->items[at].severity != severity || !is_of_kind(&kinds->items[at], finding)))
        at++;
    /* Full: later kinds are left out. */
    if (at == CK_KINDS_MAX)
        return;
    if (at == kinds->count)
        kinds->items[kinds->count++] =
            (struct ck_finding_kind){.severity = severity, .id = id ? id : "", .first = finding};
    kinds->items[at].count++;
}

/*
 * A long list of a probe is cut; the counts next to it are complete. The counts know nothing of
 * places and baselines, so they are used only for a list that may lack findings of the kind.
 */
static void take_count(struct ck_finding_kind *kind, const struct ck_gathering *gathering)
{
    for (size_t i = 0; i < gathering->count; i++) {
        const json_t *evidence = gathering->reports[i].evidence.document;
        json_int_t count = json_integer_value(json_object_get(json_object_get(evidence, "by_id"), kind->id));
        const char *cut = json_string_value(json_object_get(evidence, "findings_cut"));
        enum ck_severity worst = CK_SEVERITY_INFO;
        if (cut && ck_severity_find(cut, &worst) && worst <= kind->severity && count > 0 &&
            (uint64_t)count > kind->count)
            kind->count = (size_t)count;
    }
}

void ck_severity_collect_kinds(struct ck_finding_kinds *kinds, const struct ck_gathering *gathering)
{
    kinds->count = 0;
    for (size_t i = 0; i < json_array_size(gathering->findings); i++) {
        const json_t *finding = json_array_get(gathering->findings, i);
        if (ck_severity_of(finding) < CK_SEVERITY_INFO && !json_is_true(json_object_get(finding, "known")))
            add(kinds, finding);
    }
    /* A baseline has an unknown part of what was cut. */
    for (size_t i = 0; i < kinds->count && gathering->findings_known == 0; i++)
        take_count(&kinds->items[i], gathering);
}
