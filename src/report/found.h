/* found.h - the findings of all latest looks in one order: what to look at first. */
#ifndef CK_REPORT_FOUND_H
#define CK_REPORT_FOUND_H

#include "report/looks.h"

struct ck_found_item {
    const struct ck_look_finding *finding;
    const struct ck_look *look; /* it is from */
};

struct ck_found {
    struct ck_found_item *items; /* those of the latest looks, then those that were there before */
    size_t count;
    size_t here;                              /* of the latest looks */
    uint64_t by_severity[CK_LOOK_SEVERITIES]; /* of these */
    size_t known;                             /* of these: a baseline or an earlier look has them */
};

/* Returns 0 or -ENOMEM. */
int ck_found_list(struct ck_found *found, const struct ck_looks *looks);
void ck_found_done(struct ck_found *found);

/* "listed", "new", "known", "gone" or "unchecked" */
const char *ck_found_state_name(enum ck_look_state state);

#endif
