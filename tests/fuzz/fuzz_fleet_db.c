/*
 * fuzz_fleet_db.c - any JSON as a document of gather, into the tables of a database. What is stored is
 * UTF-8 without a hidden character, the database is whole, and adding the same document again changes
 * nothing but its number.
 */
#include "promise.h"

#include "base/glyph.h"
#include "base/json.h"
#include "fleet/db_add.h"
#include "fleet/db_schema.h"

#include <stdlib.h>
#include <string.h>

static const char *const tables[] = {"looks",  "repositories", "documents", "failures",    "tools",
                                     "probes", "findings",     "packages",  "executables", "egress"};

static int64_t number_of(sqlite3 *handle, const char *sql)
{
    sqlite3_stmt *statement = NULL;

    require(sqlite3_prepare_v2(handle, sql, -1, &statement, NULL) == SQLITE_OK &&
            sqlite3_step(statement) == SQLITE_ROW);
    int64_t number = sqlite3_column_int64(statement, 0);
    require(sqlite3_finalize(statement) == SQLITE_OK);
    return number;
}

static void is_shown(const char *text, size_t length)
{
    for (size_t i = 0, n; i < length; i += n) {
        n = ck_glyph_shown(text + i, length - i);
        require(n > 0);
    }
}

static void check_table(sqlite3 *handle, const char *table)
{
    char sql[64];
    sqlite3_stmt *statement = NULL;

    (void)snprintf(sql, sizeof(sql), "SELECT * FROM %s", table);
    require(sqlite3_prepare_v2(handle, sql, -1, &statement, NULL) == SQLITE_OK);
    while (sqlite3_step(statement) == SQLITE_ROW)
        for (int i = 0; i < sqlite3_column_count(statement); i++)
            if (sqlite3_column_type(statement, i) == SQLITE_TEXT)
                is_shown((const char *)sqlite3_column_text(statement, i), (size_t)sqlite3_column_bytes(statement, i));
    require(sqlite3_finalize(statement) == SQLITE_OK);
}

/* The first member of the document's repository stands for the path that an index has. */
static void add_all(struct ck_fleet_db *db, const json_t *document)
{
    struct ck_fleet_db_add *add = NULL;
    struct ck_fleet_db_source source = {.name = "n\x1b", .sha256 = "00"};
    struct choke_error error = {0};
    char before[CK_FLEET_DB_ADD_SHA256_SIZE];

    source.place = json_object_get(json_object_get(document, "repository"), "root");
    require(ck_fleet_db_add_begin(&add, db, &error) == 0);
    require(ck_fleet_db_add_look(add, "0", "2026-11-18T10:00:00Z", "/d", &source.look, &error) == 0);
    require(ck_fleet_db_add_failure(add, &source, document, &error) == 0);
    if (ck_fleet_db_add_is_document(document)) {
        require(ck_fleet_db_add_document(add, &source, document, &error) == 0);
        int64_t rows = number_of(db->handle, "SELECT count(*) FROM findings");
        require(ck_fleet_db_add_find(add, &source, before, &error) == 1 && strcmp(before, "00") == 0);
        require(ck_fleet_db_add_document(add, &source, document, &error) == 0);
        require(number_of(db->handle, "SELECT count(*) FROM findings") == rows);
        require(number_of(db->handle, "SELECT count(*) FROM documents WHERE latest = 1") == 1);
        require(number_of(db->handle, "SELECT count(*) FROM failures") == 0);
        require(number_of(db->handle, "SELECT critical + high + medium + low + info FROM documents") == rows);
    }
    ck_fleet_db_add_end(add);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ck_fleet_db db = {.path = ":memory:"};
    struct choke_error error = {0};
    json_t *document =
        ck_json_is_deep((const char *)data, size) ? NULL : json_loadb((const char *)data, size, JSON_ALLOW_NUL, NULL);

    if (document) {
        require(sqlite3_open(":memory:", &db.handle) == SQLITE_OK);
        require(sqlite3_exec(db.handle, "PRAGMA foreign_keys = ON", NULL, NULL, NULL) == SQLITE_OK);
        require(ck_fleet_db_schema_migrate(&db, 0, &error) == 0);
        add_all(&db, document);
        for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
            check_table(db.handle, tables[i]);
        ck_fleet_db_close(&db);
    }
    json_decref(document);
    return 0;
}
