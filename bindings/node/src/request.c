/*
 * request.c - reads the objects of ../lib into the structs of the library.
 *
 * ../lib has checked names and meanings, and passes an object of its own that has no accessors. Types
 * are checked here: whatever is passed, the result is a request or a TypeError. Text is not cut
 * at a NUL and not repaired: what the tool gets is what the caller wrote.
 */
#include "addon.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST 9007199254740991.0 /* Number.MAX_SAFE_INTEGER */

struct addon_memory {
    struct addon_memory *next;
    _Alignas(max_align_t) char bytes[];
};

/* What is being read: the object, and where copies go. After a failure, failed is true. */
struct reader {
    napi_env env;
    napi_value object;
    struct addon_memory **memory;
    bool failed;
};

static void *take(struct reader *reader, size_t bytes)
{
    struct addon_memory *block = malloc(sizeof(*block) + bytes);
    if (!block) {
        napi_throw_error(reader->env, "ERR_CHOKEPOINT", "out of memory");
        reader->failed = true;
        return NULL;
    }
    block->next = *reader->memory;
    *reader->memory = block;
    return block->bytes;
}

static void release(struct addon_memory **memory)
{
    while (*memory) {
        struct addon_memory *next = (*memory)->next;
        free(*memory);
        *memory = next;
    }
}

static void wrong(struct reader *reader, const char *name, const char *expected)
{
    if (!reader->failed)
        addon_throw_type(reader->env, name, expected);
    reader->failed = true;
}

/* False if it is undefined or null, or after a failure. */
static bool get(struct reader *reader, const char *name, napi_value *ret_value, napi_valuetype *ret_type)
{
    if (reader->failed)
        return false;
    if (!addon_ok(reader->env, napi_get_named_property(reader->env, reader->object, name, ret_value)) ||
        !addon_ok(reader->env, napi_typeof(reader->env, *ret_value, ret_type))) {
        reader->failed = true;
        return false;
    }
    return *ret_type != napi_undefined && *ret_type != napi_null;
}

static bool is_bytes(napi_env env, napi_value value, const void **ret_data, size_t *ret_length)
{
    napi_typedarray_type type;
    bool is_array = false;
    void *data = NULL;

    if (napi_is_typedarray(env, value, &is_array) != napi_ok || !is_array)
        return false;
    if (napi_get_typedarray_info(env, value, &type, ret_length, &data, NULL, NULL) != napi_ok)
        return false;
    *ret_data = data;
    return type == napi_uint8_array || type == napi_uint8_clamped_array;
}

/* A copy with a NUL at its end, and none in it. */
static const char *text_of(struct reader *reader, const char *name, napi_value value)
{
    const void *data = NULL;
    size_t length = 0;
    char *text = NULL;

    if (reader->failed)
        return NULL;
    if (is_bytes(reader->env, value, &data, &length)) {
        text = take(reader, length + 1);
        if (text && length > 0)
            memcpy(text, data, length);
    } else if (napi_get_value_string_utf8(reader->env, value, NULL, 0, &length) == napi_ok) {
        text = take(reader, length + 1);
        if (text && !addon_ok(reader->env, napi_get_value_string_utf8(reader->env, value, text, length + 1, &length)))
            reader->failed = true;
    } else {
        wrong(reader, name, "a string or a Uint8Array");
    }
    if (!text || reader->failed)
        return NULL;
    text[length] = '\0';
    if (strlen(text) != length)
        wrong(reader, name, "text without a NUL");
    return text;
}

static const char *text(struct reader *reader, const char *name)
{
    napi_valuetype type;
    napi_value value;

    return get(reader, name, &value, &type) ? text_of(reader, name, value) : NULL;
}

static const char *const *list(struct reader *reader, const char *name)
{
    napi_valuetype type;
    napi_value value;
    bool is_array = false;
    uint32_t count = 0;

    if (!get(reader, name, &value, &type))
        return NULL;
    if (napi_is_array(reader->env, value, &is_array) != napi_ok || !is_array ||
        napi_get_array_length(reader->env, value, &count) != napi_ok) {
        wrong(reader, name, "an array");
        return NULL;
    }
    const char **items = take(reader, ((size_t)count + 1) * sizeof(*items));
    for (uint32_t i = 0; items && i < count && !reader->failed; i++) {
        char place[64];
        napi_value item;
        snprintf(place, sizeof(place), "%s[%u]", name, (unsigned)i);
        if (!addon_ok(reader->env, napi_get_element(reader->env, value, i, &item)))
            reader->failed = true;
        items[i] = text_of(reader, place, item);
    }
    if (!items || reader->failed)
        return NULL;
    items[count] = NULL;
    return items;
}

