/*
 * value.c - makes JavaScript values.
 */
#include "addon.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool addon_ok(napi_env env, napi_status status)
{
    const napi_extended_error_info *info = NULL;
    bool pending = false;

    if (status == napi_ok)
        return true;
    /* In an environment that is being ended every call may fail, these too. */
    if (napi_get_last_error_info(env, &info) == napi_ok && napi_is_exception_pending(env, &pending) == napi_ok &&
        !pending)
        napi_throw_error(env, "ERR_CHOKEPOINT", info && info->error_message ? info->error_message : "Node-API failed");
    return false;
}

napi_value addon_null(napi_env env)
{
    napi_value value = NULL;
    return addon_ok(env, napi_get_null(env, &value)) ? value : NULL;
}

napi_value addon_boolean(napi_env env, bool truth)
{
    napi_value value = NULL;
    return addon_ok(env, napi_get_boolean(env, truth, &value)) ? value : NULL;
}

napi_value addon_number(napi_env env, double number)
{
    napi_value value = NULL;
    return addon_ok(env, napi_create_double(env, number, &value)) ? value : NULL;
}

napi_value addon_text(napi_env env, const char *text)
{
    napi_value value = NULL;
    if (!text)
        return addon_null(env);
    return addon_ok(env, napi_create_string_utf8(env, text, NAPI_AUTO_LENGTH, &value)) ? value : NULL;
}

napi_value addon_buffer(napi_env env, const void *data, size_t size)
{
    napi_value value = NULL;
    return addon_ok(env, napi_create_buffer_copy(env, size, data, NULL, &value)) ? value : NULL;
}

napi_value addon_object(napi_env env)
{
    napi_value value = NULL;
    return addon_ok(env, napi_create_object(env, &value)) ? value : NULL;
}

napi_value addon_array(napi_env env)
{
    napi_value value = NULL;
    return addon_ok(env, napi_create_array(env, &value)) ? value : NULL;
}

void addon_put(napi_env env, napi_value *object, const char *key, napi_value value)
{
    if (!*object || !value || !addon_ok(env, napi_set_named_property(env, *object, key, value)))
        *object = NULL;
}

void addon_append(napi_env env, napi_value *array, uint32_t *count, napi_value value)
{
    if (!*array || !value || !addon_ok(env, napi_set_element(env, *array, *count, value)))
        *array = NULL;
    else
        *count += 1;
}

/* The length of the UTF-8 sequence at text, 0 if it is not valid. The caller has a NUL at the end. */
static size_t sequence_length(const unsigned char *text)
{
    static const struct {
        unsigned char first, last; /* of the first byte */
        unsigned char low, high;   /* of the second: no overlong form, no surrogate, not above U+10FFFF */
        size_t length;
    } forms[] = {
        {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3}, {0xE1, 0xEC, 0x80, 0xBF, 3},
        {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3}, {0xF0, 0xF0, 0x90, 0xBF, 4},
        {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4},
    };

    if (text[0] < 0x80)
        return 1;
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        if (text[0] < forms[i].first || text[0] > forms[i].last)
            continue;
        if (text[1] < forms[i].low || text[1] > forms[i].high)
            return 0;
        for (size_t j = 2; j < forms[i].length; j++)
            if ((text[j] & 0xC0) != 0x80)
                return 0;
        return forms[i].length;
    }
    return 0;
}

static bool is_utf8(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;

    while (*at) {
        size_t length = sequence_length(at);
        if (length == 0)
            return false;
        at += length;
    }
    return true;
}

static napi_value base64(napi_env env, const char *text)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *bytes = (const unsigned char *)text;
    size_t length = strlen(text), used = 0;
    char *encoded = malloc(length / 3 * 4 + 5);
    napi_value value = NULL;

    if (!encoded) {
        napi_throw_error(env, "ERR_CHOKEPOINT", "out of memory");
        return NULL;
    }
    for (size_t i = 0; i < length; i += 3) {
        unsigned second = i + 1 < length ? bytes[i + 1] : 0, third = i + 2 < length ? bytes[i + 2] : 0;
        unsigned group = ((unsigned)bytes[i] << 16) | (second << 8) | third;
        encoded[used++] = digits[group >> 18];
        encoded[used++] = digits[(group >> 12) & 63];
        encoded[used++] = digits[(group >> 6) & 63];
        encoded[used++] = digits[group & 63];
    }
    if (length % 3 != 0)
        memset(encoded + used - (3 - length % 3), '=', 3 - length % 3);
    bool made = addon_ok(env, napi_create_string_latin1(env, encoded, used, &value));
    free(encoded);
    return made ? value : NULL;
}

napi_value addon_bytes(napi_env env, const char *text)
{
    if (!text || is_utf8(text))
        return addon_text(env, text);
    napi_value object = addon_object(env);
    addon_put(env, &object, "base64", base64(env, text));
    return object;
}

napi_value addon_list(napi_env env, const char *const *items)
{
    napi_value array = addon_array(env);
    uint32_t count = 0;

    for (; array && items && *items; items++)
        addon_append(env, &array, &count, addon_bytes(env, *items));
    return array;
}

napi_value addon_throw(napi_env env, int status, const struct choke_error *error)
{
    const char *outcome = error->outcome != CHOKE_NONE ? choke_outcome_name(error->outcome) : NULL;
    napi_value code = addon_text(env, "ERR_CHOKEPOINT");
    napi_value message = addon_text(env, error->message[0] ? error->message : strerror(-status));
    napi_value object = NULL;

    if (!code || !message || !addon_ok(env, napi_create_error(env, code, message, &object)))
        return NULL;
    addon_put(env, &object, "outcome", addon_text(env, outcome));
    addon_put(env, &object, "errno", addon_number(env, error->errnum != 0 ? error->errnum : -status));
    if (object)
        napi_throw(env, object);
    return NULL;
}

napi_value addon_throw_type(napi_env env, const char *what, const char *expected)
{
    char message[256];

    snprintf(message, sizeof(message), "'%s' must be %s", what, expected);
    napi_throw_type_error(env, "ERR_INVALID_ARG_TYPE", message);
    return NULL;
}
