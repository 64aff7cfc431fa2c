/*
 * shown.h - texts of documents and logs, cut and made safe to show before they are stored: for a page,
 * for a database.
 *
 * Bytes that are not UTF-8, and characters that are hidden (base/glyph.h), become \xNN, as in
 * CK_QUOTE_SHOWN. So a line end or a NUL is never in such a text.
 */
#ifndef CK_FRONT_SHOWN_H
#define CK_FRONT_SHOWN_H

#include <jansson.h>
#include <stddef.h>

/*
 * At most `most` bytes of text, not cut within a character; a note after them says how many there
 * were more. The caller frees it. NULL: no memory.
 */
char *ck_shown_text(const char *text, size_t length, size_t most);

/*
 * The same for a string, or {"base64": ...}. Anything else is no text: *ret_text is NULL then.
 * Returns 0 or -ENOMEM.
 */
int ck_shown_json(const json_t *value, size_t most, char **ret_text);

/* An array of these, each of at most `each` bytes, with a separator between them. */
int ck_shown_list(const json_t *array, const char *separator, size_t each, size_t most, char **ret_text);

#endif