static bool boolean(struct reader *reader, const char *name)
{
    napi_valuetype type;
    napi_value value;
    bool truth = false;

    if (get(reader, name, &value, &type) && napi_get_value_bool(reader->env, value, &truth) != napi_ok)
        wrong(reader, name, "true or false");
    return truth;
}

static uint64_t number(struct reader *reader, const char *name, uint64_t otherwise)
{
    napi_valuetype type;
    napi_value value;
    double given = 0;

    if (!get(reader, name, &value, &type))
        return otherwise;
    if (napi_get_value_double(reader->env, value, &given) != napi_ok || !(given >= 0) || given > LARGEST ||
        given != floor(given)) {
        wrong(reader, name, "a number without a fraction, and not negative");
        return otherwise;
    }
    return (uint64_t)given;
}

/* The index of the text in names; 0 if there is none. */
static int choice(struct reader *reader, const char *name, const char *const *names, size_t count)
{
    const char *given = text(reader, name);

    for (size_t i = 0; given && i < count; i++)
        if (strcmp(given, names[i]) == 0)
            return (int)i;
    if (given)
        wrong(reader, name, "one of the names that the types list");
    return 0;
}

static void read_stdin(struct reader *reader, struct choke_request *request)
{
    napi_valuetype type;
    napi_value value;

    uint64_t fd = number(reader, "stdin", UINT64_MAX);
    if (fd != UINT64_MAX) {
        request->stdin_kind = CHOKE_STDIN_FD;
        request->stdin_fd = fd > INT32_MAX ? -1 : (int)fd;
    }
    if (!get(reader, "input", &value, &type))
        return;
    /* Not copied: the library copies it during the call, and no JavaScript runs until then. */
    if (!is_bytes(reader->env, value, &request->stdin_bytes, &request->stdin_length))
        wrong(reader, "input", "a Uint8Array");
    request->stdin_kind = CHOKE_STDIN_BYTES;
}

bool addon_request_read(napi_env env, napi_value object, struct addon_request *to)
{
    static const char *const jails[] = {[CHOKE_JAIL_DEFAULT] = "default",
                                        [CHOKE_JAIL_AUTO] = "auto",
                                        [CHOKE_JAIL_NATIVE] = "native",
                                        [CHOKE_JAIL_BWRAP] = "bwrap",
                                        [CHOKE_JAIL_NONE] = "none"};
    struct reader reader = {.env = env, .object = object, .memory = &to->memory};
    struct choke_request *request = &to->request;

    request->struct_size = sizeof(*request);
    request->argv = list(&reader, "argv");
    request->root = text(&reader, "root");
    request->cwd = text(&reader, "cwd");
    request->timeout_ms = number(&reader, "timeout", CHOKE_TIMEOUT_FROM_POLICY);
    request->probe = text(&reader, "probe");
    request->egress = list(&reader, "egress");
    request->env = list(&reader, "env");
    read_stdin(&reader, request);
    request->max_output_bytes = (size_t)number(&reader, "maxOutput", 0);
    request->jail = (enum choke_jail)choice(&reader, "jail", jails, sizeof(jails) / sizeof(jails[0]));
    request->require_jail = boolean(&reader, "requireJail");
    request->keep_path = text(&reader, "keep");
    request->sandbox = boolean(&reader, "sandbox");
    request->keep_head_bytes = (size_t)number(&reader, "keepHead", 0);
    request->why = boolean(&reader, "why");
    return !reader.failed;
}

void addon_request_done(struct addon_request *request)
{
    release(&request->memory);
}

bool addon_options_read(napi_env env, napi_value object, struct addon_options *to)
{
    static const char *const syncs[] = {
        [CHOKE_AUDIT_SYNC_BATCHED] = "batched", [CHOKE_AUDIT_SYNC_EVERY] = "every", [CHOKE_AUDIT_SYNC_NONE] = "none"};
    static const char *const logs[] = {
        [CHOKE_AUDIT_NAMED] = "named", [CHOKE_AUDIT_DEFAULT] = "default", [CHOKE_AUDIT_OFF] = "off"};
    struct reader reader = {.env = env, .object = object, .memory = &to->memory};
    struct choke_options *options = &to->options;

    options->struct_size = sizeof(*options);
    options->policy_path = text(&reader, "policy");
    options->audit_path = text(&reader, "audit");
    options->audit_sync = (enum choke_audit_sync)choice(&reader, "auditSync", syncs, sizeof(syncs) / sizeof(syncs[0]));
    options->audit_max_bytes = number(&reader, "auditMaxBytes", 0);
    options->audit_log = (enum choke_audit_log)choice(&reader, "auditLog", logs, sizeof(logs) / sizeof(logs[0]));
    to->events = boolean(&reader, "events");
    return !reader.failed;
}

void addon_options_done(struct addon_options *options)
{
    release(&options->memory);
}
