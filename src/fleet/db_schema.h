/*
 * db_schema.h - the schema of a database of fleets: its text, its versions, and whether a file has it.
 *
 * src/fleet/schema.sql is the only description. A line "-- version N" in it begins what version N
 * added. So a new database and a migrated one end up with the same schema, and the schema of every
 * earlier version is still known.
 */
#ifndef CK_FLEET_DB_SCHEMA_H
#define CK_FLEET_DB_SCHEMA_H

#include "fleet/db.h"

#define CK_FLEET_DB_SCHEMA_VERSION 2

/* As it is embedded, with its comments. */
extern const unsigned char ck_fleet_db_schema_text[];
extern const size_t ck_fleet_db_schema_length;

/* The statements that versions after `from` added, up to `to`, without comments. The caller frees it. */
char *ck_fleet_db_schema_between(int from, int to);

/*
 * Does the database have the schema of its version, and nothing else? Returns the version, or
 * -EPROTO: a later one; -ENOTUNIQ: something differs, and why says what; -EIO: SQLite failed
 * (sqlite3_errcode has the reason).
 */
int ck_fleet_db_schema_check(sqlite3 *handle, char why[CHOKE_MESSAGE_MAX]);

/* In a transaction of the caller: from version `from` (0: an empty file) to the latest. */
int ck_fleet_db_schema_migrate(struct ck_fleet_db *db, int from, struct choke_error *error);

#endif
