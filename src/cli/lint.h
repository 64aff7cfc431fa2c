/*
 * lint.h - how a report of the linter is written: one function for each form, on standard output.
 */
#ifndef CK_CLI_LINT_H
#define CK_CLI_LINT_H

#include "chokepoint.h"

/* Each returns the exit status to end with: status, or CK_EXIT_REFUSED where the report could not be written. */
int ck_lint_text(const struct choke_lint_report *report, bool verbose, int status);
int ck_lint_json(const struct choke_lint_report *report, int status);
int ck_lint_sarif(const struct choke_lint_report *report, int status);
int ck_lint_github(const struct choke_lint_report *report, int status);

#endif
