/* db_print.c - see db_print.h. */
#include "fleet/db_print.h"

#include "base/heap.h"
#include "front/csv.h"
#include "front/jansson.h"
#include "front/shown.h"

#include <stdlib.h>
#include <string.h>

#define WIDTH_MAX 60 /* of a column; what is longer is printed whole, and moves the rest of its line */

/* ---- one value ---- */

/* A value as text; the caller frees it. NULL: no memory. */
static char *text_of(sqlite3_stmt *statement, int column)
{
    char number[64];
    int length = sqlite3_column_bytes(statement, column);

    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_NULL:
        return strdup("");
    case SQLITE_INTEGER:
        (void)snprintf(number, sizeof(number), "%lld", (long long)sqlite3_column_int64(statement, column));
        return strdup(number);
    case SQLITE_FLOAT:
        (void)snprintf(number, sizeof(number), "%.15g", sqlite3_column_double(statement, column));
        return strdup(number);
    case SQLITE_BLOB:
        (void)snprintf(number, sizeof(number), "(%d bytes)", length);
        return strdup(number);
    default: {
        const char *text = (const char *)sqlite3_column_text(statement, column);
        length = sqlite3_column_bytes(statement, column);
        return text ? ck_shown_text(text, (size_t)length, (size_t)length) : NULL;
    }
    }
}

static json_t *json_of(sqlite3_stmt *statement, int column)
{
    const char *bytes;
    json_t *value;

    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_NULL:
        return json_null();
    case SQLITE_INTEGER:
        return json_integer(sqlite3_column_int64(statement, column));
    case SQLITE_FLOAT:
        value = json_real(sqlite3_column_double(statement, column));
        return value ? value : json_null(); /* JSON has no infinity */
    default:
        bytes = sqlite3_column_blob(statement, column);
        value = json_stringn(bytes ? bytes : "", (size_t)sqlite3_column_bytes(statement, column));
        if (value)
            return value;
        value = json_object();
        if (ck_jansson_set_data(value, bytes, (size_t)sqlite3_column_bytes(statement, column)) == 0)
            return value;
        json_decref(value);
        return NULL;
    }
}

/* ---- JSON ---- */

/* Everything but ASCII is escaped, and DEL, which jansson leaves as it is. */
static void put_json(struct ck_fleet_db_print *print, json_t *value)
{
    CK_HEAP char *text =
        ck_heap_own(value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_ENSURE_ASCII) : NULL);

    json_decref(value);
    if (!text) {
        print->failed = true;
        return;
    }
    for (const char *at = text; *at != '\0'; at++)
        if (*at == 0x7f)
            (void)fputs("\\u007f", print->out);
        else
            (void)fputc(*at, print->out);
    print->bytes += strlen(text);
}

static void put_json_row(struct ck_fleet_db_print *print, sqlite3_stmt *statement)
{
    json_t *row = json_array();

    for (int i = 0; i < print->columns; i++)
        if (json_array_append_new(row, json_of(statement, i)) < 0)
            print->failed = true;
    (void)fputs(print->any ? ",\n" : "\n", print->out);
    put_json(print, row);
}

/* ---- CSV ---- */

static void put_field(struct ck_fleet_db_print *print, const char *text, bool is_text, bool last)
{
    (void)fputc('"', print->out);
    for (size_t at = 0; text[at] != '\0'; at++) {
        if (is_text && ck_csv_begins_formula(text, at))
            (void)fputc('\'', print->out);
        else if (text[at] == '"')
            (void)fputc('"', print->out);
        (void)fputc(text[at], print->out);
        print->bytes++;
    }
    (void)fputs(last ? "\"\r\n" : "\",", print->out);
    print->bytes += 3;
}

static void put_csv_row(struct ck_fleet_db_print *print, sqlite3_stmt *statement)
{
    for (int i = 0; i < print->columns; i++) {
        bool is_number =
            sqlite3_column_type(statement, i) == SQLITE_INTEGER || sqlite3_column_type(statement, i) == SQLITE_FLOAT;
        CK_HEAP char *text = ck_heap_own(text_of(statement, i));
        print->failed |= !text;
        put_field(print, text ? text : "", !is_number, i + 1 == print->columns);
    }
}

/* ---- a table ---- */

