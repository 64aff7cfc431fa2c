/*
 * strings.h - the texts of a report, each stored once and known by a number.
 *
 * Every text from a document or a log enters here, and only here: it is cut, and bytes that are not
 * UTF-8 and characters that are hidden (base/glyph.h) become \xNN. So whatever a page later takes
 * from here can be shown; it only has to be escaped for HTML or JSON.
 *
 * 0 is the empty text. A failure (no memory) is kept in `failed`: callers check it once at the end.
 */
#ifndef CK_REPORT_STRINGS_H
#define CK_REPORT_STRINGS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CK_STRINGS_SHORT 300 /* bytes of a name, a message, an argument */
#define CK_STRINGS_LONG 4096 /* bytes of a path or a command line */

struct ck_strings {
    char *bytes; /* all texts, each with a NUL */
    size_t used, size;
    size_t *starts; /* of each text, in bytes */
    uint32_t count, capacity;
    uint32_t *slots; /* hash table of numbers plus 1; 0: free */
    uint32_t slot_count;
    unsigned char key[16]; /* of the hash: secret, so that nobody can choose texts that all fall into one slot */
    bool failed;
};

/* At most `most` bytes of text; a note after them says how many there were more. */
uint32_t ck_strings_add(struct ck_strings *strings, const char *text, size_t length, size_t most);

/* For text of this program, and for text that was made of what ck_strings_text returned. */
uint32_t ck_strings_own(struct ck_strings *strings, const char *text);

/* A string, or {"base64": ...}; anything else is the empty text. */
uint32_t ck_strings_json(struct ck_strings *strings, const json_t *value, size_t most);

/* An array of these, with a separator between them. */
uint32_t ck_strings_list(struct ck_strings *strings, const json_t *array, const char *separator, size_t most);

/* Valid until the next text is added. */
const char *ck_strings_text(const struct ck_strings *strings, uint32_t number);

void ck_strings_done(struct ck_strings *strings);

#endif
