/*
 * test_fleet_db.c - the schema of the database of fleets and its versions, the named queries, and how
 * texts of a document become columns.
 */
#include "fleet/db_add.h"
#include "fleet/db_query.h"
#include "fleet/db_schema.h"
#include "front/csv.h"
#include "front/shown.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void open_memory(struct ck_fleet_db *db, int version)
{
    char *sql = ck_fleet_db_schema_between(0, version);

    *db = (struct ck_fleet_db){.path = ":memory:"};
    assert_int_equal(sqlite3_open(":memory:", &db->handle), SQLITE_OK);
    assert_non_null(sql);
    assert_int_equal(sqlite3_exec(db->handle, sql, NULL, NULL, NULL), SQLITE_OK);
    free(sql);
}

static void change(struct ck_fleet_db *db, const char *sql)
{
    assert_int_equal(sqlite3_exec(db->handle, sql, NULL, NULL, NULL), SQLITE_OK);
}

static void text_is(struct ck_fleet_db *db, const char *sql, const char *wanted)
{
    sqlite3_stmt *statement = NULL;

    assert_int_equal(sqlite3_prepare_v2(db->handle, sql, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    const char *text = (const char *)sqlite3_column_text(statement, 0);
    assert_string_equal(text ? text : "(null)", wanted);
    (void)sqlite3_finalize(statement);
}

/* ---- the schema ---- */

static void a_schema_has_no_comment_and_every_version(void **state)
{
    (void)state;
    char *all = ck_fleet_db_schema_between(0, CK_FLEET_DB_SCHEMA_VERSION);

    assert_null(strstr(all, "--"));
    assert_null(strstr(all, " \n"));
    for (int version = 1; version <= CK_FLEET_DB_SCHEMA_VERSION; version++) {
        char *part = ck_fleet_db_schema_between(version - 1, version);
        assert_true(strlen(part) > 100);
        assert_non_null(strstr(all, part));
        free(part);
    }
    char *none = ck_fleet_db_schema_between(CK_FLEET_DB_SCHEMA_VERSION, CK_FLEET_DB_SCHEMA_VERSION + 1);
    assert_string_equal(none, "");
    free(none);
    free(all);
}

static void every_version_is_recognised(void **state)
{
    (void)state;
    char pragma[64], why[CHOKE_MESSAGE_MAX];

    for (int version = 1; version <= CK_FLEET_DB_SCHEMA_VERSION; version++) {
        struct ck_fleet_db db;
        open_memory(&db, version);
        (void)snprintf(pragma, sizeof(pragma), "PRAGMA user_version = %d", version);
        change(&db, pragma);
        assert_int_equal(ck_fleet_db_schema_check(db.handle, why), version);
        ck_fleet_db_close(&db);
    }
}

static void whatever_differs_in_a_schema_is_found(void **state)
{
    (void)state;
    static const struct {
        const char *sql, *why;
    } rows[] = {
        {"CREATE TRIGGER x AFTER INSERT ON looks BEGIN SELECT 1; END",
         "its trigger 'x' is not the one of this program"},
        {"CREATE VIEW a AS SELECT 1", "its view 'a' is not the one of this program"},
        {"CREATE TABLE aaa (x)", "its table 'aaa' is not the one of this program"},
        {"CREATE TABLE \"a\x1b[2J\" (x)", "its table 'a\\x1b[2J' is not the one of this program"},
        {"DROP INDEX findings_by_rule", "its index 'findings_secret' is not the one of this program"},
        {"ALTER TABLE looks ADD COLUMN more TEXT", "its table 'looks' is not the one of this program"},
        {"DROP TABLE executables; CREATE VIEW executables AS SELECT * FROM looks",
         "its index 'failures_by_repository' is not the one of this program"},
        {"CREATE VIRTUAL TABLE zzz USING fts5(x)", "its table 'zzz' is not the one of this program"},
    };
    char why[CHOKE_MESSAGE_MAX];

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct ck_fleet_db db;
        open_memory(&db, CK_FLEET_DB_SCHEMA_VERSION);
        char pragma[64];
        (void)snprintf(pragma, sizeof(pragma), "PRAGMA user_version = %d", CK_FLEET_DB_SCHEMA_VERSION);
        change(&db, pragma);
        change(&db, rows[i].sql);
        assert_int_equal(ck_fleet_db_schema_check(db.handle, why), -ENOTUNIQ);
        assert_string_equal(why, rows[i].why);
        ck_fleet_db_close(&db);
    }
}

static void a_later_version_is_recognised(void **state)
{
    (void)state;
    struct ck_fleet_db db;
    char why[CHOKE_MESSAGE_MAX];

    open_memory(&db, CK_FLEET_DB_SCHEMA_VERSION);
    change(&db, "PRAGMA user_version = 1000");
    assert_int_equal(ck_fleet_db_schema_check(db.handle, why), -EPROTO);
    ck_fleet_db_close(&db);
}

/* ---- queries ---- */

static void every_named_query_compiles_and_only_reads(void **state)
{
    (void)state;
    struct ck_fleet_db db;
    struct ck_fleet_db_named *list;
    size_t count = ck_fleet_db_query_list(&list);

    open_memory(&db, CK_FLEET_DB_SCHEMA_VERSION);
    assert_true(count >= 10);
    for (size_t i = 0; i < count; i++) {
        sqlite3_stmt *statement = NULL;
        assert_int_equal(sqlite3_prepare_v2(db.handle, list[i].sql, -1, &statement, NULL), SQLITE_OK);
        assert_true(sqlite3_stmt_readonly(statement));
        assert_int_equal(sqlite3_bind_parameter_count(statement), list[i].argument[0] != '\0');
        assert_int_equal(sqlite3_finalize(statement), SQLITE_OK);
        assert_true(strlen(list[i].summary) > 20 && strlen(list[i].summary) < 140);
        assert_null(strchr(list[i].name, ' '));
    }
    ck_fleet_db_query_list_done(list, count);
    ck_fleet_db_close(&db);
}

static int ask(struct ck_fleet_db *db, const char *sql, enum ck_fleet_db_format format, char **ret_text)
{
    size_t size;
    struct choke_error error = {0};
    struct ck_fleet_db_answer answer = {0};
    const struct ck_fleet_db_query query = {.sql = sql, .format = format, .rows_max = 3, .timeout_ms = 10000};
    FILE *out = open_memstream(ret_text, &size);

    assert_non_null(out);
    int r = ck_fleet_db_query_run(db, &query, out, &answer, &error);
    assert_int_equal(fclose(out), 0);
    assert_true(r == 0 || error.message[0] != '\0');
    return r;
}

static void what_writes_or_reaches_elsewhere_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *sql;
        int r;
    } rows[] = {
        {"SELECT 1", 0},
        {"SELECT count(*) FROM looks", 0},
        {"WITH x AS (SELECT 1 AS y) SELECT y FROM x WHERE EXISTS (SELECT 1 FROM x)", 0},
        {"PRAGMA table_info(looks)", 0},
        {"SELECT name FROM sqlite_schema", 0},
        {" ; ", -EINVAL},
        {"SELECT 1; SELECT 2", -EINVAL},
        {"SELECT nothing", -EINVAL},
        {"INSERT INTO looks VALUES (1, 'a', 'b', 'c')", -EPERM},
        {"INSERT INTO looks VALUES (1, 'a', 'b', 'c') RETURNING id", -EPERM},
        {"UPDATE looks SET begun = ''", -EPERM},
        {"DELETE FROM looks", -EPERM},
        {"DROP TABLE looks", -EPERM},
        {"CREATE TABLE x (y)", -EPERM},
        {"CREATE TEMP TABLE x (y)", -EPERM},
        {"CREATE TEMP TRIGGER x AFTER INSERT ON looks BEGIN SELECT 1; END", -EPERM},
        {"CREATE VIRTUAL TABLE x USING fts5(y)", -EPERM},
        {"ATTACH ':memory:' AS x", -EPERM},
        {"DETACH main", -EPERM},
        {"VACUUM", -EPERM},
        {"VACUUM INTO '/nowhere/x'", -EPERM},
        {"REINDEX", -EPERM},
        {"ANALYZE", -EPERM},
        {"BEGIN", -EPERM},
        {"SAVEPOINT x", -EPERM},
        {"PRAGMA user_version = 2", -EPERM},
        {"PRAGMA query_only = OFF", -EPERM},
        {"PRAGMA writable_schema = ON", -EPERM},
        {"PRAGMA temp_store_directory = '/tmp'", -EPERM},
        {"SELECT load_extension('x')", -EPERM},
        {"SELECT fts3_tokenizer('simple')", -EPERM},
        {"SELECT * FROM dbstat", -EPERM},
        {"SELECT * FROM pragma_database_list", -EPERM},
        {"SELECT zeroblob(100000000)", -EINVAL},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct ck_fleet_db db;
        char *text = NULL;
        open_memory(&db, CK_FLEET_DB_SCHEMA_VERSION);
        if (ask(&db, rows[i].sql, CK_FLEET_DB_TABLE, &text) != rows[i].r)
            fail_msg("%s", rows[i].sql);
        free(text);
        ck_fleet_db_close(&db);
    }
}

