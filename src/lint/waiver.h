/*
 * waiver.h - a comment that waives a finding on its line, and cites the decision:
 *
 *   subprocess.run(["ls"])  # MARKER allow python-subprocess ADR-0003 and more text
 *
 * MARKER is CK_LINT_MARKER. Several rules may come before the record, separated by commas or
 * blanks. A waiver applies to findings that begin or end on a line of the comment. It is a finding
 * itself if it is malformed, names an unknown rule, cites a record that does not exist, or waives
 * nothing.
 */
#ifndef CK_LINT_WAIVER_H
#define CK_LINT_WAIVER_H

#include "chokepoint.h"

#include "base/arena.h"
#include "lint/scan.h"

#include <stdbool.h>

#define CK_WAIVER_MAX_RULES 16 /* of one waiver */
#define CK_WAIVER_ID_MAX 64    /* bytes of a rule's id, with its NUL */

/* The decision records of a directory, by number: files NNNN-*.md that are not empty. */
struct ck_lint_adrs {
    bool configured;               /* there is an adr_dir */
    int errnum;                    /* why the directory cannot be read, or 0 */
    unsigned char have[10000 / 8]; /* bit by number */
};

/* adr_dir NULL: not configured. */
void ck_lint_adrs_read(int base_fd, const char *adr_dir, struct ck_lint_adrs *ret_adrs);

/* number is four digits. */
bool ck_lint_adrs_have(const struct ck_lint_adrs *adrs, const char *number);

struct ck_waiver {
    struct ck_lint_location location; /* of the comment */
    char rules[CK_WAIVER_MAX_RULES][CK_WAIVER_ID_MAX];
    bool used[CK_WAIVER_MAX_RULES]; /* by rule: it has waived a finding */
    unsigned rule_count;
    char adr[5];       /* four digits and a NUL */
    const char *fault; /* NULL: it is well formed */
};

/* Never fails: a comment that cannot be read has a fault. */
void ck_waiver_parse(const struct ck_lint_comment *comment, struct ck_waiver *ret_waiver);

/* Does it waive a finding of this rule at this place? If so it is marked as used. */
bool ck_waiver_serves(struct ck_waiver *waiver, const char *rule, const struct ck_lint_location *location);

#endif
