/*
 * place.h - where a command that runs nothing may write a file that its caller named.
 */
#ifndef CK_CLI_PLACE_H
#define CK_CLI_PLACE_H

#include "chokepoint.h"

/*
 * Returns 0, or a negative errno and *error: a locked policy of the machine binds the caller, and the
 * file would be in the directory of its log. A file there with the log's name would end all runs.
 */
int ck_place_check(const char *path, struct choke_error *error);

#endif
