/*
 * severity.h - what to look at first: the findings, grouped by kind, in their order.
 */
#ifndef CK_GATHER_VIEW_SEVERITY_H
#define CK_GATHER_VIEW_SEVERITY_H

#include "gather/gather.h"

/* From the worst to the least; the names are those of evidence.h. */
enum ck_severity { CK_SEVERITY_CRITICAL, CK_SEVERITY_HIGH, CK_SEVERITY_MEDIUM, CK_SEVERITY_LOW, CK_SEVERITY_INFO };

#define CK_KINDS_MAX 256 /* later kinds are left out */

struct ck_finding_kind {
    enum ck_severity severity;
    const char *id;      /* of the first one; "" if it has none */
    const json_t *first; /* the first one in the list */
    size_t count;        /* of findings of this kind, also those that a probe's list does not have */
};

struct ck_finding_kinds {
    struct ck_finding_kind items[CK_KINDS_MAX];
    size_t count;
};

/*
 * In the order of the list of findings. Those that a baseline has are left out, and so are kinds
 * that are only info.
 */
void ck_severity_collect_kinds(struct ck_finding_kinds *kinds, const struct ck_gathering *gathering);

const char *ck_severity_name(enum ck_severity severity);

/* Of a finding. An absent or unknown severity is info, as evidence.h says. */
enum ck_severity ck_severity_of(const json_t *finding);

/* The severity of that name; false if there is none. */
bool ck_severity_find(const char *name, enum ck_severity *ret_severity);

#endif
