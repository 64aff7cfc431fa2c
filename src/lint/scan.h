/*
 * scan.h - one file: text in, findings out.
 *
 *   1. ck_lint_scanner_new: one per thread, for it owns a parser; the rules are shared.
 *   2. ck_lint_scan: as often as there are files. The result owns all it points to, but for the rules and the text's
 *      own bytes: nothing in it points into the text.
 *   3. ck_lint_scan_done on each result, ck_lint_scanner_free.
 */
#ifndef CK_LINT_SCAN_H
#define CK_LINT_SCAN_H

#include "lint/rules.h"

#define CK_LINT_FILE_MAX_BYTES ((size_t)4 << 20)
#define CK_LINT_FINDINGS_MAX 10000        /* of one file; more are counted, not kept */
#define CK_LINT_MARKER "chokepoint-lint:" /* a comment with it is a waiver, see waiver.h */

/* From line and column to the end, which is the first place after it. All count from 1. */
struct ck_lint_location {
    uint32_t line, column, byte_column;
    uint32_t end_line, end_column, end_byte_column;
};

struct ck_lint_finding {
    const struct ck_lint_rule *rule;
    struct ck_lint_location location;
    const char *name;   /* what was found, resolved: "os.system" */
    const char *source; /* its line without the newline, NUL-terminated, at most CK_LINT_LINE_MAX bytes; raw bytes */
    uint32_t source_length;
};
#define CK_LINT_LINE_MAX 4096

/* A comment that has the marker in it. */
struct ck_lint_comment {
    struct ck_lint_location location;
    const char *text; /* the whole comment, NUL-terminated */
    uint32_t length;
};

enum ck_lint_skip {
    CK_LINT_SCANNED,
    CK_LINT_SKIP_LARGE,    /* more than CK_LINT_FILE_MAX_BYTES */
    CK_LINT_SKIP_BINARY,   /* has a NUL byte */
    CK_LINT_SKIP_ENCODING, /* not UTF-8 */
    CK_LINT_SKIP_DEEP,     /* nested too deeply to be looked at in full; what was seen is reported */
    CK_LINT_SKIP_MEMORY,   /* its names take more than the bound to resolve */
    CK_LINT_SKIP_TIME,     /* could not be parsed in the time it has */
};

struct ck_lint_scan {
    struct ck_arena arena;
    enum ck_lint_skip skip;
    bool parsed; /* false: the prefilter saw that there is nothing to find */
    bool broken; /* the syntax is broken somewhere; what is whole was scanned */
    uint32_t broken_line;
    struct ck_lint_finding *findings; /* in the order of their places */
    uint32_t findings_count, findings_dropped;
    struct ck_lint_comment *comments;
    uint32_t comments_count;
};

struct ck_lint_scanner;

int ck_lint_scanner_new(const struct ck_lint_rules *rules, struct ck_lint_scanner **ret_scanner,
                        struct choke_error *error);
void ck_lint_scanner_free(struct ck_lint_scanner *scanner);

/* A file that is skipped is no failure: ret_scan says so. A failure is want of memory. */
int ck_lint_scan(struct ck_lint_scanner *scanner, const struct ck_grammar *grammar, const char *text, size_t length,
                 struct ck_lint_scan *ret_scan, struct choke_error *error);
void ck_lint_scan_done(struct ck_lint_scan *scan);

const char *ck_lint_skip_reason(enum ck_lint_skip skip); /* "larger than 4 MiB" */

#endif
