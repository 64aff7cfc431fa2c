/*
 * audit_filter.h - which calls of an audit log are shown.
 */
#ifndef CK_CLI_AUDIT_FILTER_H
#define CK_CLI_AUDIT_FILTER_H

#include "cli/options.h"

#include <jansson.h>

/* An intent without an outcome in the log; used like an outcome. */
#define CK_AUDIT_UNFINISHED "unfinished"
/* "2026-11-15T16:38:18.123456Z" and a NUL; sorts as text. */
#define CK_AUDIT_TIME_SIZE 28

/*
 * Zero-filled matches everything. Within a list one value must match; all criteria that are set
 * must match.
 */
struct ck_audit_filter {
    struct ck_string_list outcomes; /* names of outcomes, or CK_AUDIT_UNFINISHED */
    struct ck_string_list tools;
    struct ck_string_list probes;
    char since[CK_AUDIT_TIME_SIZE]; /* "": no limit */
    char until[CK_AUDIT_TIME_SIZE]; /* the same; inclusive */
};

/* What is known about a call; NULL for what it does not have. */
struct ck_audit_subject {
    const char *time;
    const char *outcome;
    const char *tool;
    const char *probe;
};

/* The members of a record. They are valid as long as the record. */
struct ck_audit_subject ck_audit_subject(const json_t *record);

bool ck_audit_filter_matches(const struct ck_audit_filter *filter, const struct ck_audit_subject *subject);

/* Checks the values of --outcome. */
int ck_audit_check_outcomes(const struct ck_string_list *outcomes, struct choke_error *error);

/*
 * Accepts a time in UTC (2026-11-15, 2026-11-15T16:38, also with seconds or fractions) or an age
 * (90s, 15m, 2h, 7d). Missing parts become the earliest possible time, or the last one if latest is
 * set.
 */
int ck_audit_parse_time(const char *text, bool latest, char ret_time[CK_AUDIT_TIME_SIZE], struct choke_error *error);

#endif
