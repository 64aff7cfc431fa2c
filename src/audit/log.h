/*
 * log.h - append to a log that others append to as well.
 *
 *   1. ck_log_init()           names it; nothing is opened.
 *   2. ck_record_start()       and the body, for each record.
 *   3. ck_log_append()         opens the log, or begins it, and adds the record to the chain.
 *   4. ck_log_sync()           before anything that must not happen without the record.
 *   5. ck_log_done()           syncs what batched durability has left, and closes.
 *
 * One thread at a time. What a record costs: a lock, a stat, a write, an unlock; the end of the log is read only where
 * somebody else has written to it since.
 */
#ifndef CK_AUDIT_LOG_H
#define CK_AUDIT_LOG_H

#include "audit/files.h"
#include "audit/record.h"

struct ck_log {
    const struct ck_audit_file_ops *files;
    void *data;       /* of the table */
    const char *name; /* in the directory; the caller's */
    enum choke_audit_sync sync;
    uint64_t max_bytes; /* a file that has grown to this is rotated; 0: never */

    int fd; /* -1: not open */
    struct ck_identity identity;
    uint64_t size;              /* of the file when head was its last record */
    bool known;                 /* head is the last record of the open file, as long as it has this size */
    bool seen;                  /* head is a record that was in the log once: it must not go back behind it */
    struct ck_audit_place head; /* the last record's log and seq, and its hash as prev */
    bool newline_first;         /* it lacks its newline */
    uint64_t first_seq;         /* of the open file; UINT64_MAX: not known */
    bool unsynced;              /* something was appended since the last sync */
    uint64_t synced_ns;         /* when that was */
    struct ck_record own;       /* begin and repair */
    uint64_t repaired_bytes;    /* bytes that a repair of ours vouches for; for the caller to tell, and to set to 0 */
    int rotation_error;         /* why the file could not be rotated, a negative errno; the same */
    bool is_swept;              /* of what dead writers left, since the file was opened */
    bool rotation_failed;       /* it is not tried again with this file */
};

void ck_log_init(struct ck_log *log, const struct ck_audit_file_ops *files, void *data, const char *name);
void ck_log_done(struct ck_log *log);

/* Closes without a word to anybody, in a forked child. */
void ck_log_forget(struct ck_log *log);

/*
 * 0 and the record's number, or a negative errno with words: then there is no such record, but for the case that its
 * sync failed.
 */
int ck_log_append(struct ck_log *log, struct ck_record *record, uint64_t *ret_seq, struct choke_error *error);

/* All that was appended is on the disk, whatever the log's own durability is. */
int ck_log_sync(struct ck_log *log, struct choke_error *error);

/* ---- log_rotate.c ---- */

/* The first record of a new file, as text that is made behind the head. */
int ck_log_begin(struct ck_log *log, const struct ck_audit_place *place, const char *continues, const char **ret_text,
                 size_t *ret_length, char ret_hash[CK_AUDIT_HASH_HEX + 1]);

/* Begins a log that is not there yet; another one may have been first. */
int ck_log_create(struct ck_log *log, struct choke_error *error);

/* Under the lock, with a head that is known: 1 where the name leads to a new file now, 0 where it does not. */
int ck_log_rotate(struct ck_log *log);

/* A name for a file that is only on its way. */
int ck_log_random_hex(char *ret_hex, size_t digits);

#endif
