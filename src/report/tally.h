/* tally.h - counts by a key and by severity: of a rule, a directory, a repository. */
#ifndef CK_REPORT_TALLY_H
#define CK_REPORT_TALLY_H

#include "report/found.h"

struct ck_tally_item {
    uint32_t key; /* a number of the strings */
    const struct ck_found_item *first;
    uint64_t by_severity[CK_LOOK_SEVERITIES];
    uint64_t total;
};

struct ck_tally {
    struct ck_tally_item *items; /* the worst first */
    size_t count;
};

/*
 * Of the findings of the latest looks. key_of may add to strings. Returns 0 or -ENOMEM;
 * ck_tally_done in either case.
 */
int ck_tally_make(struct ck_tally *tally, const struct ck_found *found, struct ck_strings *strings,
                  uint32_t (*key_of)(const struct ck_found_item *item, struct ck_strings *strings));
void ck_tally_done(struct ck_tally *tally);

/* Keys: the rule; the directory of the path, at most two levels deep; the repository. */
uint32_t ck_tally_by_rule(const struct ck_found_item *item, struct ck_strings *strings);
uint32_t ck_tally_by_directory(const struct ck_found_item *item, struct ck_strings *strings);
uint32_t ck_tally_by_repository(const struct ck_found_item *item, struct ck_strings *strings);

#endif
