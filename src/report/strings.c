/* strings.c - see strings.h. A table of open hashing; the texts follow each other in one buffer. */
#include "report/strings.h"

#include "base/heap.h"
#include "front/shown.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#define BYTES_MAX ((size_t)1 << 31) /* of all texts together */
#define COUNT_MAX (UINT32_MAX / 4)

static uint32_t hash_of(const struct ck_strings *strings, const char *text, size_t length)
{
    unsigned char bytes[crypto_shorthash_BYTES];
    uint32_t hash;

    (void)crypto_shorthash(bytes, (const unsigned char *)text, length, strings->key);
    memcpy(&hash, bytes, sizeof(hash));
    return hash;
}

/* The place of text in the table: where it is, or the free one where it belongs. */
static uint32_t slot_of(const struct ck_strings *strings, const char *text, size_t length)
{
    uint32_t at = hash_of(strings, text, length) & (strings->slot_count - 1);

    for (; strings->slots[at] != 0; at = (at + 1) & (strings->slot_count - 1)) {
        const char *other = strings->bytes + strings->starts[strings->slots[at] - 1];
        if (strncmp(other, text, length) == 0 && other[length] == '\0')
            break;
    }
    return at;
}

/* At most half of the table is in use. */
static bool grow_table(struct ck_strings *strings)
{
    if (strings->count < strings->slot_count / 2)
        return true;
    if (strings->count > COUNT_MAX)
        return false;
    if (strings->slot_count == 0)
        randombytes_buf(strings->key, sizeof(strings->key));
    uint32_t wanted = strings->slot_count > 0 ? strings->slot_count * 2 : 1024;
    uint32_t *slots = calloc(wanted, sizeof(*slots));
    if (!slots)
        return false;
    free(strings->slots);
    strings->slots = slots;
    strings->slot_count = wanted;
    for (uint32_t i = 0; i < strings->count; i++) {
        const char *text = strings->bytes + strings->starts[i];
        strings->slots[slot_of(strings, text, strlen(text))] = i + 1;
    }
    return true;
}

static bool grow_lists(struct ck_strings *strings, size_t more)
{
    if (strings->count == strings->capacity) {
        uint32_t capacity = strings->capacity > 0 ? strings->capacity * 2 : 512;
        size_t *starts = reallocarray(strings->starts, capacity, sizeof(*starts));
        if (!starts)
            return false;
        strings->starts = starts;
        strings->capacity = capacity;
    }
    if (more <= strings->size - strings->used)
        return true;
    size_t size = strings->size > 0 ? strings->size * 2 : (size_t)1 << 16;
    while (size - strings->used < more)
        size *= 2;
    char *bytes = size <= BYTES_MAX ? realloc(strings->bytes, size) : NULL;
    if (!bytes)
        return false;
    strings->bytes = bytes;
    strings->size = size;
    return true;
}

static uint32_t put(struct ck_strings *strings, const char *text, size_t length)
{
    if (strings->failed || !grow_table(strings) || !grow_lists(strings, length + 1)) {
        strings->failed = true;
        return 0;
    }
    uint32_t at = slot_of(strings, text, length);
    if (strings->slots[at] != 0)
        return strings->slots[at] - 1;
    memcpy(strings->bytes + strings->used, text, length);
    strings->bytes[strings->used + length] = '\0';
    strings->starts[strings->count] = strings->used;
    strings->used += length + 1;
    strings->slots[at] = ++strings->count;
    return strings->count - 1;
}

/* The empty text comes first, so it is number 0. */
static uint32_t enter(struct ck_strings *strings, const char *text, size_t length)
{
    if (strings->count == 0)
        (void)put(strings, "", 0);
    return length == 0 ? 0 : put(strings, text, length);
}

uint32_t ck_strings_own(struct ck_strings *strings, const char *text)
{
    return enter(strings, text, strlen(text));
}

uint32_t ck_strings_add(struct ck_strings *strings, const char *text, size_t length, size_t most)
{
    CK_HEAP char *shown = ck_heap_own(ck_shown_text(text, length, most));

    if (!shown)
        strings->failed = true;
    return shown ? ck_strings_own(strings, shown) : 0;
}

uint32_t ck_strings_json(struct ck_strings *strings, const json_t *value, size_t most)
{
    char *shown;

    if (ck_shown_json(value, most, &shown) < 0)
        strings->failed = true;
    uint32_t number = shown ? ck_strings_own(strings, shown) : 0;
    free(shown);
    return number;
}

uint32_t ck_strings_list(struct ck_strings *strings, const json_t *array, const char *separator, size_t most)
{
    char *shown;

    if (ck_shown_list(array, separator, CK_STRINGS_SHORT, most, &shown) < 0)
        strings->failed = true;
    uint32_t number = shown ? ck_strings_own(strings, shown) : 0;
    free(shown);
    return number;
}

const char *ck_strings_text(const struct ck_strings *strings, uint32_t number)
{
    return number < strings->count ? strings->bytes + strings->starts[number] : "";
}

void ck_strings_done(struct ck_strings *strings)
{
    free(strings->bytes);
    free(strings->starts);
    free(strings->slots);
    *strings = (struct ck_strings){0};
}
