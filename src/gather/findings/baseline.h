/*
 * baseline.h - the findings of an earlier document. What it has is known; only what is new counts
 * for --fail-on.
 */
#ifndef CK_GATHER_FINDINGS_BASELINE_H
#define CK_GATHER_FINDINGS_BASELINE_H

#include "chokepoint.h"

#include <jansson.h>

struct ck_baseline {
    json_t *severities; /* by fingerprint: the worst severity, an integer as in enum ck_severity */
};

/*
 * Reads a document that `gather --out` wrote. Refused, with a message: a file that is not such a
 * document, and one that a signal cut short, because it lacks what is known.
 */
int ck_baseline_load(const char *path, struct ck_baseline *ret_baseline, struct choke_error *error);

/*
 * Does it have the finding, at this severity or a worse one? A finding that has become worse is
 * new. baseline may be NULL, or zero-filled: it has nothing.
 */
bool ck_baseline_has(const struct ck_baseline *baseline, const char *fingerprint, int severity);

void ck_baseline_done(struct ck_baseline *baseline); /* zero-filled is fine */

#endif
