/* gaps.h - what was not looked at, and why. A report without this would look like a clean bill. */
#ifndef CK_REPORT_GAPS_H
#define CK_REPORT_GAPS_H

#include "report/looks.h"

/* From the worst to the least. */
enum ck_gap_kind {
    CK_GAP_LOST,      /* no document that can be read */
    CK_GAP_CANCELLED, /* the gather was ended by a signal */
    CK_GAP_FAILED,    /* a probe failed, ran out of time, was refused or cancelled */
    CK_GAP_MISSING,   /* the tool of a probe is not installed */
    CK_GAP_SKIPPED,
    CK_GAP_FILES,  /* a probe did not get, or not search, all files */
    CK_GAP_OUTPUT, /* not all of its output was read */
    CK_GAP_LIST,   /* not all of its findings are listed */
    CK_GAP_NOTHING /* there was nothing for it to look at; not a gap */
};

struct ck_gap {
    enum ck_gap_kind kind;
    uint32_t what;       /* the probe, the repository or the document */
    uint32_t state;      /* of the probe, as gather names it */
    uint32_t reason;     /* of the first repository */
    uint32_t install;    /* what installs the tool; 0: not known */
    size_t repositories; /* how many have it */
    uint64_t done, all;  /* CK_GAP_FILES, CK_GAP_LIST: of all of them together */
};

struct ck_gaps {
    struct ck_gap *items; /* the worst first */
    size_t count;
    size_t gaps;                /* without CK_GAP_NOTHING */
    size_t probes, probes_done; /* of all repositories; without those that had nothing to look at */
};

/* Returns 0 or -ENOMEM. */
int ck_gaps_collect(struct ck_gaps *gaps, const struct ck_looks *looks);
void ck_gaps_done(struct ck_gaps *gaps);

#endif
