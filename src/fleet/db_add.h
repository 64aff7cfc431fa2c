/*
 * db_add.h - one document of gather as rows of the database.
 *
 * A document comes from another machine, and what is in it from a repository: each member may be
 * missing or of another type, and then counts as absent. Every text is cut, and what is hidden in it
 * is escaped (front/shown.h), so it can be printed, also by another program that reads the database.
 *
 *   1. ck_fleet_db_add_begin      statements are prepared.
 *   2. ck_fleet_db_add_look       once for each DIR
 *      ck_fleet_db_add_document, ck_fleet_db_add_failure   each is one transaction.
 *   3. ck_fleet_db_add_end        in any case
 */
#ifndef CK_FLEET_DB_ADD_H
#define CK_FLEET_DB_ADD_H

#include "fleet/db.h"

#include <jansson.h>

#define CK_FLEET_DB_ADD_SHORT 300 /* bytes of a name, a message, a line */
#define CK_FLEET_DB_ADD_LONG 4096 /* of a path, a command line, a list */
#define CK_FLEET_DB_ADD_SHA256_SIZE 65

struct ck_fleet_db_add;

/* Which repository in which look, and the digest of the file. Texts may be anything: they are escaped here. */
struct ck_fleet_db_source {
    int64_t look;
    const char *name;
    const json_t *place; /* path or URL, as index.json has it */
    const char *sha256;  /* of a document */
};

int ck_fleet_db_add_begin(struct ck_fleet_db_add **ret_add, struct ck_fleet_db *db, struct choke_error *error);
void ck_fleet_db_add_end(struct ck_fleet_db_add *add);

/* ret_look: its number. A look that is there keeps its date and gets the directory. */
int ck_fleet_db_add_look(struct ck_fleet_db_add *add, const char *fleet, const char *begun, const char *directory,
                         int64_t *ret_look, struct choke_error *error);

/* Returns 1 and the digest of the document that is there ("": it has to be read again), or 0. */
int ck_fleet_db_add_find(struct ck_fleet_db_add *add, const struct ck_fleet_db_source *source,
                         char ret_sha256[CK_FLEET_DB_ADD_SHA256_SIZE], struct choke_error *error);

/* Is it a document of gather that this version reads? */
bool ck_fleet_db_add_is_document(const json_t *document);

/* Replaces the one that is there. */
int ck_fleet_db_add_document(struct ck_fleet_db_add *add, const struct ck_fleet_db_source *source,
                             const json_t *document, struct choke_error *error);

/* Why a repository has no document. Nothing happens if it has one. */
int ck_fleet_db_add_failure(struct ck_fleet_db_add *add, const struct ck_fleet_db_source *source, const json_t *failure,
                            struct choke_error *error);

#endif
