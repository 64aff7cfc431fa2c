/*
 * decision_records.h - decision records on disk: files NNNN-*.md in one directory.
 *
 * Only reviews use them; no run depends on them.
 */
#ifndef CK_SYS_DECISION_RECORDS_H
#define CK_SYS_DECISION_RECORDS_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

struct ck_decision_record {
    const char *number; /* four digits */
    const char *name;   /* of the file */
    bool regular;       /* a regular file, not a symlink; others have no bytes */
    const char *bytes;
    size_t length;
};

struct ck_decision_records {
    const struct ck_decision_record *items; /* sorted by name */
    size_t count;
    const char *directory; /* as it was looked for; NULL: there is no directory to look in */
    int errnum;            /* why the directory or a file in it could not be read; 0: everything was read */
};

/*
 * file is the policy; directory is relative to the directory of file. A read failure goes into
 * errnum. Returns 0 or -ENOMEM.
 */
int ck_decision_records_read(struct ck_arena *arena, const char *file, const char *directory,
                             struct ck_decision_records *ret_records);

/* Does the record exist, as a regular file that is not empty? */
bool ck_decision_records_have(const struct ck_decision_records *records, const char *number);

/*
 * Does after have a file of this number with bytes that no file of this number in before has? An
 * empty file does not count.
 */
bool ck_decision_records_amended(const struct ck_decision_records *before, const struct ck_decision_records *after,
                                 const char *number);

#endif
