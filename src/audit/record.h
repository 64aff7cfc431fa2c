/*
 * record.h - one record before it is in the log (format.h).
 *
 * The body is written first, without the lock. Seq, time and the hash of the record before are
 * known only under the lock. Sealing puts the envelope in front of the body, in space reserved for
 * it, and the closing after.
 */
#ifndef CK_AUDIT_RECORD_H
#define CK_AUDIT_RECORD_H

#include "audit/format.h"
#include "base/json.h"

/* Zero-filled is empty. */
struct ck_record {
    char *buffer;        /* of CK_AUDIT_LINE_MAX bytes; owned */
    const char *kind;    /* a constant */
    struct ck_json body; /* writes into buffer */
};

/* The place of the next record: log, seq, and the hash of the record before. */
struct ck_audit_place {
    char log[CK_AUDIT_LOG_HEX + 1];
    uint64_t seq;
    char prev[CK_AUDIT_HASH_HEX + 1];
};

/*
 * Begins a record; its members go into record->body, which has room for CK_AUDIT_BODY_MAX bytes. 0
 * or -ENOMEM. A body that is full when the record is sealed is a bug: the code that writes lists
 * cuts them.
 */
#define CK_AUDIT_BODY_MAX (CK_AUDIT_LINE_MAX - 512)
int ck_record_start(struct ck_record *record, const char *kind);
void ck_record_done(struct ck_record *record);

/*
 * The whole line with its newline, and another newline in front if newline_first. The text is valid
 * until the record is started or sealed again. May be called again with another place.
 */
size_t ck_record_seal(struct ck_record *record, const struct ck_audit_place *place, bool newline_first,
                      const char **ret_text, char ret_hash[CK_AUDIT_HASH_HEX + 1]);

#endif