static void an_answer_is_escaped_and_cut(void **state)
{
    (void)state;
    static const char sql[] = "SELECT value AS 'a\"b' FROM json_each('[\"=1\",\"\\u001b[2J\",-1,\"more\",\"rows\"]')";
    static const char *const wanted[] = {
        [CK_FLEET_DB_TABLE] = "a\"b\n=1\n\\x1b[2J\n-1\n",
        [CK_FLEET_DB_CSV] = "\"a\"\"b\"\r\n\"'=1\"\r\n\"\\x1b[2J\"\r\n\"-1\"\r\n",
        [CK_FLEET_DB_JSON] =
            "{\"format\":1,\"columns\":[\"a\\\"b\"],\"rows\":[\n[\"=1\"],\n[\"\\u001B[2J\"],\n[-1]\n],\"cut\":true}\n",
    };

    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        struct ck_fleet_db db;
        char *text = NULL;
        open_memory(&db, CK_FLEET_DB_SCHEMA_VERSION);
        assert_int_equal(ask(&db, sql, (enum ck_fleet_db_format)i, &text), 0);
        assert_string_equal(text, wanted[i]);
        free(text);
        ck_fleet_db_close(&db);
    }
}

/* ---- documents ---- */

static void add(struct ck_fleet_db *db, const char *fleet, const char *begun, const char *text)
{
    struct ck_fleet_db_add *adding = NULL;
    struct choke_error error = {0};
    json_t *document = json_loads(text, JSON_ALLOW_NUL, NULL);
    json_t *place = json_string("/srv/a");
    struct ck_fleet_db_source source = {.name = "a", .place = place, .sha256 = "00"};

    assert_true(ck_fleet_db_add_is_document(document));
    assert_int_equal(ck_fleet_db_add_begin(&adding, db, &error), 0);
    assert_int_equal(ck_fleet_db_add_look(adding, fleet, begun, "/d", &source.look, &error), 0);
    assert_int_equal(ck_fleet_db_add_document(adding, &source, document, &error), 0);
    ck_fleet_db_add_end(adding);
    json_decref(document);
    json_decref(place);
}

