/* audit_record.h - one record of an audit log as a row of the report. */
#ifndef CK_REPORT_AUDIT_RECORD_H
#define CK_REPORT_AUDIT_RECORD_H

#include "report/audit_log.h"

#include <jansson.h>

/* A record of any kind; of an intent or a guard_begin, the part that is known before the run. */
void ck_audit_record_row(struct ck_audit_log_row *row, struct ck_strings *strings,
                         const struct choke_audit_record *record, const json_t *parsed);

/* Completes the row of a run with its outcome, or its guard_end. Did the run fail: not exited, or not with 0? */
bool ck_audit_record_end(struct ck_audit_log_row *row, struct ck_strings *strings,
                         const struct choke_audit_record *record, const json_t *parsed);

/* One item of "denied" in an outcome or a guard_end. */
void ck_audit_record_denial(struct ck_audit_log_row *row, struct ck_strings *strings,
                            const struct choke_audit_record *record, const json_t *parsed, const json_t *denial);

#endif
