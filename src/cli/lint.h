/*
 * lint.h - prints a lint report on standard output: one function per format.
 */
#ifndef CK_CLI_LINT_H
#define CK_CLI_LINT_H

#include "chokepoint.h"
#include "front/lint_marks.h"

/*
 * What the marks know is left out of the text and of the annotations; JSON and SARIF say it of
 * each finding.
 *
 * Each returns the exit status: status, or CK_EXIT_REFUSED if the report could not be written.
 */
int ck_lint_text(const struct choke_lint_report *report, const struct ck_lint_marks *marks, bool verbose, int status);
int ck_lint_json(const struct choke_lint_report *report, const struct ck_lint_marks *marks, int status);
int ck_lint_sarif(const struct choke_lint_report *report, const struct ck_lint_marks *marks, int status);
int ck_lint_github(const struct choke_lint_report *report, const struct ck_lint_marks *marks, int status);

#endif
