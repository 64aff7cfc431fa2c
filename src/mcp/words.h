/*
 * words.h - the text of an answer: words of the server, and bytes that it does not trust.
 *
 * Must: keep the two apart, also for a client that joins all texts of an answer. Untrusted bytes are
 * between two lines with a random mark, which is chosen after they were written, so they cannot
 * contain it. Control bytes and other hidden characters are escaped, except newline and tab.
 */
#ifndef CK_MCP_WORDS_H
#define CK_MCP_WORDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Escaped; takes at most four times as many bytes. NULL: no memory. */
json_t *ck_mcp_words_escape(const char *bytes, size_t length);
void ck_mcp_words_print(FILE *out, const char *bytes, size_t length);

/* Escapes every string value in it, newlines too. Keys are the program's own. */
void ck_mcp_words_clean(json_t *value);

/* A text block of an answer, {"type":"text","text"}. Takes text; NULL: no memory. */
json_t *ck_mcp_words_block(json_t *text);

/* One block with untrusted text between two marks. what: "stdout of the tool". NULL: no memory. */
json_t *ck_mcp_words_untrusted(const char *what, const char *text, size_t length);

/* {"content","structuredContent","isError"}. Takes content and structured; NULL: no memory. */
json_t *ck_mcp_words_result(json_t *content, json_t *structured, bool is_error);

/* An open_memstream that ends as a JSON string. NULL: no memory. */
struct ck_mcp_words {
    FILE *out;
    char *text;
    size_t length;
};
FILE *ck_mcp_words_begin(struct ck_mcp_words *words); /* NULL: no memory */
json_t *ck_mcp_words_end(struct ck_mcp_words *words);

#endif
