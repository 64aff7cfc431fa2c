/*
 * json.c - see json.h.
 *
 * A string is read once: runs of bytes that need no escape are copied as a whole. If a byte turns
 * out not to be UTF-8, the part already written is removed and the whole text is written as base64.
 * Hidden characters (base/glyph.h) are escaped, so that a log on a terminal shows what it contains.
 */
#include "base/json.h"

#include "base/base64.h"
#include "base/glyph.h"

#include <string.h>

void ck_json_init(struct ck_json *json, char *buffer, size_t size, bool comma)
{
    json->start = json->at = buffer;
    json->end = buffer + size;
    json->full = false;
    json->comma = comma;
}

size_t ck_json_length(const struct ck_json *json)
{
    return (size_t)(json->at - json->start);
}

size_t ck_json_room(const struct ck_json *json)
{
    return (size_t)(json->end - json->at);
}

struct ck_json_mark ck_json_mark(const struct ck_json *json)
{
    return (struct ck_json_mark){.at = json->at, .comma = json->comma};
}

void ck_json_rewind(struct ck_json *json, struct ck_json_mark mark)
{
    json->at = mark.at;
    json->comma = mark.comma;
    json->full = false;
}

/* All bytes or none: a piece is never cut, so an escape or a UTF-8 sequence stays whole. */
static inline void put(struct ck_json *json, const char *bytes, size_t length)
{
    if (json->full || ck_json_room(json) < length) {
        json->full = true;
        return;
    }
    memcpy(json->at, bytes, length);
    json->at += length;
}

static inline void put_one(struct ck_json *json, char byte)
{
    put(json, &byte, 1);
}

void ck_json_raw(struct ck_json *json, const char *text, size_t length)
{
    put(json, text, length);
    json->comma = true;
}

/* Room for this much, or the buffer is full. */
static inline bool has_room(struct ck_json *json, size_t length)
{
    json->full = json->full || ck_json_room(json) < length;
    return !json->full;
}

/* The comma and the key; the value follows. */
static void put_key(struct ck_json *json, const char *key)
{
    size_t length = key ? strlen(key) : 0;
    /* the comma, two quotes and the colon */
    if (!has_room(json, length + 4))
        return;
    char *at = json->at;
    if (json->comma)
        *at++ = ',';
    if (key) {
        *at++ = '"';
        memcpy(at, key, length);
        at += length;
        *at++ = '"';
        *at++ = ':';
    }
    json->at = at;
    json->comma = true;
}

void ck_json_open(struct ck_json *json, const char *key, char bracket)
{
    put_key(json, key);
    put_one(json, bracket);
    json->comma = false;
}

void ck_json_close(struct ck_json *json, char bracket)
{
    put_one(json, bracket);
    json->comma = true;
}

/* Digits from the right. */
static void put_number(struct ck_json *json, uint64_t number)
{
    /* UINT64_MAX has 20 digits */
    char digits[20];
    size_t at = sizeof(digits);
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    put(json, digits + at, sizeof(digits) - at);
}

void ck_json_number(struct ck_json *json, const char *key, uint64_t number)
{
    put_key(json, key);
    put_number(json, number);
}

