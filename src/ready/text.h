/*
 * text.h - what the formats of this directory share: strings out of JSON, checked and copied.
 */
#ifndef CK_READY_TEXT_H
#define CK_READY_TEXT_H

#include "base/arena.h"

#include <jansson.h>
#include <stdbool.h>

/* The member as text in the arena: false where it is absent, no string, or longer than max_bytes. */
bool ck_text_member(struct ck_arena *arena, const json_t *object, const char *key, size_t max_bytes,
                    const char **ret_text);

/* The same, where null gives NULL. */
bool ck_text_optional(struct ck_arena *arena, const json_t *object, const char *key, size_t max_bytes,
                      const char **ret_text);

/* 64 lower-case hexadecimal digits. */
bool ck_text_is_sha256(const char *text);

/* null for NULL. */
json_t *ck_text_json(const char *text);

#endif
