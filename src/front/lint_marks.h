/*
 * lint_marks.h - what a baseline knows of the findings of lint. A baseline is an earlier report, as
 * `lint --format json` prints it: only what is new counts then.
 */
#ifndef CK_FRONT_LINT_MARKS_H
#define CK_FRONT_LINT_MARKS_H

#include "chokepoint.h"
#include "front/fingerprint.h"

struct ck_lint_mark {
    /* of rule, file, line as it is written, and which of several such lines: it may move */
    char fingerprint[CK_FINGERPRINT_SIZE];
    bool known; /* the baseline has it */
};

struct ck_lint_marks {
    struct ck_lint_mark *items; /* one for each finding of the report, in its order */
    size_t known;
    size_t errors, warnings, notes; /* of the report, without those that are known */
    bool has_baseline;
};

/* baseline NULL: none, so nothing is known. 0, or a negative errno and *error. */
int ck_lint_marks_make(const struct choke_lint_report *report, const char *baseline, struct ck_lint_marks *ret_marks,
                       struct choke_error *error);
void ck_lint_marks_done(struct ck_lint_marks *marks); /* zero-filled is fine */

#endif
