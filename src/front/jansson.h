/*
 * jansson.h - what jansson lacks: bytes that may not be UTF-8, and writing to an outlet.
 *
 * Constructors return NULL when out of memory; json_object_set_new accepts that NULL and reports
 * it.
 */
#ifndef CK_FRONT_JANSSON_H
#define CK_FRONT_JANSSON_H

#include "chokepoint.h"
#include "front/outlet.h"

#include <jansson.h>

/* For text of this program and the library: always a string; NULL gives null. */
json_t *ck_jansson_text(const char *text);

/* For untrusted bytes: a string, or {"base64": ...} if they are not UTF-8; NULL gives null. */
json_t *ck_jansson_bytes(const char *text);

/* A NULL-terminated list as an array of ck_jansson_bytes; NULL gives an empty array. */
json_t *ck_jansson_list(const char *const *items);

/* {"name","path"} */
json_t *ck_jansson_tool(const char *name, const char *path);

/* {"code","message"}, or null if error has no outcome. */
json_t *ck_jansson_error(const struct choke_error *error);

/* Sets "text", or "base64" if data is not UTF-8. Returns 0, or -1 when out of memory. */
int ck_jansson_set_data(json_t *object, const char *data, size_t length);

/* Writes value as one line. */
void ck_jansson_write(struct ck_outlet *outlet, const json_t *value);

#endif
