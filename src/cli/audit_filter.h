/*
 * audit_filter.h - which calls of an audit log are wanted.
 */
#ifndef CK_CLI_AUDIT_FILTER_H
#define CK_CLI_AUDIT_FILTER_H

#include "cli/options.h"

#include <jansson.h>

#define CK_AUDIT_UNFINISHED "unfinished" /* an intent whose outcome is not in the log; beside the words of outcomes */
#define CK_AUDIT_TIME_SIZE 28            /* "2026-11-15T16:38:18.123456Z" and a NUL: in order as text */

/* Zero-filled: all. Of several words one must fit, and all that is asked for. */
struct ck_audit_filter {
    struct ck_string_list outcomes;
    struct ck_string_list tools;
    struct ck_string_list probes;
    char since[CK_AUDIT_TIME_SIZE];
    char until[CK_AUDIT_TIME_SIZE];
};

/* What is known of a call; NULL for what it does not have. */
struct ck_audit_subject {
    const char *time;
    const char *outcome;
    const char *tool;
    const char *probe;
};

/* The members of a record; they live as long as it. */
struct ck_audit_subject ck_audit_subject(const json_t *record);

bool ck_audit_filter_matches(const struct ck_audit_filter *filter, const struct ck_audit_subject *subject);

/* Are the words for --outcome such as there are? */
int ck_audit_check_outcomes(const struct ck_string_list *outcomes, struct choke_error *error);

/*
 * A moment in UTC: 2026-11-15, 2026-11-15T16:38, with seconds or parts of them; or how long ago: 90s, 15m, 2h, 7d. What is
 * left out is the earliest, or with latest the last that it can be.
 */
int ck_audit_parse_time(const char *text, bool latest, char ret_time[CK_AUDIT_TIME_SIZE], struct choke_error *error);

#endif
