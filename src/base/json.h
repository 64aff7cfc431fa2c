/*
 * json.h - write JSON into one buffer of a given size.
 *
 * Nothing is allocated, and no space or newline is written between values: the same values give the
 * same bytes, so a hash of the text can be compared. If a value does not fit, the buffer is marked
 * full and later values are dropped. ck_json_mark and ck_json_rewind remove what was written since
 * the mark, so a list can be cut where the room ends.
 *
 * key is NULL in an array. Keys and words are constants of the program and are not escaped.
 */
#ifndef CK_BASE_JSON_H
#define CK_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A NUL is never written; ck_json_length says how long the text is. */
struct ck_json {
    char *start;
    char *at;
    char *end;  /* after the last byte that may be written */
    bool full;  /* a value did not fit; stays true until a rewind */
    bool comma; /* the next value follows another one */
};

/* A position to go back to, as ck_json_mark returns it. */
struct ck_json_mark {
    char *at;
    bool comma;
};

/* comma: the text continues other members that are not in this buffer, so a comma comes first. */
void ck_json_init(struct ck_json *json, char *buffer, size_t size, bool comma);

void ck_json_open(struct ck_json *json, const char *key, char bracket); /* '{' or '[' */
void ck_json_close(struct ck_json *json, char bracket);                 /* '}' or ']' */

/* Text that is UTF-8 is a string, any other {"base64":"..."}, NULL is null. */
void ck_json_text(struct ck_json *json, const char *key, const char *text);
void ck_json_bytes(struct ck_json *json, const char *key, const char *bytes, size_t length);
/* no escape needed; NULL is null */
void ck_json_word(struct ck_json *json, const char *key, const char *word);
void ck_json_number(struct ck_json *json, const char *key, uint64_t number);
void ck_json_integer(struct ck_json *json, const char *key, int64_t number);
void ck_json_bool(struct ck_json *json, const char *key, bool value);
/* JSON text that is copied unchanged; for a member it begins with its comma, if it needs one. */
void ck_json_raw(struct ck_json *json, const char *text, size_t length);

/*
 * Only the latest part can be removed: a mark is not valid any more after a rewind to an earlier
 * one.
 */
struct ck_json_mark ck_json_mark(const struct ck_json *json);
void ck_json_rewind(struct ck_json *json, struct ck_json_mark mark);

/* Bytes written, and bytes that are left. */
size_t ck_json_length(const struct ck_json *json);
size_t ck_json_room(const struct ck_json *json);

#define CK_JSON_DEPTH_MAX 64

/*
 * Is the text nested deeper than CK_JSON_DEPTH_MAX? Callers ask this before they parse it: a parser
 * that calls itself for each level uses up the stack of a host's thread before it reaches its own
 * limit of 2048 levels.
 */
bool ck_json_is_deep(const char *text, size_t length);

/*
 * Has the text more than max values? Callers ask this before they parse a text that others wrote: an
 * empty list has two bytes there, and more than 100 in memory.
 */
bool ck_json_has_more_values(const char *text, size_t length, size_t max);

#endif
