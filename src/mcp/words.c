/* words.c - see words.h. */
#include "mcp/words.h"

#include "base/quote.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

void ck_mcp_words_print(FILE *out, const char *bytes, size_t length)
{
    for (size_t used; length > 0; bytes += used, length -= used) {
        char piece[CK_QUOTE_PIECE_MAX];

        used = 1;
        if (*bytes == '\n' || *bytes == '\t' || (*bytes >= 0x20 && *bytes < 0x7f))
            (void)fputc(*bytes, out);
        else
            (void)fwrite(piece, 1, ck_quote_next(CK_QUOTE_SHOWN, bytes, length, piece, &used), out);
    }
}

FILE *ck_mcp_words_begin(struct ck_mcp_words *words)
{
    *words = (struct ck_mcp_words){0};
    return words->out = open_memstream(&words->text, &words->length);
}

json_t *ck_mcp_words_end(struct ck_mcp_words *words)
{
    if (!words->out)
        return NULL;
    json_t *string = fclose(words->out) == 0 ? json_stringn(words->text, words->length) : NULL;
    free(words->text);
    *words = (struct ck_mcp_words){0};
    return string;
}

json_t *ck_mcp_words_escape(const char *bytes, size_t length)
{
    struct ck_mcp_words words;

    if (!ck_mcp_words_begin(&words))
        return NULL;
    ck_mcp_words_print(words.out, bytes, length);
    return ck_mcp_words_end(&words);
}

/* Most strings have nothing to escape and stay as they are. */
static void clean_string(json_t *string)
{
    const char *text = json_string_value(string);
    size_t length = json_string_length(string);
    size_t size = length * CK_QUOTE_PIECE_MAX + 1;
    char *shown = malloc(size);

    /* A string that cannot be cleaned is not passed on. */
    if (!shown)
        (void)json_string_set(string, "");
    else if (strcmp(ck_quote_as(CK_QUOTE_SHOWN, shown, size, text, length), text) != 0)
        (void)json_string_set(string, shown);
    free(shown);
}

/* No deeper than what was parsed within CK_JSON_DEPTH_MAX, or made by this program. */
void ck_mcp_words_clean(json_t *value)
{
    const char *key;
    json_t *member;
    size_t index;

    if (json_is_string(value))
        clean_string(value);
    json_array_foreach(value, index, member)
    {
        ck_mcp_words_clean(member);
    }
    json_object_foreach(value, key, member)
    {
        ck_mcp_words_clean(member);
    }
}

json_t *ck_mcp_words_block(json_t *text)
{
    return json_pack("{s:s, s:o}", "type", "text", "text", text);
}

json_t *ck_mcp_words_untrusted(const char *what, const char *text, size_t length)
{
    struct ck_mcp_words words;
    uint64_t mark;

    /* Without a mark that cannot be guessed the text is not passed on. */
    if (getrandom(&mark, sizeof(mark), 0) != (ssize_t)sizeof(mark) || !ck_mcp_words_begin(&words))
        return NULL;
    (void)fprintf(words.out, "%s, untrusted, up to the next %016" PRIx64 ":\n", what, mark);
    ck_mcp_words_print(words.out, text, length);
    (void)fprintf(words.out, "%s%016" PRIx64 "\n", length > 0 && text[length - 1] == '\n' ? "" : "\n", mark);
    return ck_mcp_words_block(ck_mcp_words_end(&words));
}

json_t *ck_mcp_words_result(json_t *content, json_t *structured, bool is_error)
{
    return json_pack("{s:o, s:o, s:b}", "content", content, "structuredContent", structured, "isError", is_error);
}
