/*
 * json.c - jansson checks UTF-8 when a string is made, so its refusal is what chooses base64.
 *
 * jansson hands out a document in small pieces; they are gathered, because an outlet polls before every write. A
 * document may be read on a terminal, and jansson escapes the C0 set only: see unsafe_length().
 */
#include "cli/json.h"

#include "cli/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct gatherer {
    struct ck_outlet *outlet;
    size_t used;
    char bytes[1 << 16];
};

static json_t *base64(const char *data, size_t length)
{
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t used = 0;
    char *text = malloc(length / 3 * 4 + 4);
    if (!text)
        return NULL;

    for (size_t at = 0; at < length; at += 3) {
        size_t left = length - at;
        uint32_t group = (uint32_t)(unsigned char)data[at] << 16;
        if (left > 1)
            group |= (uint32_t)(unsigned char)data[at + 1] << 8;
        if (left > 2)
            group |= (unsigned char)data[at + 2];
        text[used++] = alphabet[group >> 18];
        text[used++] = alphabet[group >> 12 & 63];
        text[used++] = left > 1 ? alphabet[group >> 6 & 63] : '=';
        text[used++] = left > 2 ? alphabet[group & 63] : '=';
    }
    json_t *string = json_stringn_nocheck(text, used);
    free(text);
    return string;
}

json_t *ck_json_text(const char *text)
{
    if (!text)
        return json_null();
    json_t *string = json_string(text);
    return string ? string : json_string(CK_TEXT_SAFE(text));
}

int ck_json_set_data(json_t *object, const char *data, size_t length)
{
    json_t *text = json_stringn(data, length);
    if (text)
        return json_object_set_new(object, "text", text);
    return json_object_set_new(object, "base64", base64(data, length));
}

json_t *ck_json_bytes(const char *text)
{
    if (!text)
        return json_null();
    json_t *string = json_string(text);
    if (string)
        return string;

    json_t *object = json_object();
    if (json_object_set_new(object, "base64", base64(text, strlen(text))) == 0)
        return object;
    json_decref(object);
    return NULL;
}

json_t *ck_json_list(const char *const *items)
{
    json_t *array = json_array();

    for (; array && items && *items; items++)
        if (json_array_append_new(array, ck_json_bytes(*items)) < 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

static json_t *pair(const char *first_key, json_t *first, const char *second_key, json_t *second)
{
    json_t *object = json_object();
    int bad = json_object_set_new(object, first_key, first);

    bad |= json_object_set_new(object, second_key, second);
    if (!bad)
        return object;
    json_decref(object);
    return NULL;
}

json_t *ck_json_tool(const char *name, const char *path)
{
    return pair("name", ck_json_text(name), "path", ck_json_bytes(path));
}

json_t *ck_json_error(const struct choke_error *error)
{
    if (error->outcome == CHOKE_NONE)
        return json_null();
    return pair("code", ck_json_text(choke_outcome_name(error->outcome)), "message", ck_json_text(error->message));
}

static void flush(struct gatherer *gatherer)
{
    ck_outlet_write(gatherer->outlet, gatherer->bytes, gatherer->used);
    gatherer->used = 0;
}

static void put(struct gatherer *gatherer, const char *piece, size_t length)
{
    if (length > sizeof(gatherer->bytes) - gatherer->used)
        flush(gatherer);
    if (length > sizeof(gatherer->bytes)) {
        ck_outlet_write(gatherer->outlet, piece, length);
    } else {
        memcpy(gatherer->bytes + gatherer->used, piece, length);
        gatherer->used += length;
    }
}

/*
 * The bytes of a character that a terminal obeys, or that makes a line read otherwise than it is; 0: it is another. They
 * stand in strings only, where they may be escaped.
 */
static size_t unsafe_length(const unsigned char *u, size_t left)
{
    if (u[0] == 0x7f)
        return 1;
    if (left >= 2 && ((u[0] == 0xc2 && u[1] < 0xa0) || (u[0] == 0xd8 && u[1] == 0x9c)))
        return 2;
    if (left < 3 || u[0] != 0xe2)
        return 0;
    bool turns = (u[1] == 0x80 && (u[2] == 0x8e || u[2] == 0x8f || (u[2] >= 0xa8 && u[2] <= 0xae))) ||
                 (u[1] == 0x81 && u[2] >= 0xa6 && u[2] <= 0xa9);
    return turns ? 3 : 0;
}

static void put_escaped(struct gatherer *gatherer, const unsigned char *u, size_t length)
{
    char escape[8];
    unsigned code = length == 1   ? u[0]
                    : length == 2 ? (u[0] & 31u) << 6 | (u[1] & 63u)
                                  : (u[0] & 15u) << 12 | (u[1] & 63u) << 6 | (u[2] & 63u);
    put(gatherer, escape, (size_t)snprintf(escape, sizeof(escape), "\\u%04x", code & 0xffffu));
}

/* A piece has whole characters. */
static int gather(const char *piece, size_t length, void *data)
{
    struct gatherer *gatherer = data;
    const unsigned char *u = (const unsigned char *)piece;
    size_t done = 0;

    for (size_t at = 0; at < length; at++) {
        size_t unsafe = u[at] < 0x7f ? 0 : unsafe_length(u + at, length - at);
        if (unsafe == 0)
            continue;
        put(gatherer, piece + done, at - done);
        put_escaped(gatherer, u + at, unsafe);
        done = at + unsafe;
        at = done - 1;
    }
    put(gatherer, piece + done, length - done);
    return gatherer->outlet->error == 0 ? 0 : -1;
}

void ck_json_write(struct ck_outlet *outlet, const json_t *value)
{
    struct gatherer *gatherer = malloc(sizeof(*gatherer));
    if (!gatherer) {
        outlet->error = ENOMEM;
        return;
    }
    gatherer->outlet = outlet;
    gatherer->used = 0;
    /*
     * 15 digits print a time in microseconds as it was measured; jansson's 17 would print 0.1 as 0.10000000000000001.
     */
    if (json_dump_callback(value, gather, gatherer, JSON_COMPACT | JSON_REAL_PRECISION(15)) < 0 && outlet->error == 0)
        outlet->error = ENOMEM;
    (void)gather("\n", 1, gatherer);
    flush(gatherer);
    free(gatherer);
}
