/* audit_place.h - where calls are recorded if the caller names no log. */
#ifndef CK_API_AUDIT_PLACE_H
#define CK_API_AUDIT_PLACE_H

#include "chokepoint.h"

#include <limits.h>
#include <sys/types.h>

/* By XDG_STATE_HOME or HOME. 0, or a negative errno with a message. */
int ck_audit_place_usual(char ret_path[PATH_MAX], struct choke_error *error);

/*
 * Of a caller whom a locked policy binds: in the home that the password database has for the user.
 * -ENOENT if it has none.
 */
int ck_audit_place_locked(uid_t uid, char ret_home[PATH_MAX], char ret_path[PATH_MAX], struct choke_error *error);

#endif
