/*
 * db_query.h - questions to the database of fleets: the named ones of src/fleet/queries.sql, and SQL.
 *
 * The file is opened read-only, and each statement is checked while it is compiled: it may read the
 * tables of the schema and call functions, and nothing else. No ATTACH, no PRAGMA that sets anything,
 * no temporary table, no extension, no virtual table but those of JSON and of the schema. Time,
 * memory, rows and bytes are bounded.
 */
#ifndef CK_FLEET_DB_QUERY_H
#define CK_FLEET_DB_QUERY_H

#include "fleet/db.h"

#include <stdio.h>

#define CK_FLEET_DB_QUERY_ROWS_TABLE 1000 /* what a person reads */
#define CK_FLEET_DB_QUERY_ROWS 1000000    /* of CSV and JSON */
#define CK_FLEET_DB_QUERY_TIMEOUT_MS 60000

enum ck_fleet_db_format { CK_FLEET_DB_TABLE, CK_FLEET_DB_CSV, CK_FLEET_DB_JSON };

/* A named query. The texts are allocated. */
struct ck_fleet_db_named {
    char *name, *argument, *summary, *sql; /* argument: "": it has none */
};

struct ck_fleet_db_query {
    const char *sql;
    const char *argument; /* of ?1; NULL: there is none */
    enum ck_fleet_db_format format;
    size_t rows_max;
    uint64_t timeout_ms;
};

struct ck_fleet_db_answer {
    size_t rows;
    bool cut; /* there are more rows, or too many bytes */
};

/* Returns how many there are; the caller frees the list with ck_fleet_db_query_list_done. 0: no memory. */
size_t ck_fleet_db_query_list(struct ck_fleet_db_named **ret_list);
void ck_fleet_db_query_list_done(struct ck_fleet_db_named *list, size_t count);

/* Writes the answer to out. Errors of out are found by the caller. */
int ck_fleet_db_query_run(struct ck_fleet_db *db, const struct ck_fleet_db_query *query, FILE *out,
                          struct ck_fleet_db_answer *answer, struct choke_error *error);

#endif
