/*
 * db_print.h - rows of a query as a table for people, as CSV, or as JSON.
 *
 * A database may hold anything: it is printed as if nothing had been escaped before. Bytes that are
 * not UTF-8 and characters that are hidden become \xNN, in JSON \uNNNN or {"base64": ...}. A text of CSV that
 * a spreadsheet would take for a formula gets an apostrophe in front (front/csv.h); a number does not.
 *
 *   1. ck_fleet_db_print_begin   the names of the columns
 *   2. ck_fleet_db_print_row     for each row
 *   3. ck_fleet_db_print_end     a table is printed here: its widths are known now.
 *   4. ck_fleet_db_print_done    in any case
 */
#ifndef CK_FLEET_DB_PRINT_H
#define CK_FLEET_DB_PRINT_H

#include "fleet/db_query.h"

#define CK_FLEET_DB_PRINT_BYTES_MAX ((size_t)256 << 20)
#define CK_FLEET_DB_PRINT_TABLE_BYTES_MAX ((size_t)32 << 20) /* a table is held in memory */

struct ck_fleet_db_print {
    FILE *out;
    enum ck_fleet_db_format format;
    char **cells; /* of a table, row by row; the first row has the names */
    size_t count;
    int columns;
    size_t bytes;
    bool any;    /* a row was printed */
    bool failed; /* no memory */
};

void ck_fleet_db_print_begin(struct ck_fleet_db_print *print, sqlite3_stmt *statement);

/* False: it is too much, or there is no memory; nothing of the row is printed. */
bool ck_fleet_db_print_row(struct ck_fleet_db_print *print, sqlite3_stmt *statement);

void ck_fleet_db_print_end(struct ck_fleet_db_print *print, bool cut);
void ck_fleet_db_print_done(struct ck_fleet_db_print *print);

#endif
