/*
 * findings.h - turns what the scanner saw in one file into the findings that are reported.
 *
 * Applies the configuration and the waivers, and adds the findings about the scan itself.
 */
#ifndef CK_LINT_FINDINGS_H
#define CK_LINT_FINDINGS_H

#include "chokepoint.h"

#include "base/arena.h"
#include "lint/config.h"
#include "lint/scan.h"
#include "lint/waiver.h"
#include "lint/walk.h"

#define CK_LINT_FINDINGS_REPORTED_MAX 1000 /* of one file; more are counted, not kept */

/* Findings about the scan itself. */
enum ck_lint_builtin_rule {
    CK_LINT_BUILTIN_NOT_SCANNED,
    CK_LINT_BUILTIN_BROKEN_SYNTAX,
    CK_LINT_BUILTIN_WAIVER_UNFOUNDED,
    CK_LINT_BUILTIN_WAIVER_UNUSED,
    CK_LINT_BUILTIN_RULES,
};

/* All rules: those of the rule files in their order, then the builtin ones. */
struct ck_lint_rule_index {
    const struct ck_lint_rules *loaded;
    struct choke_lint_rule *rules;
    size_t count; /* of all rules */
};

/* Returns 0 or -ENOMEM. The index points into loaded. */
int ck_lint_rule_index_make(struct ck_arena *arena, const struct ck_lint_rules *loaded,
                            struct ck_lint_rule_index *ret_rule_index);
const struct choke_lint_rule *ck_lint_rule_index_builtin(const struct ck_lint_rule_index *rule_index,
                                                         enum ck_lint_builtin_rule rule);
const struct choke_lint_rule *ck_lint_rule_index_find(const struct ck_lint_rule_index *rule_index,
                                                      const char *id); /* or NULL */

/* What applies to all files of a run. Threads share it, so it must not change after it is made. */
struct ck_lint_tree_ruleset {
    struct ck_lint_rule_index rule_index;
    struct ck_lint_config config;
    struct ck_lint_adrs adrs;
};

struct ck_lint_findings {
    struct choke_lint_finding *findings; /* in the order of their places */
    /* dropped: beyond the maximum. allowed: in a module that may create processes. */
    size_t count, dropped, waived, allowed;
};

/* A file, and what the scanner saw in its text. */
struct ck_lint_scanned_file {
    const struct ck_walk_file *file;
    const struct ck_lint_scan *scan;
    const char *text;
    size_t length;
};

/*
 * Everything that *ret_reported points to is in the arena, in tree_ruleset or in the file. Returns
 * 0 or -ENOMEM.
 */
int ck_lint_findings_make(const struct ck_lint_tree_ruleset *tree_ruleset, struct ck_arena *arena,
                          const struct ck_lint_scanned_file *scanned, struct ck_lint_findings *ret_reported);

/* For qsort: orders findings by path, then by place. */
int ck_lint_findings_compare(const void *left, const void *right);

/*
 * Makes the finding that a source was not scanned. Returns false where the configuration turns that
 * rule off. message is NULL when memory ran out.
 */
bool ck_lint_findings_not_scanned(const struct ck_lint_tree_ruleset *tree_ruleset, struct ck_arena *arena,
                                  const struct ck_walk_skip *skip, struct choke_lint_finding *ret_finding);

#endif
