/*
 * match.h - applies the rules to a syntax tree: runs the queries, resolves names, checks
 * conditions.
 */
#ifndef CK_LINT_MATCH_H
#define CK_LINT_MATCH_H

#include "lint/lang/resolve.h"
#include "lint/rules.h"

/* A rule that holds for a place in the file. */
struct ck_lint_match {
    const struct ck_lint_rule *rule;
    TSNode name, site;    /* site: what the finding points at */
    const char *resolved; /* in the source's arena */
};

/* In the order of their places, one for each @name. */
struct ck_lint_matches {
    struct ck_lint_match *items; /* to be freed */
    uint32_t count, capacity;
    bool too_deep;  /* some may be missing: the tree is nested too deeply */
    bool timed_out; /* some may be missing: the time for the file was over */
};

/* Call begin of the resolver before. Returns 0 or -ENOMEM. */
int ck_lint_match_all(struct ck_lint_source *source, TSQueryCursor *cursor, struct ck_lint_matches *ret_matches);
void ck_lint_matches_done(struct ck_lint_matches *matches);

#endif
