/* denial.h - shows what the jail of a run refused. */
#ifndef CK_CLI_DENIAL_H
#define CK_CLI_DENIAL_H

#include "chokepoint.h"

#define CK_DENIAL_LINES 3

/*
 * The text about what was refused, each line with its newline. If the tool failed: at most
 * CK_DENIAL_LINES lines, of which the last one offers --why. why: of the request; then everything,
 * in any case. "" if there is nothing to say. To be freed; NULL: no memory.
 */
char *ck_denial_text(const struct choke_result *result, bool why);

#endif
