/*
 * jansson.c - JSON helpers on top of jansson; see jansson.h.
 *
 * jansson checks UTF-8 when it makes a string; if it refuses, base64 is used. jansson prints a
 * document in small pieces. They are collected, because an outlet polls before every write. A
 * document may be read on a terminal, and jansson escapes only the C0 characters. The other hidden
 * characters (base/glyph.h), which occur only in strings, are escaped here.
 */
#include "front/jansson.h"

#include "base/base64.h"
#include "base/glyph.h"
#include "front/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Collects the pieces of jansson. */
struct gatherer {
    struct ck_outlet *outlet;
    size_t used; /* bytes that are not written yet */
    char bytes[1 << 16];
};

/* NULL when out of memory. Base64 is ASCII, so its UTF-8 needs no check. */
static json_t *base64(const char *data, size_t length)
{
    char *text = malloc(CK_BASE64_LENGTH(length) + 1);
    if (!text)
        return NULL;
    ck_base64_encode(text, data, length);
    json_t *string = json_stringn_nocheck(text, CK_BASE64_LENGTH(length));
    free(text);
    return string;
}

/* Text that is not UTF-8 after all is shown with escapes. */
json_t *ck_jansson_text(const char *text)
{
    if (!text)
        return json_null();
    json_t *string = json_string(text);
    return string ? string : json_string(CK_TEXT_SAFE(text));
}

/* data may contain NULs, hence the length. */
int ck_jansson_set_data(json_t *object, const char *data, size_t length)
{
    json_t *text = json_stringn(data, length);
    if (text)
        return json_object_set_new(object, "text", text);
    return json_object_set_new(object, "base64", base64(data, length));
}

json_t *ck_jansson_bytes(const char *text)
{
    if (!text)
        return json_null();
    json_t *string = json_string(text);
    if (string)
        return string;

    /* If object is NULL, the set frees the value and fails. */
    json_t *object = json_object();
    if (json_object_set_new(object, "base64", base64(text, strlen(text))) == 0)
        return object;
    json_decref(object);
    return NULL;
}

json_t *ck_jansson_list(const char *const *items)
{
    json_t *array = json_array();

    for (; array && items && *items; items++)
        if (json_array_append_new(array, ck_jansson_bytes(*items)) < 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

/* Takes both values; a NULL makes it fail. */
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

json_t *ck_jansson_tool(const char *name, const char *path)
{
    return pair("name", ck_jansson_text(name), "path", ck_jansson_bytes(path));
}

json_t *ck_jansson_error(const struct choke_error *error)
{
    if (error->outcome == CHOKE_NONE)
        return json_null();
    return pair("code", ck_jansson_text(choke_outcome_name(error->outcome)), "message",
                ck_jansson_text(error->message));
}

static void flush(struct gatherer *gatherer)
{
    ck_outlet_write(gatherer->outlet, gatherer->bytes, gatherer->used);
    gatherer->used = 0;
}

/* A piece that is larger than the buffer is written directly, after what came before it. */
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

/* A piece has whole characters. */
static int gather(const char *piece, size_t length, void *data)
{
    struct gatherer *gatherer = data;
    const unsigned char *u = (const unsigned char *)piece;
    size_t done = 0;

    for (size_t at = 0; at < length; at++) {
        /*
         * Plain ASCII is never hidden here: jansson has escaped the control characters. DEL (0x7f)
         * is.
         */
        size_t sequence = u[at] < 0x7f ? 0 : ck_glyph_sequence(piece + at, length - at);
        uint32_t code = sequence > 0 ? ck_glyph_code(piece + at, sequence) : ' ';
        if (!ck_glyph_hidden(code))
            continue;
        char escape[CK_GLYPH_JSON_MAX];
        put(gatherer, piece + done, at - done);
        put(gatherer, escape, ck_glyph_json(code, escape));
        done = at + sequence;
        /* The loop adds 1. */
        at = done - 1;
    }
    put(gatherer, piece + done, length - done);
    return gatherer->outlet->error == 0 ? 0 : -1;
}

void ck_jansson_write(struct ck_outlet *outlet, const json_t *value)
{
    struct gatherer *gatherer = malloc(sizeof(*gatherer));
    if (!gatherer) {
        outlet->error = ENOMEM;
        return;
    }
    gatherer->outlet = outlet;
    gatherer->used = 0;
    /*
     * 15 digits print a time in microseconds as it was measured. jansson's default of 17 would
     * print 0.1 as 0.10000000000000001.
     */
    if (json_dump_callback(value, gather, gatherer, JSON_COMPACT | JSON_REAL_PRECISION(15)) < 0 && outlet->error == 0)
        outlet->error = ENOMEM;
    (void)gather("\n", 1, gatherer);
    flush(gatherer);
    free(gatherer);
}
