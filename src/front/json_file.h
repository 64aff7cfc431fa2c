/*
 * json_file.h - a JSON file that others wrote: a document of gather, or a file beside it. It is read
 * with bounds, and a failure is said in words.
 *
 *   1. ck_json_file_load    its text is in memory; its digest can be taken, for example.
 *   2. ck_json_file_parse   its value too.
 *   3. ck_json_file_done    in any case; a zero-filled struct is fine.
 */
#ifndef CK_FRONT_JSON_FILE_H
#define CK_FRONT_JSON_FILE_H

#include "front/text.h"

#include <jansson.h>
#include <time.h>

struct ck_json_file {
    char *text;
    size_t length;
    time_t modified;
    json_t *value;
};

/*
 * more_flags may be O_NOFOLLOW. Both return 0, or a negative errno and the reason, which needs no
 * further escape.
 */
int ck_json_file_load(struct ck_json_file *file, int directory_fd, const char *path, int more_flags, size_t max_bytes,
                      char why[CK_TEXT_SAFE_MAX]);
int ck_json_file_parse(struct ck_json_file *file, char why[CK_TEXT_SAFE_MAX]);

void ck_json_file_done(struct ck_json_file *file);

#endif
