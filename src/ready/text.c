/* text.c - reads strings from JSON, with a limit on their length. */
#include "ready/text.h"

#include <string.h>

/* A missing member is NULL here, which json_is_string refuses. */
static bool take(struct ck_arena *arena, const json_t *value, size_t max_bytes, const char **ret_text)
{
    if (!json_is_string(value) || json_string_length(value) > max_bytes)
        return false;
    /* jansson refuses a NUL in a string unless JSON_ALLOW_NUL is set, so this copies all of it. */
    *ret_text = ck_arena_strdup(arena, json_string_value(value));
    return !!*ret_text;
}

bool ck_text_member(struct ck_arena *arena, const json_t *object, const char *key, size_t max_bytes,
                    const char **ret_text)
{
    return take(arena, json_object_get(object, key), max_bytes, ret_text);
}

bool ck_text_optional(struct ck_arena *arena, const json_t *object, const char *key, size_t max_bytes,
                      const char **ret_text)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_null(value))
        return take(arena, value, max_bytes, ret_text);
    *ret_text = NULL;
    return true;
}

bool ck_text_is_sha256(const char *text)
{
    return strlen(text) == 64 && strspn(text, "0123456789abcdef") == 64;
}

json_t *ck_text_json(const char *text)
{
    return text ? json_string(text) : json_null();
}