static void members_of_another_type_count_as_absent(void **state)
{
    (void)state;
    struct ck_fleet_db db;

    open_memory(&db, CK_FLEET_DB_SCHEMA_VERSION);
    add(&db, "1", "2026-11-18T10:00:00Z",
        "{\"format\":1,\"repository\":{\"files\":\"many\",\"root\":7},\"cancelled\":1,\"tools\":{},\"findings\":[7,"
        "{\"severity\":\"worst\",\"line\":\"1\",\"path\":{\"base64\":\"/w==\"},\"id\":\"secret_shape\"},"
        "{\"severity\":\"high\",\"line\":3,\"seen_by\":[{\"probe\":\"gitleaks\"},7,{\"probe\":\"rg\"}]}],"
        "\"probes\":[7,{\"name\":[],\"evidence\":{\"packages\":[{\"name\":\"a\\u0000b\",\"purl\":\"pkg:npm/a\","
        "\"licences\":[\"MIT\",7]},null],\"packages_total\":9223372036854775807}},"
        "{\"evidence\":{\"packages_total\":9223372036854775807,\"programs\":\"x\"}}],\"timing\":[]}");
    text_is(&db, "SELECT info || ' ' || high || ' ' || ifnull(files, 'none') || ' ' || packages_total FROM documents",
            "1 1 none 9223372036854775807");
    text_is(&db,
            "SELECT group_concat(severity || ':' || ifnull(line, '') || ':' || secret || ':' || seen_by, ' ')"
            " FROM findings",
            "info::1: high:3:1:gitleaks, rg");
    text_is(&db, "SELECT path FROM findings WHERE n = 0", "\\xff");
    text_is(&db, "SELECT name || ' ' || ecosystem || ' ' || licences FROM packages WHERE n = 0", "a\\x00b npm MIT, ");
    text_is(&db, "SELECT count(*) FROM probes", "3");
    ck_fleet_db_close(&db);
}

