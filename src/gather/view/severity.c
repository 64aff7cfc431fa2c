/*
 * severity.c - groups findings by their id: one noisy rule must not hide the others. The first
 * finding of each id is shown for all of them; see severity.h.
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

/* An absent or unknown severity is info, as evidence.h says. */
static enum ck_severity severity_of(const json_t *finding)
{
    const char *name = json_string_value(json_object_get(finding, "severity"));

    for (unsigned i = 0; name && i < NAME_COUNT; i++)
        if (strcmp(name, names[i]) == 0)
            return (enum ck_severity)i;
    return CK_SEVERITY_INFO;
}

/* A finding without an id is never grouped with another. */
static bool is_of_kind(const struct ck_finding_kind *kind, enum ck_severity severity, const json_t *finding)
{
    const char *id = json_string_value(json_object_get(finding, "id"));
    const char *other = json_string_value(json_object_get(kind->first, "id"));

    return kind->severity == severity && id && other && strcmp(id, other) == 0;
}

/* A rule may have findings of several severities: each severity is a kind of its own. */
static void add(struct ck_finding_kinds *kinds, const struct ck_probe *probe, const json_t *finding)
{
    enum ck_severity severity = severity_of(finding);
    size_t at = 0;

    while (at < kinds->count && (kinds->items[at].probe != probe || !is_of_kind(&kinds->items[at], severity, finding)))
        at++;
    /* Full: later kinds are left out. */
    if (at == CK_KINDS_MAX)
        return;
    if (at == kinds->count)
        kinds->items[kinds->count++] = (struct ck_finding_kind){.severity = severity, .probe = probe, .first = finding};
    kinds->items[at].count++;
}

/* A long list is cut; the counts next to it are complete. */
static void take_count(struct ck_finding_kind *kind, const json_t *evidence)
{
    const char *id = json_string_value(json_object_get(kind->first, "id"));
    json_int_t count = id ? json_integer_value(json_object_get(json_object_get(evidence, "by_id"), id)) : 0;

    if (count > 0 && (uint64_t)count > kind->count)
        kind->count = (size_t)count;
}

/* Insertion sort is stable, and there are few kinds. */
static void sort(struct ck_finding_kinds *kinds)
{
    for (size_t i = 1; i < kinds->count; i++) {
        struct ck_finding_kind kind = kinds->items[i];
        size_t at = i;
        for (; at > 0 && kinds->items[at - 1].severity > kind.severity; at--)
            kinds->items[at] = kinds->items[at - 1];
        kinds->items[at] = kind;
    }
}

void ck_severity_collect_kinds(struct ck_finding_kinds *kinds, const struct ck_gathering *gathering)
{
    kinds->count = 0;
    for (size_t i = 0; i < gathering->count; i++) {
        const struct ck_probe_report *report = &gathering->reports[i];
        const json_t *findings = json_object_get(report->evidence.document, "findings");
        /*
         * Kinds of one probe are adjacent until they are sorted, so take_count finds them by index.
         */
        size_t before = kinds->count;
        for (size_t j = 0; j < json_array_size(findings); j++)
            if (json_is_object(json_array_get(findings, j)))
                add(kinds, report->probe, json_array_get(findings, j));
        for (size_t j = before; j < kinds->count; j++)
            take_count(&kinds->items[j], report->evidence.document);
    }
    sort(kinds);
}
