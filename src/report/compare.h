/* compare.h - what is new and what is gone between two looks at one repository. */
#ifndef CK_REPORT_COMPARE_H
#define CK_REPORT_COMPARE_H

#include "report/look.h"

struct ck_compare_counts {
    uint64_t fresh, gone, unchecked;
};

/*
 * Sets the state of each finding: in `now` new or known, in `before` known, gone or unchecked. Findings
 * with one identity are counted: two before and three now are two known and one new. Returns 0 or
 * -ENOMEM.
 *
 * A finding is gone only if each probe that had seen it has looked again and could have listed it:
 * otherwise a tool that is not installed any more would make a repository look better.
 */
int ck_compare(struct ck_look *before, struct ck_look *now, const struct ck_strings *strings,
               struct ck_compare_counts *ret_counts);

#endif
