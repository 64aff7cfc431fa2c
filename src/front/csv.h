/*
 * csv.h - what tables for spreadsheets have in common (RFC 4180).
 *
 * A spreadsheet takes a field that begins with '=', '+', '-' or '@' for a formula, in quotes too, and
 * a repository chooses names and messages. Such a text gets an apostrophe in front, which a
 * spreadsheet reads as "this is text". Tabs and line ends, which some take for the same, are escaped
 * before (front/shown.h). A number is never marked.
 */
#ifndef CK_FRONT_CSV_H
#define CK_FRONT_CSV_H

#include <stdbool.h>
#include <string.h>

static inline bool ck_csv_is_formula(const char *text)
{
    return text[0] != '\0' && strchr("=+-@", text[0]);
}

#endif
