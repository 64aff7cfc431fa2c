/* explain.h - run --dry-run: prints the decision and runs nothing. */
#ifndef CK_CLI_EXPLAIN_H
#define CK_CLI_EXPLAIN_H

#include "cli/report.h"

/* Returns the exit status: 0 if the request would be run, else the status of the refusal. */
int ck_explain_request(struct ck_session *session, enum ck_report_form form, struct choke_context *context,
                       const struct choke_request *request);

#endif
