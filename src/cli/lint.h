/*
 * lint.h - prints a lint report on standard output: one function per format.
 */
#ifndef CK_CLI_LINT_H
#define CK_CLI_LINT_H

#include "chokepoint.h"

/* Each returns the exit status: status, or CK_EXIT_REFUSED if the report could not be written. */
int ck_lint_text(const struct choke_lint_report *report, bool verbose, int status);
int ck_lint_json(const struct choke_lint_report *report, int status);
int ck_lint_sarif(const struct choke_lint_report *report, int status);
int ck_lint_github(const struct choke_lint_report *report, int status);

#endif
