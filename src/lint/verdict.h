/*
 * verdict.h - from what the scanner saw in one file to what is reported of it: the configuration and the waivers have
 * their say here, and the linter's own findings are added.
 */
#ifndef CK_LINT_VERDICT_H
#define CK_LINT_VERDICT_H

#include "chokepoint.h"

#include "base/arena.h"
#include "lint/config.h"
#include "lint/scan.h"
#include "lint/waiver.h"
#include "lint/walk.h"

#define CK_VERDICT_MAX_FINDINGS 1000 /* of one file; more are counted, not kept */

/* Findings about the scan itself. */
enum ck_own_rule {
    CK_OWN_NOT_SCANNED,
    CK_OWN_BROKEN_SYNTAX,
    CK_OWN_WAIVER_UNFOUNDED,
    CK_OWN_WAIVER_UNUSED,
    CK_OWN_RULES,
};

/* Every rule there is, in the order of the rule files, and then our own. */
struct ck_lint_book {
    const struct ck_lint_rules *loaded;
    struct choke_lint_rule *rules;
    size_t count;
};

int ck_lint_book_make(struct ck_arena *arena, const struct ck_lint_rules *loaded, struct ck_lint_book *ret_book);
const struct choke_lint_rule *ck_lint_book_own(const struct ck_lint_book *book, enum ck_own_rule rule);
const struct choke_lint_rule *ck_lint_book_find(const struct ck_lint_book *book, const char *id); /* or NULL */

/* What holds for all files. Threads share it. */
struct ck_lint_law {
    struct ck_lint_book book;
    struct ck_lint_config config;
    struct ck_lint_records records;
};

struct ck_verdict {
    struct choke_lint_finding *findings; /* in the order of their places */
    size_t count, dropped, waived, allowed;
};

/* A file, and what the scanner saw in its text. */
struct ck_lint_seen {
    const struct ck_walk_file *file;
    const struct ck_lint_scan *scan;
    const char *text;
    size_t length;
};

/* All that the verdict points to is in the arena, the law or the file. 0 or -ENOMEM. */
int ck_verdict_make(const struct ck_lint_law *law, struct ck_arena *arena, const struct ck_lint_seen *seen,
                    struct ck_verdict *ret_verdict);

/* In the order of names and places. */
int ck_verdict_compare(const void *left, const void *right);

/* The finding that a source was not looked at; false where the configuration has it off. message NULL: out of memory. */
bool ck_verdict_unseen(const struct ck_lint_law *law, struct ck_arena *arena, const struct ck_walk_skip *skip,
                       struct choke_lint_finding *ret_finding);

#endif
