/*
 * db.h - the database of fleets: one SQLite file, made of the documents of one look after the other.
 *
 * Must: the documents are the truth. What is lost in a database comes back when they are collected
 * again, so a damaged one is set aside and made anew.
 * Must not: the file is not trusted. It may have been unpacked, or come from a colleague. Before any
 * of it is used, its schema must be, byte by byte, what this program would have made: no trigger, no
 * view, no table of another kind.
 *
 * The file and its directory must belong to the caller and be writable by nobody else: whoever can put
 * a file NAME-journal beside a database chooses what SQLite writes into it. No write-ahead log: it
 * needs memory that all readers share, which a directory on a network does not have.
 */
#ifndef CK_FLEET_DB_H
#define CK_FLEET_DB_H

#include "chokepoint.h"

#include <limits.h>
#include <sqlite3.h>
#include <stdbool.h>

#define CK_FLEET_DB_NAME "fleet.sqlite"
#define CK_FLEET_DB_APPLICATION 0x63686b46 /* "chkF", in the header of the file */

struct ck_fleet_db {
    sqlite3 *handle;
    char path[PATH_MAX];  /* without symlinks */
    int version;          /* of its schema, before it was migrated */
    bool made;            /* it is new */
    bool is_ours;         /* a file that cannot be read may be set aside: it is a database of fleets */
    char aside[PATH_MAX]; /* where a damaged one is now; "": there was none */
};

/*
 * For collect: opens the file, makes it, brings an older one to this version, or sets a damaged one
 * aside. may_replace: what is no database at all is set aside too. Returns 0, or a negative errno;
 * ck_fleet_db_close in either case.
 */
int ck_fleet_db_open(struct ck_fleet_db *db, const char *path, bool may_replace, struct choke_error *error);

/* For query: opens it read-only. -ENOENT: there is none. */
int ck_fleet_db_open_to_read(struct ck_fleet_db *db, const char *path, struct choke_error *error);

/* Closes it, and sets it aside: a write or a read found that it is damaged. */
int ck_fleet_db_set_aside(struct ck_fleet_db *db, struct choke_error *error);

void ck_fleet_db_close(struct ck_fleet_db *db);

/* Says what SQLite reports of a failed call, and what to do. Returns a negative errno; -EBADMSG: it is damaged. */
int ck_fleet_db_fail(struct ck_fleet_db *db, struct choke_error *error);

/* Runs SQL without a result. */
int ck_fleet_db_run(struct ck_fleet_db *db, const char *sql, struct choke_error *error);

#endif
