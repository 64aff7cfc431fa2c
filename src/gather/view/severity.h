/*
 * severity.h - what to look at first: the findings of all probes, grouped by kind, worst kinds
 * first.
 */
#ifndef CK_GATHER_VIEW_SEVERITY_H
#define CK_GATHER_VIEW_SEVERITY_H

#include "gather/gather.h"

/* From the worst to the least; the names are those of evidence.h. */
enum ck_severity { CK_SEVERITY_CRITICAL, CK_SEVERITY_HIGH, CK_SEVERITY_MEDIUM, CK_SEVERITY_LOW, CK_SEVERITY_INFO };

#define CK_KINDS_MAX 256 /* later kinds are left out */

struct ck_finding_kind {
    enum ck_severity severity;
    const struct ck_probe *probe;
    const json_t *first; /* the first one in the probe's list */
    size_t count;        /* of findings of this kind, also those that the list does not have */
};

struct ck_finding_kinds {
    struct ck_finding_kind items[CK_KINDS_MAX];
    size_t count;
};

/* Kinds of the same severity are in the order of the probes and of their lists. */
void ck_severity_collect_kinds(struct ck_finding_kinds *kinds, const struct ck_gathering *gathering);

const char *ck_severity_name(enum ck_severity severity);

#endif
