/* lint.h - one run of the linter. include/chokepoint-lint.h says what it does. */
#ifndef CK_LINT_LINT_H
#define CK_LINT_LINT_H

#include "chokepoint.h"

/* Returns 0 or a negative errno. Findings are not a failure. *ret_report is set only on success. */
int ck_lint_run(const struct choke_lint_options *options, struct choke_lint_report **ret_report,
                struct choke_error *error);
/* Frees the report and everything it points to. NULL is allowed. */
void ck_lint_report_free(struct choke_lint_report *report);

#endif