static void the_latest_document_is_marked_whatever_the_order(void **state)
{
    (void)state;
    static const char document[] = "{\"format\":1,\"repository\":{},\"probes\":[]}";
    static const char *const dates[] = {"2026-11-18T10:00:00Z", "2026-11-19T10:00:00Z", "2026-11-17T10:00:00Z"};
    static const char marked[] = "SELECT group_concat(l.begun) FROM documents d JOIN looks l ON l.id = d.look"
                                 " WHERE d.latest = 1";
    struct ck_fleet_db db;

    open_memory(&db, CK_FLEET_DB_SCHEMA_VERSION);
    for (size_t i = 0; i < sizeof(dates) / sizeof(dates[0]); i++) {
        char fleet[] = {(char)('0' + i), '\0'};
        add(&db, fleet, dates[i], document);
        text_is(&db, marked, dates[i > 0]);
    }
    add(&db, "1", dates[1], document);
    text_is(&db, marked, dates[1]);
    text_is(&db, "SELECT count(*) FROM documents", "3");
    ck_fleet_db_close(&db);
}

static void a_list_is_one_text_that_is_cut(void **state)
{
    (void)state;
    json_t *list = json_pack("[s,s,{s:s},i]", "a\n", "bb", "base64", "/w==", 7);
    char *text;

    assert_int_equal(ck_shown_list(list, ", ", 300, 4096, &text), 0);
    assert_string_equal(text, "a\\x0a, bb, \\xff, ");
    free(text);
    assert_int_equal(ck_shown_list(list, ", ", 1, 4096, &text), 0);
    assert_string_equal(text, "a … (1 bytes more), b … (1 bytes more), \\xff, ");
    free(text);
    assert_int_equal(ck_shown_list(list, ", ", 300, 6, &text), 0);
    assert_string_equal(text, "a\\x0a, … (11 bytes more)");
    free(text);
    json_decref(list);
}

static void a_formula_is_a_text_that_begins_like_one(void **state)
{
    (void)state;
    static const char *const formulas[] = {"=1", "+1", "-1", "@x"}, *const others[] = {"", "1", " =1", "a=1", "'=1"};

    for (size_t i = 0; i < sizeof(formulas) / sizeof(formulas[0]); i++)
        assert_true(ck_csv_begins_formula(formulas[i], 0));
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        assert_false(ck_csv_begins_formula(others[i], 0));
    /* A cell of a spreadsheet that splits at ';' begins there. */
    assert_true(ck_csv_begins_formula("a;=1", 2));
    assert_true(ck_csv_begins_formula("a;\"\"@x", 4));
    assert_false(ck_csv_begins_formula("a; =1", 3));
    assert_false(ck_csv_begins_formula("a=1", 1));
    assert_false(ck_csv_begins_formula("\"=1", 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_schema_has_no_comment_and_every_version),
        cmocka_unit_test(every_version_is_recognised),
        cmocka_unit_test(whatever_differs_in_a_schema_is_found),
        cmocka_unit_test(a_later_version_is_recognised),
        cmocka_unit_test(every_named_query_compiles_and_only_reads),
        cmocka_unit_test(what_writes_or_reaches_elsewhere_is_refused),
        cmocka_unit_test(an_answer_is_escaped_and_cut),
        cmocka_unit_test(members_of_another_type_count_as_absent),
        cmocka_unit_test(the_latest_document_is_marked_whatever_the_order),
        cmocka_unit_test(a_list_is_one_text_that_is_cut),
        cmocka_unit_test(a_formula_is_a_text_that_begins_like_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
