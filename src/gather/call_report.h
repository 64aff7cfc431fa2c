/*
 * call_report.h - what the document says about a call: its arguments, and how it ended.
 */
#ifndef CK_GATHER_CALL_REPORT_H
#define CK_GATHER_CALL_REPORT_H

#include "front/text.h"
#include "gather/files.h"
#include "gather/gather.h"

/*
 * The call's arguments with the placeholders replaced. Free with ck_call_report_free_argv; NULL
 * when out of memory.
 */
char **ck_call_report_argv(const struct ck_probe_call *call, const struct ck_matches *matches);
void ck_call_report_free_argv(char **list); /* NULL is fine */

/* Adds a call that has not ended yet to the report. */
int ck_call_report_add(struct ck_probe_report *report, const struct ck_probe_call *call, const char *const *argv,
                       struct choke_error *error);

/* How it ended. */
void ck_call_report_set_result(struct ck_call_report *call, const struct choke_result *result);

/* Frees everything that the reports hold. */
void ck_gather_done(struct ck_gathering *gathering);

#endif
