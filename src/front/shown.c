/* shown.c - see shown.h. */
#include "front/shown.h"

#include "base/base64.h"
#include "base/heap.h"
#include "base/quote.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOTE_MAX 64

/* Not in the middle of a character. */
static size_t cut_at(const char *text, size_t length, size_t most)
{
    if (length <= most)
        return length;
    while (most > 0 && ((unsigned char)text[most] & 0xc0) == 0x80)
        most--;
    return most;
}

char *ck_shown_text(const char *text, size_t length, size_t most)
{
    size_t end = cut_at(text, length, most);
    size_t at = 0;
    char *shown = malloc(CK_QUOTE_PIECE_MAX * end + NOTE_MAX);

    if (!shown)
        return NULL;
    for (size_t i = 0, used; i < end; i += used)
        at += ck_quote_next(CK_QUOTE_SHOWN, text + i, end - i, shown + at, &used);
    shown[at] = '\0';
    if (end < length)
        (void)snprintf(shown + at, NOTE_MAX, " … (%zu bytes more)", length - end);
    return shown;
}

/* What is no base64 is shown as it is. */
static char *show_base64(const char *text, size_t most)
{
    size_t length;
    CK_HEAP char *bytes = ck_heap_own(malloc(strlen(text) + 1));

    if (!bytes)
        return NULL;
    if (!ck_base64_decode(bytes, &length, text, strlen(text)))
        return ck_shown_text(text, strlen(text), most);
    return ck_shown_text(bytes, length, most);
}

int ck_shown_json(const json_t *value, size_t most, char **ret_text)
{
    const char *base64 = json_string_value(json_object_get(value, "base64"));

    *ret_text = NULL;
    if (json_is_string(value))
        *ret_text = ck_shown_text(json_string_value(value), json_string_length(value), most);
    else if (base64)
        *ret_text = show_base64(base64, most);
    else
        return 0;
    return *ret_text ? 0 : -ENOMEM;
}

/* Items are shown one by one before, so the whole is only cut. */
int ck_shown_list(const json_t *array, const char *separator, size_t each, size_t most, char **ret_text)
{
    CK_HEAP char *text = NULL;
    size_t size = 0, i;
    const json_t *item;
    int r = 0;
    FILE *out = open_memstream(&text, &size);

    *ret_text = NULL;
    if (!out)
        return -ENOMEM;
    json_array_foreach(array, i, item)
    {
        char *shown;
        r |= ck_shown_json(item, each, &shown);
        (void)fprintf(out, "%s%s", i > 0 ? separator : "", shown ? shown : "");
        free(shown);
    }
    if (fclose(out) != 0 || r != 0 || !text)
        return -ENOMEM;
    *ret_text = ck_shown_text(text, size, most);
    return *ret_text ? 0 : -ENOMEM;
}
