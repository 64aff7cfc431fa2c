/*
 * text.h - strings from JSON, checked and copied, for the formats of this directory.
 */
#ifndef CK_READY_TEXT_H
#define CK_READY_TEXT_H

#include "base/arena.h"

#include <jansson.h>
#include <stdbool.h>

/*
 * The member as text in the arena. False if it is missing, not a string or longer than max_bytes,
 * or without memory.
 */
bool ck_text_member(struct ck_arena *arena, const json_t *object, const char *key, size_t max_bytes,
                    const char **ret_text);

/* The same, but null gives NULL. A member that is missing is still an error. */
bool ck_text_optional(struct ck_arena *arena, const json_t *object, const char *key, size_t max_bytes,
                      const char **ret_text);

/* 64 lower-case hexadecimal digits. */
bool ck_text_is_sha256(const char *text);

/* JSON null for NULL; NULL if memory ran out or the text is not UTF-8. */
json_t *ck_text_json(const char *text);

#endif
