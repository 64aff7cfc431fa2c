/*
 * csv.h - what tables for spreadsheets have in common (RFC 4180).
 *
 * A spreadsheet takes a field that begins with '=', '+', '-' or '@' for a formula, in quotes too, and
 * a repository chooses names and messages. Such a text gets an apostrophe in front, which a
 * spreadsheet reads as "this is text". Tabs and line ends, which some take for the same, are escaped
 * before (front/shown.h). A number is never marked.
 *
 * Where the comma is the decimal sign, a spreadsheet splits the lines of a file that is opened with a
 * double click at ';', and quotes are no help: a text can begin such a cell wherever it has a ';'.
 */
#ifndef CK_FRONT_CSV_H
#define CK_FRONT_CSV_H

#include <stdbool.h>
#include <string.h>

#define CK_CSV_FORMULA "=+-@"

/* Whether an apostrophe belongs before text[at]. */
static inline bool ck_csv_begins_formula(const char *text, size_t at)
{
    size_t before = at;

    if (text[at] == '\0' || !strchr(CK_CSV_FORMULA, text[at]))
        return false;
    while (before > 0 && text[before - 1] == '"')
        before--;
    return at == 0 || (before > 0 && text[before - 1] == ';');
}

#endif
