/*
 * report.h - how a run is told: exit status, text or JSON.
 */
#ifndef CK_CLI_REPORT_H
#define CK_CLI_REPORT_H

#include "chokepoint.h"
#include "front/session.h"

enum ck_report_form { CK_REPORT_TEXT, CK_REPORT_JSON, CK_REPORT_STREAM };

/* Both return the exit status, CK_EXIT_REFUSED where the report itself could not be written. */
int ck_report_result(struct ck_session *session, enum ck_report_form form, const struct choke_result *result);

/* A failure before there was a result: the same shape, with nothing in it but the error. */
int ck_report_failure(struct ck_session *session, enum ck_report_form form, const struct choke_error *error);

/* "chokepoint: MESSAGE" on standard error. */
void ck_report_message(struct ck_session *session, const struct choke_error *error);

/* What decides the status of a refusal: 125, 126 or 127. */
int ck_report_refusal_status(enum choke_outcome outcome, const struct choke_error *error);

/* status, or CK_EXIT_REFUSED and a message where the output could not be written. */
int ck_report_written(struct ck_session *session, int status);

#endif
