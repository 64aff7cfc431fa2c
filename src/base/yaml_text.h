/*
 * yaml_text.h - places in a YAML text, and what libyaml must not see. For every reader of libyaml's events.
 */
#ifndef CK_BASE_YAML_TEXT_H
#define CK_BASE_YAML_TEXT_H

#include <stddef.h>

/* Where something begins, counted from 1. */
struct ck_yaml_place {
    unsigned line;
    unsigned column;
};

/* Counts as libyaml does: a column is a character; \n, \r and \r\n end a line. */
struct ck_yaml_place ck_yaml_text_place(const char *text, size_t length, size_t offset);

/*
 * Offset of the first line that begins with '%', or length. It is refused before libyaml sees it: libyaml compares each
 * directive with all before it, ten seconds for a megabyte of them.
 */
size_t ck_yaml_text_directive(const char *text, size_t length);

/* Bytes of the byte order mark that some editors write first, or 0. libyaml would count it as indentation. */
size_t ck_yaml_text_mark(const char *text, size_t length);

#endif
