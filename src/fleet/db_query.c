/*
 * db_query.c - see db_query.h. Several protections overlap: the descriptor is read-only, the
 * connection has query_only, and the authorizer allows a list of actions.
 */
#include "fleet/db_query.h"

#include "base/clock.h"
#include "fleet/db_print.h"
#include "front/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MEMORY_MAX ((sqlite3_int64)512 << 20) /* sorting is done in memory */
#define VALUE_BYTES_MAX (16 << 20)
#define SQL_BYTES_MAX (64 << 10)
#define STEPS_BETWEEN 1000 /* of SQLite's machine, before the clock is read */
#define TABLES_MAX 64

/* What the authorizer knows, and when the query ends. */
struct query_reader {
    char *tables[TABLES_MAX];
    size_t table_count;
    uint64_t deadline_ns;
};

/* ---- named queries ---- */

extern const unsigned char ck_fleet_queries_text[];

static char *copy(const char *text, size_t length)
{
    char *copied = malloc(length + 1);

    if (copied) {
        memcpy(copied, text, length);
        copied[length] = '\0';
    }
    return copied;
}

/* text: what follows "-- query ". Returns its end: the next query or the end of all. */
static const char *parse_named(const char *text, struct ck_fleet_db_named *named)
{
    static const char next[] = "\n\n-- query ";
    size_t head = strcspn(text, "\n"), name = strcspn(text, " \n");
    const char *summary = text + head + strlen("\n-- ");
    const char *sql = summary + strcspn(summary, "\n") + 1;
    const char *end = strstr(sql, next);
    size_t length = end ? (size_t)(end - sql) : strlen(sql);

    while (length > 0 && strchr(";\n", sql[length - 1]))
        length--;
    named->name = copy(text, name);
    named->argument = name < head ? copy(text + name + 1, head - name - 1) : copy("", 0);
    named->summary = copy(summary, strcspn(summary, "\n"));
    named->sql = copy(sql, length);
    return end ? end + strlen(next) : NULL;
}

void ck_fleet_db_query_list_done(struct ck_fleet_db_named *list, size_t count)
{
    for (size_t i = 0; list && i < count; i++) {
        free(list[i].name);
        free(list[i].argument);
        free(list[i].summary);
        free(list[i].sql);
    }
    free(list);
}

size_t ck_fleet_db_query_list(struct ck_fleet_db_named **ret_list)
{
    const char *at = strstr((const char *)ck_fleet_queries_text, "\n-- query ") + strlen("\n-- query ");
    struct ck_fleet_db_named *list = NULL;
    size_t count = 0;

    while (at) {
        struct ck_fleet_db_named *grown = reallocarray(list, count + 1, sizeof(*grown));
        if (!grown)
            break;
        list = grown;
        at = parse_named(at, &list[count]);
        const struct ck_fleet_db_named *last = &list[count++];
        if (!last->name || !last->argument || !last->summary || !last->sql)
            break;
    }
    if (at) {
        ck_fleet_db_query_list_done(list, count);
        list = NULL;
        count = 0;
    }
    *ret_list = list;
    return count;
}

/* ---- what is allowed ---- */

static bool is_one_of(const char *text, const char *const *list)
{
    for (; *list; list++)
        if (text && strcasecmp(text, *list) == 0)
            return true;
    return false;
}

/* What tells about the schema and sets nothing. */
static bool is_harmless_pragma(const char *name)
{
    static const char *const list[] = {"table_info", "table_xinfo",      "table_list", "index_list",
                                       "index_info", "foreign_key_list", NULL};
    return is_one_of(name, list);
}

/* A table without any of its columns may be a part of a WITH: its name is of the query. */
static bool may_read(const struct query_reader *reader, const char *table, const char *column)
{
    static const char *const others[] = {"sqlite_schema", "sqlite_master", "json_each", "json_tree", NULL};

    if (!table)
        return false;
    if (is_one_of(table, others) || (column && column[0] == '\0'))
        return true;
    for (size_t i = 0; i < reader->table_count; i++)
        if (strcasecmp(table, reader->tables[i]) == 0)
            return true;
    return false;
}

