/*
 * lint_report_json.h - what lint found as the object that `lint --format json` prints and the tool
 * `lint` of `chokepoint mcp` returns.
 */
#ifndef CK_FRONT_LINT_REPORT_JSON_H
#define CK_FRONT_LINT_REPORT_JSON_H

#include "chokepoint.h"

#include <jansson.h>

/* The first `most` findings and skips. NULL: no memory. */
json_t *ck_lint_report_json_make(const struct choke_lint_report *report, size_t most, bool clean);

#endif
