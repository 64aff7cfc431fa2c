/*
 * db_collect.h - the documents of fleets into their database (docs/adr/0136).
 *
 * Only documents whose digest has changed are read again. Each is one transaction: a collect that is
 * killed keeps what it had done, and the next one goes on. Rows of documents that have been deleted
 * stay, so a directory may be removed after it was collected.
 */
#ifndef CK_FLEET_DB_COLLECT_H
#define CK_FLEET_DB_COLLECT_H

#include "chokepoint.h"

#include <stdbool.h>

#define CK_FLEET_DB_COLLECT_BYTES_MAX ((size_t)64 << 20) /* of one document, as a report reads it */

struct ck_fleet_db_summary {
    size_t added, replaced, unchanged;
    size_t failures; /* repositories without a document */
    size_t unread;   /* documents that are none, or cannot be read; each was reported */
    bool made, migrated;
    char aside[4096]; /* where a damaged database is now; "": there was none */
};

/*
 * directories: NULL-terminated. into may be NULL if there is one directory: its fleet.sqlite then.
 * Documents that cannot be read are named on stderr. Returns 0 or a negative errno; the summary has
 * what was done in either case.
 */
int ck_fleet_db_collect(const char *const *directories, const char *into, struct ck_fleet_db_summary *summary,
                        struct choke_error *error);

#endif
