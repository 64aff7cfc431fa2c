/*
 * result_json.h - the result of a run as the object that `run --json` prints and the tool `run` of
 * `chokepoint mcp` returns.
 */
#ifndef CK_FRONT_RESULT_JSON_H
#define CK_FRONT_RESULT_JSON_H

#include "chokepoint.h"

#include <jansson.h>

/* {"text" or "base64","bytes","truncated"}; without the first if with_text is false. NULL: no memory. */
json_t *ck_result_json_stream(const struct choke_capture *capture, bool with_text);

/* Takes out and err, the two streams; NULL for one of them, or no memory, gives NULL. */
json_t *ck_result_json_make(const struct choke_result *result, json_t *out, json_t *err);

#endif
