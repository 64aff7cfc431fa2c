/* compare.h - what is new and what is gone between two looks at one repository. */
#ifndef CK_REPORT_COMPARE_H
#define CK_REPORT_COMPARE_H

#include "report/look.h"

struct ck_compare_counts {
    uint64_t fresh, gone;
};

/*
 * Sets the state of each finding: in `now` new or known, in `before` gone or known. Findings with
 * one identity are counted: two before and three now are two known and one new. Returns 0 or
 * -ENOMEM.
 */
int ck_compare(struct ck_look *before, struct ck_look *now, struct ck_compare_counts *ret_counts);

#endif
