/*
 * audit_log.h - what a report takes from an audit log (docs/audit.md).
 *
 * A run is one row: its intent, and its outcome where there is one; so is the program of a guard,
 * its guard_begin and its guard_end. A refusal, a denial of a jail, a decision about egress and each
 * other record are rows of their own. A kind of record that is not known is shown with all its
 * members.
 */
#ifndef CK_REPORT_AUDIT_LOG_H
#define CK_REPORT_AUDIT_LOG_H

#include "chokepoint.h"
#include "report/bar.h"
#include "report/strings.h"

#define CK_AUDIT_LOG_ROWS_MAX 200000 /* the last ones are kept */
#define CK_AUDIT_LOG_TOOLS_MAX 200
#define CK_AUDIT_LOG_TIME_SIZE 28 /* "2026-11-15T16:38:18.123456Z" and a NUL */

/* In the order of ck_audit_log_scale. */
enum ck_audit_log_class {
    CK_AUDIT_RUN,
    CK_AUDIT_REFUSAL,
    CK_AUDIT_DENIAL,
    CK_AUDIT_EGRESS,
    CK_AUDIT_OTHER,
};

extern const struct ck_bar_scale ck_audit_log_scale;

/* Texts are numbers of the strings. The last three have lines "LABEL<tab>VALUE". */
struct ck_audit_log_row {
    enum ck_audit_log_class class;
    bool proven;
    uint64_t seq, duration_ms;
    uint32_t time, tool, outcome, what, jail;
    uint32_t granted, held, more;
};

struct ck_audit_log_tool {
    uint32_t name;
    uint64_t counts[CK_BAR_KINDS];
    uint64_t total;
};

/* Where the row of an intent or of a guard_begin is. */
struct ck_audit_log_open {
    uint64_t seq;
    size_t row; /* counted from the first row of the log */
    bool ended;
};

struct ck_audit_log {
    struct ck_strings strings;
    struct ck_audit_log_row *rows;
    size_t count;
    size_t dropped; /* rows before these */
    struct ck_audit_log_open *opens;
    size_t open_count, open_capacity;
    struct ck_audit_log_tool tools[CK_AUDIT_LOG_TOOLS_MAX]; /* of all rows */
    size_t tool_count;
    uint64_t counts[CK_BAR_KINDS];
    uint64_t failed_runs, unfinished_runs, unconfined_runs, egress_refused;
    uint64_t unlisted_denials; /* a record lists some, and counts the others */
    char first[CK_AUDIT_LOG_TIME_SIZE], last[CK_AUDIT_LOG_TIME_SIZE];
    struct choke_audit_report *proof;
    uint32_t file, damaged_file, damage; /* the last file that was given; where and what the damage is */
    bool out_of_memory;
};

/* Returns 0, also for a damaged log; a negative errno if it cannot be read. */
int ck_audit_log_read(struct ck_audit_log *log, const char *const *paths, bool rotated, struct choke_error *error);
void ck_audit_log_done(struct ck_audit_log *log);

#endif
