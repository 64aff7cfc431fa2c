/*
 * scan.h - one file: text in, findings out.
 *
 *   1. ck_lint_scanner_new: one per thread, because it owns a parser. Threads share the rules.
 *   2. ck_lint_scan, for each file. The result owns all it points to, except the rules. Nothing
 *      in it points into the text, so the caller may reuse its buffer.
 *   3. ck_lint_scan_done on each result, ck_lint_scanner_free.
 */
#ifndef CK_LINT_SCAN_H
#define CK_LINT_SCAN_H

#include "lint/rules.h"

#define CK_LINT_FILE_MAX_BYTES ((size_t)4 << 20) /* more than this is skipped, and reported */
#define CK_LINT_FINDINGS_MAX 10000               /* of one file; more are counted, not kept */
#define CK_LINT_MARKER "chokepoint-lint:"        /* in a comment it starts a waiver, see waiver.h */

/* A range. The end is the first place after it. All numbers count from 1. */
struct ck_lint_location {
    /* column counts characters, byte_column bytes. */
    uint32_t line, column, byte_column;
    uint32_t end_line, end_column, end_byte_column;
};

struct ck_lint_finding {
    const struct ck_lint_rule *rule;
    struct ck_lint_location location;
    const char *name;   /* what was found, resolved: "os.system" */
    const char *source; /* its line, raw, at most CK_LINT_LINE_MAX bytes; ends in NUL */
    uint32_t source_length;
};
#define CK_LINT_LINE_MAX 4096

/* A comment that contains the marker. */
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
    CK_LINT_SKIP_DEEP,     /* nested too deeply; what was seen is reported */
    CK_LINT_SKIP_MEMORY,   /* resolving its names takes more memory than the limit */
    CK_LINT_SKIP_TIME,     /* not parsed within the time limit */
};

struct ck_lint_scan {
    struct ck_arena arena;
    enum ck_lint_skip skip;
    bool parsed;                               /* false: the prefilter excluded it */
    bool broken;                               /* a syntax error; the valid parts were scanned */
    uint32_t broken_line;                      /* of the first syntax error; 0: none */
    struct ck_lint_finding *findings;          /* in the order of their places */
    uint32_t findings_count, findings_dropped; /* dropped: beyond CK_LINT_FINDINGS_MAX */
    struct ck_lint_comment *comments;
    uint32_t comments_count;
};

struct ck_lint_scanner;

int ck_lint_scanner_new(const struct ck_lint_rules *rules, struct ck_lint_scanner **ret_scanner,
                        struct choke_error *error);
void ck_lint_scanner_free(struct ck_lint_scanner *scanner);

/* A file that is skipped is not a failure: ret_scan says so. It fails only when memory ran out. */
int ck_lint_scan(struct ck_lint_scanner *scanner, const struct ck_grammar *grammar, const char *text, size_t length,
                 struct ck_lint_scan *ret_scan, struct choke_error *error);
void ck_lint_scan_done(struct ck_lint_scan *scan);

const char *ck_lint_skip_reason(enum ck_lint_skip skip); /* "larger than 4 MiB" */

#endif
