/* dry_run.h - what a cage would have, as text, one thing a line. */
#ifndef CK_GUARD_DRY_RUN_H
#define CK_GUARD_DRY_RUN_H

#include "chokepoint.h"

/* On standard output. 0, or a negative errno and *error. */
int ck_guard_dry_run_print(const struct choke_guard *guard, const char *const *argv, struct choke_error *error);

#endif
