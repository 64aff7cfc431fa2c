/*
 * audit_table.h - an audit log as a table for people: one row per call, once its outcome is known.
 */
#ifndef CK_CLI_AUDIT_TABLE_H
#define CK_CLI_AUDIT_TABLE_H

#include "cli/audit_filter.h"

struct ck_audit_intent;

struct ck_audit_table {
    const struct ck_audit_filter *filter;
    size_t width; /* of the terminal; 0: rows are not cut */
    bool has_rows;
    char day[11];                 /* of the last row */
    struct ck_audit_intent *open; /* intents without an outcome so far, in log order */
    size_t open_count;
};

/* The width is that of standard output, if it is a terminal. */
void ck_audit_table_init(struct ck_audit_table *table, const struct ck_audit_filter *filter);

/* parsed is the record as JSON. False when out of memory. */
bool ck_audit_table_add(struct ck_audit_table *table, const struct choke_audit_record *record, const json_t *parsed);

/* Prints the calls without an outcome, then frees what the table holds. */
void ck_audit_table_done(struct ck_audit_table *table);

#endif
