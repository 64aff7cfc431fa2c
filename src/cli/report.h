/*
 * report.h - reports a run: exit status, text or JSON.
 */
#ifndef CK_CLI_REPORT_H
#define CK_CLI_REPORT_H

#include "chokepoint.h"
#include "front/session.h"

enum ck_report_form {
    CK_REPORT_TEXT,
    CK_REPORT_JSON,
    CK_REPORT_STREAM,     /* the streams were written as they arrived, and only notes are left */
    CK_REPORT_JSON_STREAM /* the same as JSON lines (stream.h), and the result is the last line */
};

/* Do programs read it? */
static inline bool ck_report_is_json(enum ck_report_form form)
{
    return form == CK_REPORT_JSON || form == CK_REPORT_JSON_STREAM;
}

/* Was the output passed on while the tool ran? */
static inline bool ck_report_is_stream(enum ck_report_form form)
{
    return form == CK_REPORT_STREAM || form == CK_REPORT_JSON_STREAM;
}

/*
 * Both return the exit status, or CK_EXIT_REFUSED if the report or the output could not be written,
 * or that of SIGPIPE if its reader is gone.
 */
/* why: of the request. Then all that the jail refused is printed, also if the tool succeeded. */
int ck_report_result(struct ck_session *session, enum ck_report_form form, const struct choke_result *result, bool why);

/* A failure before there is a result. The report has the same form, with only the error in it. */
int ck_report_failure(struct ck_session *session, enum ck_report_form form, const struct choke_error *error);

/* Prints "chokepoint: MESSAGE" on standard error. */
void ck_report_message(struct ck_session *session, const struct choke_error *error);

/* The exit status of a refusal: 125, 126 or 127. */
int ck_report_refusal_status(enum choke_outcome outcome, const struct choke_error *error);

/*
 * Returns status; or CK_EXIT_REFUSED and a message if the output could not be written. That the
 * reader is gone is an error too: it lacks a part of the document.
 */
int ck_report_written(struct ck_session *session, int status);

#endif
