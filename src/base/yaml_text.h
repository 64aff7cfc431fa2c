/*
 * yaml_text.h - places in a YAML text, and what must not reach libyaml. Used by every reader of
 * libyaml's events.
 */
#ifndef CK_BASE_YAML_TEXT_H
#define CK_BASE_YAML_TEXT_H

#include <stddef.h>

/* Where something begins, counted from 1. */
struct ck_yaml_place {
    unsigned line;
    unsigned column;
};

/*
 * The place of a byte. Counts as libyaml does: a column is a character, not a byte; \n, \r and \r\n
 * end a line.
 */
struct ck_yaml_place ck_yaml_text_place(const char *text, size_t length, size_t offset);

/*
 * Offset of the first line that begins with '%', or length if no line does. Such a text is refused
 * before libyaml reads it: libyaml compares each directive with all earlier ones, which takes ten
 * seconds for a megabyte of them.
 */
size_t ck_yaml_text_directive(const char *text, size_t length);

/*
 * Length of the byte order mark that some editors write at the beginning, or 0. Callers skip it,
 * because libyaml would count it as indentation.
 */
size_t ck_yaml_text_mark(const char *text, size_t length);

#endif
