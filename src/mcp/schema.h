/*
 * schema.h - checks the arguments of a tool by the schema that its clients see, so the two cannot
 * differ. It knows the keywords that src/mcp/offer.json uses: type, properties, required,
 * additionalProperties, items, minItems, maxItems, minimum, maximum.
 */
#ifndef CK_MCP_SCHEMA_H
#define CK_MCP_SCHEMA_H

#include "chokepoint.h"

#include <jansson.h>

/* value may be NULL: no arguments. Returns 0, or a negative errno and *error (CHOKE_INVALID). */
int ck_mcp_schema_check(const json_t *schema, const json_t *value, struct choke_error *error);

#endif
