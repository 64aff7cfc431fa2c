/*
 * log.h - appends records to a log that other processes append to as well.
 *
 *   1. ck_log_init()           names it; nothing is opened.
 *   2. ck_record_start()       and the body, for each record.
 *   3. ck_log_append()         opens or creates the log, and adds the record to the chain.
 *   4. ck_log_sync()           before anything that must not happen without the record.
 *   5. ck_log_done()           syncs what batched durability has left, and closes.
 *
 * One thread at a time. A record costs a lock, a stat, a write and an unlock. The end of the log is
 * read only if another writer has written to it since.
 */
#ifndef CK_AUDIT_LOG_H
#define CK_AUDIT_LOG_H

#include "audit/files.h"
#include "audit/record.h"

struct ck_log {
    const struct ck_audit_file_ops *files;
    void *data;       /* of the table */
    const char *name; /* in the directory; owned by the caller */
    enum choke_audit_sync sync;
    uint64_t max_bytes; /* at this size the file is rotated; 0: never */

    int fd;                      /* -1: not open */
    struct ck_identity identity; /* of the open file */
    uint64_t size;               /* of the file when head was its last record */
    /* head is the last record of the open file, as long as it has this size */
    bool known;
    bool seen;                  /* head was in the log once: the log must not end before it */
    struct ck_audit_place head; /* log and seq of the last record; prev is its hash */
    bool newline_first;         /* the last record lacks its newline */
    uint64_t first_seq;         /* of the open file; UINT64_MAX: not known */
    bool unsynced;              /* since the last sync something was appended */
    uint64_t synced_ns;         /* when the last sync was */
    struct ck_record own;       /* for begin and repair */
    /* that our repair vouches for; the caller reports it and sets it to 0 */
    uint64_t repaired_bytes;
    int rotation_error;   /* a negative errno: the file could not be rotated; the same */
    bool is_swept;        /* files of dead writers were removed since the file was opened */
    bool rotation_failed; /* not tried again with this file */
};

void ck_log_init(struct ck_log *log, const struct ck_audit_file_ops *files, void *data, const char *name);
void ck_log_done(struct ck_log *log);

/*
 * In a forked child: only closes. The parent syncs what is left, and an unlock here would release
 * the parent's lock.
 */
void ck_log_forget(struct ck_log *log);

/*
 * 0 and the record's number, or a negative errno with a message: then the record is not in the log,
 * unless only its sync failed.
 */
int ck_log_append(struct ck_log *log, struct ck_record *record, uint64_t *ret_seq, struct choke_error *error);

/* Makes all that was appended durable, whatever the durability of the log is. */
int ck_log_sync(struct ck_log *log, struct choke_error *error);

/* ---- log_rotate.c ---- */

/* The first record of a new file, as text, sealed to follow place. */
int ck_log_begin(struct ck_log *log, const struct ck_audit_place *place, const char *continues, const char **ret_text,
                 size_t *ret_length, char ret_hash[CK_AUDIT_HASH_HEX + 1]);

/* Creates a log that does not exist yet; another writer may have been first. */
int ck_log_create(struct ck_log *log, struct choke_error *error);

/* Under the lock, with a known head: 1 if the name leads to a new file now, 0 if it does not. */
int ck_log_rotate(struct ck_log *log);

/* Random hexadecimal digits: the name of a log, of a context, of an unfinished file. */
int ck_log_random_hex(char *ret_hex, size_t digits);

#endif