void ck_json_integer(struct ck_json *json, const char *key, int64_t number)
{
    put_key(json, key);
    if (number < 0)
        put_one(json, '-');
    /* unsigned, because -INT64_MIN does not fit into an int64_t */
    put_number(json, number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
}

void ck_json_bool(struct ck_json *json, const char *key, bool value)
{
    put_key(json, key);
    put(json, value ? "true" : "false", value ? 4 : 5);
}

void ck_json_word(struct ck_json *json, const char *key, const char *word)
{
    put_key(json, key);
    if (!word) {
        put(json, "null", 4);
        return;
    }
    size_t length = strlen(word);
    if (!has_room(json, length + 2))
        return;
    *json->at++ = '"';
    memcpy(json->at, word, length);
    json->at += length;
    *json->at++ = '"';
}

/* ---- text ---- */

/* A byte that JSON takes as it is. DEL and all bytes from 0x80 on are looked at more closely. */
static bool is_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

static void put_escaped(struct ck_json *json, uint32_t code)
{
    char text[CK_GLYPH_JSON_MAX];
    size_t length = ck_glyph_json(code, text);
    put(json, text, length);
}

/* An ASCII byte that is not plain: by name where JSON has a short form, otherwise as \u00NN. */
static void put_special(struct ck_json *json, unsigned char c)
{
    switch (c) {
    case '"':
        put(json, "\\\"", 2);
        break;
    case '\\':
        put(json, "\\\\", 2);
        break;
    case '\n':
        put(json, "\\n", 2);
        break;
    case '\t':
        put(json, "\\t", 2);
        break;
    default:
        put_escaped(json, c);
        break;
    }
}

/* A valid sequence of two bytes or more. */
static void put_sequence(struct ck_json *json, const char *bytes, size_t length)
{
    uint32_t code = ck_glyph_code(bytes, length);
    if (ck_glyph_hidden(code))
        put_escaped(json, code);
    else
        put(json, bytes, length);
}

/* Returns false if the bytes are not UTF-8; a part of them is then written already. */
static bool put_string(struct ck_json *json, const char *bytes, size_t length)
{
    put_one(json, '"');
    for (size_t i = 0; i < length && !json->full;) {
        size_t run = 0;
        while (i + run < length && is_plain((unsigned char)bytes[i + run]))
            run++;
        put(json, bytes + i, run);
        i += run;
        if (i == length)
            break;
        size_t sequence = ck_glyph_sequence(bytes + i, length - i);
        if (sequence == 0)
            return false;
        if (sequence == 1)
            put_special(json, (unsigned char)bytes[i]);
        else
            put_sequence(json, bytes + i, sequence);
        i += sequence;
    }
    put_one(json, '"');
    return true;
}

static void put_base64(struct ck_json *json, const char *bytes, size_t length)
{
    put(json, "{\"base64\":\"", 11);
    if (has_room(json, CK_BASE64_LENGTH(length))) {
        ck_base64_encode(json->at, bytes, length);
        json->at += CK_BASE64_LENGTH(length);
    }
    put(json, "\"}", 2);
}

void ck_json_bytes(struct ck_json *json, const char *key, const char *bytes, size_t length)
{
    put_key(json, key);
    char *at = json->at;
    /* after the key: base64 can start here if the bytes are not UTF-8 */
    if (put_string(json, bytes, length))
        return;
    json->at = at;
    put_base64(json, bytes, length);
}

void ck_json_text(struct ck_json *json, const char *key, const char *text)
{
    if (!text)
        ck_json_word(json, key, NULL);
    else
        ck_json_bytes(json, key, text, strlen(text));
}

/*
 * Counts brackets outside of strings. Text that is not JSON may be counted wrong; that does no
 * harm, because a parser stops at the first error.
 */
bool ck_json_is_deep(const char *text, size_t length)
{
    size_t depth = 0;
    bool quoted = false;
    for (size_t i = 0; i < length && depth <= CK_JSON_DEPTH_MAX; i++) {
        if (text[i] == '"')
            quoted = !quoted;
        else if (quoted)
            /* the byte after a backslash cannot end the string */
            i += text[i] == '\\';
        else if (text[i] == '{' || text[i] == '[')
            depth++;
        else if ((text[i] == '}' || text[i] == ']') && depth > 0)
            depth--;
    }
    return depth > CK_JSON_DEPTH_MAX;
}

/* A value is the first one after a bracket, or follows a comma. An empty list counts as two. */
bool ck_json_has_more_values(const char *text, size_t length, size_t max)
{
    size_t values = 1;
    bool quoted = false;
    for (size_t i = 0; i < length && values <= max; i++) {
        if (text[i] == '"')
            quoted = !quoted;
        else if (quoted)
            i += text[i] == '\\'; /* as above */
        else
            values += text[i] == '{' || text[i] == '[' || text[i] == ',';
    }
    return values > max;
}
