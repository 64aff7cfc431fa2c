/*
 * json.h - write JSON into one buffer of a given size.
 *
 * No allocation and no blank: what is written is what a hash can be taken of. A value that does not fit leaves the buffer
 * full, and it stays full; ck_json_mark and ck_json_rewind undo what was written since, so that a list can be cut where
 * the room ends. key is NULL in an array; keys and words are constants of the program and are not escaped.
 */
#ifndef CK_BASE_JSON_H
#define CK_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ck_json {
    char *start;
    char *at;
    char *end; /* behind the last byte that may be written */
    bool full;
    bool comma; /* the next value follows another one */
};

struct ck_json_mark {
    char *at;
    bool comma;
};

/* comma: what is written follows other members, which stand in front of the buffer. */
void ck_json_init(struct ck_json *json, char *buffer, size_t size, bool comma);

void ck_json_open(struct ck_json *json, const char *key, char bracket); /* '{' or '[' */
void ck_json_close(struct ck_json *json, char bracket);                 /* '}' or ']' */

/* Text that is UTF-8 is a string, any other {"base64":"..."}, NULL is null. */
void ck_json_text(struct ck_json *json, const char *key, const char *text);
void ck_json_bytes(struct ck_json *json, const char *key, const char *bytes, size_t length);
void ck_json_word(struct ck_json *json, const char *key, const char *word); /* needs no escape; NULL is null */
void ck_json_number(struct ck_json *json, const char *key, uint64_t number);
void ck_json_integer(struct ck_json *json, const char *key, int64_t number);
void ck_json_bool(struct ck_json *json, const char *key, bool value);
void ck_json_raw(struct ck_json *json, const char *text,
                 size_t length); /* JSON that was written before, as it stands */

struct ck_json_mark ck_json_mark(const struct ck_json *json);
void ck_json_rewind(struct ck_json *json, struct ck_json_mark mark);

/* Bytes written, and bytes that are left. */
size_t ck_json_length(const struct ck_json *json);
size_t ck_json_room(const struct ck_json *json);

#define CK_JSON_DEPTH_MAX 64

/*
 * Is the text nested deeper than CK_JSON_DEPTH_MAX? Asked before it is parsed: a parser that calls itself for each level
 * uses up the stack of a host's thread before its own limit (2048 levels) holds.
 */
bool ck_json_is_deep(const char *text, size_t length);

#endif
