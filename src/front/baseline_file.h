/*
 * baseline_file.h - the file that --baseline names: JSON that an earlier call wrote, and that a
 * hostile change may have replaced. What it costs to read is bounded.
 */
#ifndef CK_FRONT_BASELINE_FILE_H
#define CK_FRONT_BASELINE_FILE_H

#include "chokepoint.h"

#include <jansson.h>

/*
 * Returns its value; the caller calls json_decref. NULL and *error if it cannot be used. remedy says
 * how to make one, and ends the message if the file is not JSON.
 */
json_t *ck_baseline_file_load(const char *path, const char *remedy, struct choke_error *error);

/* "cannot use baseline 'PATH': WHY". Returns a negative errno. */
int ck_baseline_file_refuse(const char *path, const char *why, struct choke_error *error);

#endif
