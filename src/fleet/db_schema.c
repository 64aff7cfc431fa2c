/*
 * db_schema.c - see db_schema.h. A schema is compared with one that the same statements make in
 * memory, as SQLite keeps both: type, name, table and text of everything in it.
 */
#include "fleet/db_schema.h"

#include "base/clock.h"
#include "base/heap.h"
#include "front/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIST "SELECT type, name, tbl_name, ifnull(sql, '') FROM main.sqlite_schema ORDER BY type, name"

/* Where version number begins in the text; its end if there is no such version. */
static size_t version_at(int number)
{
    char mark[32];
    const char *text = (const char *)ck_fleet_db_schema_text;

    (void)snprintf(mark, sizeof(mark), "\n-- version %d\n", number);
    const char *found = strstr(text, mark);
    return found ? (size_t)(found - text) + 1 : ck_fleet_db_schema_length;
}

/*
 * SQLite keeps the text of a statement with the comments in it. Without them a comment can be
 * corrected later. No string of the schema has two hyphens.
 */
char *ck_fleet_db_schema_between(int from, int to)
{
    const char *text = (const char *)ck_fleet_db_schema_text;
    size_t at = version_at(from + 1);
    size_t end = version_at(to + 1);
    char *plain = malloc(ck_fleet_db_schema_length + 1);
    size_t used = 0;

    if (!plain)
        return NULL;
    while (at < end) {
        if (text[at] == '-' && text[at + 1] == '-') {
            while (at < end && text[at] != '\n')
                at++;
            while (used > 0 && plain[used - 1] == ' ')
                used--;
        } else {
            plain[used++] = text[at++];
        }
    }
    plain[used] = '\0';
    return plain;
}

/* ---- comparison ---- */

static int integer_of(sqlite3 *handle, const char *sql)
{
    sqlite3_stmt *statement;
    int value = -1;

    if (sqlite3_prepare_v2(handle, sql, -1, &statement, NULL) == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW)
        value = sqlite3_column_int(statement, 0);
    (void)sqlite3_finalize(statement);
    return value;
}

static const char *column(sqlite3_stmt *statement, int number)
{
    const char *text = (const char *)sqlite3_column_text(statement, number);
    return text ? text : "";
}

/* One row of each list; a list that has ended compares as "". */
static bool is_same(sqlite3_stmt *found, sqlite3_stmt *wanted)
{
    for (int i = 0; i < 4; i++)
        if (strcmp(column(found, i), column(wanted, i)) != 0)
            return false;
    return true;
}

static int compare(sqlite3_stmt *found, sqlite3_stmt *wanted, char why[CHOKE_MESSAGE_MAX])
{
    for (;;) {
        int r = sqlite3_step(found), other = sqlite3_step(wanted);
        if (r != SQLITE_ROW && r != SQLITE_DONE)
            return -EIO;
        if (r == SQLITE_DONE && other == SQLITE_DONE)
            return 0;
        if (r == other && is_same(found, wanted))
            continue;
        sqlite3_stmt *named = r == SQLITE_ROW ? found : wanted;
        (void)snprintf(why, CHOKE_MESSAGE_MAX, "its %s '%s' is not the one of this program",
                       CK_TEXT_SAFE(column(named, 0)), CK_TEXT_SAFE(column(named, 1)));
        return -ENOTUNIQ;
    }
}

static int compare_with(sqlite3 *handle, sqlite3 *model, char why[CHOKE_MESSAGE_MAX])
{
    sqlite3_stmt *found = NULL, *wanted = NULL;

    int r = sqlite3_prepare_v2(model, LIST, -1, &wanted, NULL) == SQLITE_OK ? 0 : -ENOMEM;
    if (r == 0)
        r = sqlite3_prepare_v2(handle, LIST, -1, &found, NULL) == SQLITE_OK ? compare(found, wanted, why) : -EIO;
    (void)sqlite3_finalize(found);
    (void)sqlite3_finalize(wanted);
    return r;
}

int ck_fleet_db_schema_check(sqlite3 *handle, char why[CHOKE_MESSAGE_MAX])
{
    sqlite3 *model = NULL;
    int version = integer_of(handle, "PRAGMA user_version");

    if (version < 0)
        return -EIO;
    if (version > CK_FLEET_DB_SCHEMA_VERSION)
        return -EPROTO;
    CK_HEAP char *sql = ck_heap_own(ck_fleet_db_schema_between(0, version));
    int r = sql && sqlite3_open(":memory:", &model) == SQLITE_OK ? 0 : -ENOMEM;
    if (r == 0 && sqlite3_exec(model, sql, NULL, NULL, NULL) != SQLITE_OK)
        r = -ENOMEM;
    if (r == 0)
        r = compare_with(handle, model, why);
    (void)sqlite3_close(model);
    return r == 0 ? version : r;
}

/* ---- versions ---- */

static int note_version(struct ck_fleet_db *db, struct choke_error *error)
{
    char sql[256], date[24];
    struct tm parts;
    time_t now = ck_clock_real_time().tv_sec;

    if (!gmtime_r(&now, &parts) || strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
        date[0] = '\0';
    (void)snprintf(sql, sizeof(sql),
                   "INSERT INTO versions VALUES (%d, '%s', '%s'); PRAGMA user_version = %d; PRAGMA application_id = %d",
                   CK_FLEET_DB_SCHEMA_VERSION, choke_version(), date, CK_FLEET_DB_SCHEMA_VERSION,
                   CK_FLEET_DB_APPLICATION);
    return ck_fleet_db_run(db, sql, error);
}

int ck_fleet_db_schema_migrate(struct ck_fleet_db *db, int from, struct choke_error *error)
{
    CK_HEAP char *sql = ck_heap_own(ck_fleet_db_schema_between(from, CK_FLEET_DB_SCHEMA_VERSION));

    if (!sql)
        return ck_text_error(error, CHOKE_INVALID, ENOMEM, "out of memory");
    int r = ck_fleet_db_run(db, sql, error);
    return r == 0 ? note_version(db, error) : r;
}
