/*
 * decision_json.h - a decision as the object that `policy explain --json` prints and the tool
 * `explain` of `chokepoint mcp` returns.
 */
#ifndef CK_FRONT_DECISION_JSON_H
#define CK_FRONT_DECISION_JSON_H

#include "chokepoint.h"

#include <jansson.h>

/* NULL: no memory. */
json_t *ck_decision_json_make(const struct choke_decision *decision);

#endif
