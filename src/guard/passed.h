/* passed.h - what PROGRAM gets of the descriptors that guard was started with. */
#ifndef CK_GUARD_PASSED_H
#define CK_GUARD_PASSED_H

#include "chokepoint.h"

/*
 * Copies the three streams, and the others that are open and not close-on-exec, with their numbers. A
 * directory and what was opened with O_PATH are left out: they lead to files that are not in the cage.
 * 0, or a negative errno and *error; the caller frees what was taken.
 */
int ck_guard_passed_take(struct choke_guard_inherited *inherited, struct choke_error *error);

#endif
