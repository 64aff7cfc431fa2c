/*
 * lint_report_json.h - what lint found as the object that `lint --format json` prints and the tool
 * `lint` of `chokepoint mcp` returns.
 */
#ifndef CK_FRONT_LINT_REPORT_JSON_H
#define CK_FRONT_LINT_REPORT_JSON_H

#include "chokepoint.h"
#include "front/lint_marks.h"

#include <jansson.h>

/* The first `most` findings and skips. marks: of the same report. NULL: no memory. */
json_t *ck_lint_report_json_make(const struct choke_lint_report *report, const struct ck_lint_marks *marks, size_t most,
                                 bool clean);

#endif
