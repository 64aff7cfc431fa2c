/*
 * cachedir.h - the directory of what the library remembers between its processes:
 * $XDG_CACHE_HOME/chokepoint, else $HOME/.cache/chokepoint.
 */
#ifndef CK_SYS_CACHEDIR_H
#define CK_SYS_CACHEDIR_H

#include "chokepoint.h"
#include "sys/trust.h"

#include <limits.h>
#include <stdbool.h>

/*
 * The directory, which may not exist. home: it is there, whatever the environment says; NULL: by the
 * environment, and false if no variable names one.
 */
bool ck_cachedir_path(const char *home, char path[PATH_MAX]);

/*
 * Opens it, and makes it if it is missing. Refused with a message: a directory that others can
 * change, and one inside root (NULL: no root), because the repository could have written it; nothing
 * is created there. ret_path gets the path, or "".
 */
int ck_cachedir_open(const char *home, const struct ck_identity *root, char ret_path[PATH_MAX], int *ret_fd,
                     struct choke_error *error);

#endif
