/* home.h - the home of a user, as the password database has it. */
#ifndef CK_SYS_HOME_H
#define CK_SYS_HOME_H

#include <limits.h>
#include <sys/types.h>

/*
 * Never from the environment. 0; -ENOENT: the database does not have the user, or no absolute path
 * for it; another negative errno if it could not be read.
 */
int ck_home_find(uid_t uid, char ret_path[PATH_MAX]);

#endif