static int authorize(void *data, int action, const char *one, const char *two, const char *database,
                     const char *trigger)
{
    static const char *const functions[] = {"load_extension", "fts3_tokenizer", "sqlite_log", NULL};

    (void)database;
    (void)trigger;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_RECURSIVE:
        return SQLITE_OK;
    case SQLITE_READ:
        return may_read(data, one, two) ? SQLITE_OK : SQLITE_DENY;
    case SQLITE_FUNCTION:
        return is_one_of(two, functions) ? SQLITE_DENY : SQLITE_OK;
    case SQLITE_PRAGMA:
        return is_harmless_pragma(one) ? SQLITE_OK : SQLITE_DENY;
    default:
        return SQLITE_DENY;
    }
}

/* Not zero: the statement ends. */
static int is_late(void *data)
{
    const struct query_reader *reader = data;
    return ck_clock_now_ns() > reader->deadline_ns;
}

static int read_tables(struct ck_fleet_db *db, struct query_reader *reader, struct choke_error *error)
{
    sqlite3_stmt *statement;

    if (sqlite3_prepare_v2(db->handle, "SELECT name FROM main.sqlite_schema WHERE type = 'table'", -1, &statement,
                           NULL) != SQLITE_OK)
        return ck_fleet_db_fail(db, error);
    while (sqlite3_step(statement) == SQLITE_ROW && reader->table_count < TABLES_MAX) {
        char *name = strdup((const char *)sqlite3_column_text(statement, 0));
        if (name)
            reader->tables[reader->table_count++] = name;
    }
    return sqlite3_finalize(statement) == SQLITE_OK ? 0 : ck_fleet_db_fail(db, error);
}

static int bound(struct ck_fleet_db *db, struct query_reader *reader, struct choke_error *error)
{
    static const struct {
        int limit, value;
    } limits[] = {
        {SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX},
        {SQLITE_LIMIT_SQL_LENGTH, SQL_BYTES_MAX},
        {SQLITE_LIMIT_EXPR_DEPTH, 100},
        {SQLITE_LIMIT_COMPOUND_SELECT, 50},
        {SQLITE_LIMIT_COLUMN, 200},
        {SQLITE_LIMIT_VDBE_OP, 250000},
        {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000},
        {SQLITE_LIMIT_VARIABLE_NUMBER, 1},
    };

    int r = read_tables(db, reader, error);
    /* They are made when they are used first, which the authorizer would refuse. */
    if (r == 0)
        r = ck_fleet_db_run(db, "SELECT 1 FROM json_each('[]'); SELECT 1 FROM json_tree('[]')", error);
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
        (void)sqlite3_limit(db->handle, limits[i].limit, limits[i].value);
    (void)sqlite3_hard_heap_limit64(MEMORY_MAX);
    (void)sqlite3_set_authorizer(db->handle, authorize, reader);
    sqlite3_progress_handler(db->handle, STEPS_BETWEEN, is_late, reader);
    return r;
}

/* ---- a query ---- */

/* What is not allowed has a code of its own, but for functions and virtual tables. */
static int kind_of_failure(struct ck_fleet_db *db)
{
    int code = sqlite3_errcode(db->handle) & 0xff;
    const char *text = sqlite3_errmsg(db->handle);

    return code == SQLITE_ERROR && (strstr(text, "not authorized") || strstr(text, "vtable constructor")) ? SQLITE_AUTH
                                                                                                          : code;
}

