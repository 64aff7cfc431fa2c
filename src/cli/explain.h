/* explain.h - run --dry-run: the decision, and nothing is run. */
#ifndef CK_CLI_EXPLAIN_H
#define CK_CLI_EXPLAIN_H

#include "cli/report.h"

/* Returns the exit status: 0 where the request would be run, else the refusal's. */
int ck_explain_request(struct ck_session *session, enum ck_report_form form, struct choke_context *context,
                       const struct choke_request *request);

#endif