/* Takes text. */
static void keep(struct ck_fleet_db_print *print, char *text)
{
    /* Grown by doubling. */
    if ((print->count & (print->count - 1)) == 0) {
        char **grown = reallocarray(print->cells, print->count > 0 ? print->count * 2 : 1, sizeof(*grown));
        if (!grown || !text) {
            print->failed = true;
            free(text);
            return;
        }
        print->cells = grown;
    }
    print->cells[print->count++] = text;
    print->bytes += text ? strlen(text) : 0;
    print->failed |= !text;
}

/* Characters, not bytes: each is shown in one place. */
static size_t width_of(const char *text)
{
    size_t width = 0;

    for (; *text != '\0'; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

static size_t width_of_column(const struct ck_fleet_db_print *print, size_t column)
{
    size_t widest = 0;

    for (size_t i = column; i < print->count; i += (size_t)print->columns) {
        size_t width = width_of(print->cells[i]);
        if (width > widest && width <= WIDTH_MAX)
            widest = width;
    }
    return widest;
}

static void put_table(const struct ck_fleet_db_print *print)
{
    size_t columns = (size_t)print->columns;
    CK_HEAP size_t *widths = ck_heap_own(calloc(columns + 1, sizeof(*widths)));

    for (size_t i = 0; widths && i < columns; i++)
        widths[i] = width_of_column(print, i);
    for (size_t i = 0; widths && i < print->count; i++) {
        bool last = i % columns + 1 == columns;
        size_t width = width_of(print->cells[i]), wanted = widths[i % columns];
        (void)fprintf(print->out, "%s%*s", print->cells[i], last || width > wanted ? 0 : (int)(wanted - width), "");
        (void)fputs(last ? "\n" : "  ", print->out);
    }
}

/* ---- all of them ---- */

/* A name is of the query, so it can be anything as well. */
static char *name_of(sqlite3_stmt *statement, int column)
{
    const char *name = sqlite3_column_name(statement, column);
    return name ? ck_shown_text(name, strlen(name), strlen(name)) : NULL;
}

static void begin_json(struct ck_fleet_db_print *print, sqlite3_stmt *statement)
{
    json_t *names = json_array();

    for (int i = 0; i < print->columns; i++) {
        CK_HEAP char *name = ck_heap_own(name_of(statement, i));
        print->failed |= !name || json_array_append_new(names, json_string(name)) < 0;
    }
    (void)fputs("{\"format\":1,\"columns\":", print->out);
    put_json(print, names);
    (void)fputs(",\"rows\":[", print->out);
}

void ck_fleet_db_print_begin(struct ck_fleet_db_print *print, sqlite3_stmt *statement)
{
    print->columns = sqlite3_column_count(statement);
    if (print->format == CK_FLEET_DB_JSON) {
        begin_json(print, statement);
        return;
    }
    for (int i = 0; i < print->columns; i++) {
        char *name = name_of(statement, i);
        if (print->format == CK_FLEET_DB_TABLE) {
            keep(print, name);
            continue;
        }
        put_field(print, name ? name : "", true, i + 1 == print->columns);
        print->failed |= !name;
        free(name);
    }
}

bool ck_fleet_db_print_row(struct ck_fleet_db_print *print, sqlite3_stmt *statement)
{
    bool table = print->format == CK_FLEET_DB_TABLE;

    if (print->failed || print->bytes > (table ? CK_FLEET_DB_PRINT_TABLE_BYTES_MAX : CK_FLEET_DB_PRINT_BYTES_MAX))
        return false;
    if (print->format == CK_FLEET_DB_JSON)
        put_json_row(print, statement);
    else if (print->format == CK_FLEET_DB_CSV)
        put_csv_row(print, statement);
    for (int i = 0; table && i < print->columns; i++)
        keep(print, text_of(statement, i));
    print->any = true;
    return !print->failed;
}

void ck_fleet_db_print_end(struct ck_fleet_db_print *print, bool cut)
{
    if (print->format == CK_FLEET_DB_JSON)
        (void)fprintf(print->out, "%s],\"cut\":%s}\n", print->any ? "\n" : "", cut ? "true" : "false");
    else if (print->format == CK_FLEET_DB_TABLE && print->columns > 0)
        put_table(print);
}

void ck_fleet_db_print_done(struct ck_fleet_db_print *print)
{
    for (size_t i = 0; i < print->count; i++)
        free(print->cells[i]);
    free(print->cells);
    print->cells = NULL;
    print->count = 0;
}