static int fail(struct ck_fleet_db *db, const struct ck_fleet_db_query *query, struct choke_error *error)
{
    switch (kind_of_failure(db)) {
    case SQLITE_INTERRUPT:
        return ck_text_error(error, CHOKE_TIMEOUT, ETIME, "the query was ended after %llu s; --timeout gives it more",
                             (unsigned long long)query->timeout_ms / 1000);
    case SQLITE_NOMEM:
        return ck_text_error(error, CHOKE_INVALID, ENOMEM, "the query needs more than %lld MiB of memory",
                             (long long)(MEMORY_MAX >> 20));
    case SQLITE_AUTH:
        return ck_text_error(error, CHOKE_INVALID, EPERM,
                             "the query is refused (%s): it may only read the tables of the database",
                             CK_TEXT_SAFE(sqlite3_errmsg(db->handle)));
    case SQLITE_ERROR:
    case SQLITE_TOOBIG:
    case SQLITE_MISMATCH:
    case SQLITE_RANGE:
        return ck_text_error(error, CHOKE_INVALID, EINVAL, "the query is wrong: %s",
                             CK_TEXT_SAFE(sqlite3_errmsg(db->handle)));
    default:
        return ck_fleet_db_fail(db, error);
    }
}

/* One statement that reads, and nothing after it. */
static int prepare(struct ck_fleet_db *db, const struct ck_fleet_db_query *query, sqlite3_stmt **ret_statement,
                   struct choke_error *error)
{
    const char *rest = "";

    if (strlen(query->sql) > SQL_BYTES_MAX)
        return ck_text_error(error, CHOKE_INVALID, E2BIG, "the query has more than %d KiB", SQL_BYTES_MAX >> 10);
    if (sqlite3_prepare_v2(db->handle, query->sql, -1, ret_statement, &rest) != SQLITE_OK)
        return fail(db, query, error);
    if (!*ret_statement)
        return ck_text_error(error, CHOKE_INVALID, EINVAL, "the query is empty");
    if (rest[strspn(rest, " \t\r\n;")] != '\0')
        return ck_text_error(error, CHOKE_INVALID, EINVAL, "the query has more than one statement");
    /* The authorizer has refused these. */
    if (!sqlite3_stmt_readonly(*ret_statement))
        return ck_text_error(error, CHOKE_INVALID, EPERM, "the query is refused: it writes");
    if (query->argument && sqlite3_bind_text(*ret_statement, 1, query->argument, -1, SQLITE_STATIC) != SQLITE_OK)
        return fail(db, query, error);
    return 0;
}

static int print_rows(struct ck_fleet_db *db, const struct ck_fleet_db_query *query, sqlite3_stmt *statement, FILE *out,
                      struct ck_fleet_db_answer *answer, struct choke_error *error)
{
    struct ck_fleet_db_print print = {.out = out, .format = query->format};
    int step = SQLITE_ROW;

    ck_fleet_db_print_begin(&print, statement);
    while ((step = sqlite3_step(statement)) == SQLITE_ROW && answer->rows < query->rows_max &&
           ck_fleet_db_print_row(&print, statement))
        answer->rows++;
    answer->cut = step == SQLITE_ROW;
    int r = step == SQLITE_ROW || step == SQLITE_DONE ? 0 : fail(db, query, error);
    if (print.failed)
        r = ck_text_error(error, CHOKE_INVALID, ENOMEM, "out of memory");
    if (r == 0)
        ck_fleet_db_print_end(&print, answer->cut);
    ck_fleet_db_print_done(&print);
    return r;
}

int ck_fleet_db_query_run(struct ck_fleet_db *db, const struct ck_fleet_db_query *query, FILE *out,
                          struct ck_fleet_db_answer *answer, struct choke_error *error)
{
    struct query_reader reader = {.deadline_ns = ck_clock_now_ns() + query->timeout_ms * CK_NS_PER_MS};
    sqlite3_stmt *statement = NULL;

    int r = bound(db, &reader, error);
    if (r == 0)
        r = prepare(db, query, &statement, error);
    if (r == 0)
        r = print_rows(db, query, statement, out, answer, error);
    (void)sqlite3_finalize(statement);
    (void)sqlite3_set_authorizer(db->handle, NULL, NULL);
    sqlite3_progress_handler(db->handle, 0, NULL, NULL);
    (void)sqlite3_hard_heap_limit64(0);
    for (size_t i = 0; i < reader.table_count; i++)
        free(reader.tables[i]);
    return r;
}
