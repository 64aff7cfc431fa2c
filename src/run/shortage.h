/*
 * shortage.h - which limit of the machine is behind an errno.
 *
 * EAGAIN of a new process has five sources, and the kernel does not say which. So what can be reached
 * is looked at when a start has failed; the look costs nothing before.
 */
#ifndef CK_RUN_SHORTAGE_H
#define CK_RUN_SHORTAGE_H

#include "chokepoint.h"

/*
 * Appends the name of the limit that was reached, with its value, if one was found, and then that it
 * may be temporary. Only for an errno that says so (ck_error_is_transient), of a start that failed.
 */
void ck_shortage_explain(struct choke_error *error, int errnum);

#endif
