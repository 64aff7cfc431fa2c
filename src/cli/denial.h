/* denial.h - shows what the jail of a run refused. */
#ifndef CK_CLI_DENIAL_H
#define CK_CLI_DENIAL_H

#include "chokepoint.h"

#include <jansson.h>

#define CK_DENIAL_LINES 3

/* An array; null if nobody watched. NULL: no memory. */
json_t *ck_denial_array(const struct choke_result *result);

/*
 * The text about what was refused, if the tool then failed: at most CK_DENIAL_LINES lines, each
 * with its newline. "" if there is nothing to say. To be freed; NULL: no memory.
 */
char *ck_denial_text(const struct choke_result *result);

#endif
