/*
 * lint_json.c - prints findings as one JSON object.
 */
#include "cli/lint.h"
#include "cli/review.h"
#include "front/lint_report_json.h"

int ck_lint_json(const struct choke_lint_report *report, const struct ck_lint_marks *marks, int status)
{
    return ck_review_write(ck_lint_report_json_make(report, marks, SIZE_MAX, status == 0), status);
}
