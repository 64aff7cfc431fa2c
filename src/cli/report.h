/*
 * report.h - reports a run: exit status, text or JSON.
 */
#ifndef CK_CLI_REPORT_H
#define CK_CLI_REPORT_H

#include "chokepoint.h"
#include "front/session.h"

enum ck_report_form { CK_REPORT_TEXT, CK_REPORT_JSON, CK_REPORT_STREAM };

/* Both return the exit status, or CK_EXIT_REFUSED if the report could not be written. */
int ck_report_result(struct ck_session *session, enum ck_report_form form, const struct choke_result *result);

/* A failure before there is a result. The report has the same form, with only the error in it. */
int ck_report_failure(struct ck_session *session, enum ck_report_form form, const struct choke_error *error);

/* Prints "chokepoint: MESSAGE" on standard error. */
void ck_report_message(struct ck_session *session, const struct choke_error *error);

/* The exit status of a refusal: 125, 126 or 127. */
int ck_report_refusal_status(enum choke_outcome outcome, const struct choke_error *error);

/* Returns status, or CK_EXIT_REFUSED and a message if the output could not be written. */
int ck_report_written(struct ck_session *session, int status);

#endif
