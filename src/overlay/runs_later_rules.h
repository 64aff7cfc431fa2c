/*
 * runs_later_rules.h - the table of what runs later, generated from policy/runs-later.txt at build
 * time.
 */
#ifndef CK_OVERLAY_RUNS_LATER_RULES_H
#define CK_OVERLAY_RUNS_LATER_RULES_H

#include <stddef.h>

enum ck_runs_later_kind {
    CK_RUNS_LATER_UNDER,  /* files below a directory */
    CK_RUNS_LATER_NAME,   /* a whole file name */
    CK_RUNS_LATER_BEGINS, /* the beginning of a file name */
    CK_RUNS_LATER_ENDS,   /* the end of a file name */
    CK_RUNS_LATER_KINDS
};

struct ck_runs_later_rule {
    const char *under; /* CK_RUNS_LATER_UNDER: directories, each with a '/' after it; else "" */
    /*
     * of the last component: all, beginning or end; CK_RUNS_LATER_UNDER: all of it, or "" for any
     */
    const char *text;
    const char *reason; /* in the result */
    const char *source; /* who executes or loads it; for readers of the table */
};

/*
 * Sorted by kind, then by text without regard to case. Rules of kind k begin at
 * ck_runs_later_starts[k].
 */
extern const struct ck_runs_later_rule ck_runs_later_rules[];
extern const size_t ck_runs_later_starts[CK_RUNS_LATER_KINDS + 1];

#endif
