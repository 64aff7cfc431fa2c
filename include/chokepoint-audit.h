/*
 * chokepoint-audit.h - the part of chokepoint.h about reading the audit log. Include chokepoint.h,
 * which includes this.
 */
#ifndef CHOKEPOINT_AUDIT_H
#define CHOKEPOINT_AUDIT_H

#include "chokepoint.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * An audit log is read without a context, by anyone who may read the file. docs/audit.md has the
 * format, and says what a chain of hashes can and cannot prove.
 *
 * What is wrong with a log. The names (choke_damage_name) are stable.
 */
enum choke_damage {
    CHOKE_DAMAGE_NONE = 0,   /* "none" */
    CHOKE_DAMAGE_EDITED,     /* "edited": the hash of the line does not match its bytes */
    CHOKE_DAMAGE_REORDERED,  /* "reordered": the record that belongs here is further down */
    CHOKE_DAMAGE_DROPPED,    /* "dropped": the record that belongs here is missing */
    CHOKE_DAMAGE_DUPLICATED, /* "duplicated": a record that is also in another place */
    CHOKE_DAMAGE_CUT,        /* "cut": the log ends before the record of a head, or is empty */
    CHOKE_DAMAGE_REBUILT,    /* "rebuilt": valid, but not what its predecessor or a head says */
    CHOKE_DAMAGE_SPLICED,    /* "spliced": a record of another log */
    CHOKE_DAMAGE_TORN,       /* "torn": the last line is incomplete; the next writer repairs it */
    CHOKE_DAMAGE_MALFORMED   /* "malformed": not a record, and no repair vouches for it */
};

CHOKE_API const char *choke_damage_name(enum choke_damage damage);

/* One record, as it is in the log. Pointers are valid during the callback only. */
struct choke_audit_record {
    const char *file;
    uint64_t line;    /* in this file, from 1 */
    bool proven;      /* false: it is after the first damage; only its own hash is correct */
    const char *log;  /* the name of the log, 16 hexadecimal digits */
    uint64_t seq;     /* from 0, through all files of the log */
    const char *time; /* "2026-11-15T16:38:18.123456Z" */
    const char *kind; /* "begin", "intent", "outcome", "refused", "guard_begin", "repair", ... */
    const char *hash;
    const char *text; /* the whole line: JSON without control characters; no NUL at the end */
    size_t length;
};

/* Something about a guard that the log does not account for. */
struct choke_audit_gap {
    uint64_t seq;        /* of the record that it is about */
    const char *message; /* one line; untrusted bytes are escaped */
};

struct choke_audit_report {
    enum choke_damage damage; /* the first damage; CHOKE_DAMAGE_NONE: nothing found */
    const char *file;         /* the file with the damage, or the last that was read; "" for none */
    uint64_t line;            /* of the damage; 0 without damage, or without a line to blame */
    const char *message;      /* what is wrong, one line; "" without damage */
    size_t files;             /* files that were read */
    uint64_t records;         /* proven records: the chain is unbroken up to the last of them */
    uint64_t first_seq;       /* of these records; not 0 if the files before were not given */
    uint64_t repairs;         /* torn writes that a later writer found and vouches for */
    size_t heads;             /* given heads that match */
    size_t unchecked;         /* of these, signed heads while no key was given */
    const char *head;         /* the last proven record as the text of a head; NULL: no record */
    /* With `complete` of the query, and if nothing is damaged: what is not accounted for. */
    const struct choke_audit_gap *gaps;
    size_t gaps_count;
    uint64_t gaps_more; /* that are not in the list */
};

/* Zero-filled: no file, which is an error. */
struct choke_audit_query {
    const char *const *paths; /* NULL-terminated; files of one log, in order; "-": stdin */
    bool rotated;             /* for each path, read the files that it was rotated into first */
    /*
     * NULL, or a NULL-terminated list: heads of this log that were kept elsewhere. The log must
     * have the record that each head names, with its hash. If public_key (its text) is given, each
     * head must be signed with it.
     */
    const char *const *heads;
    const char *public_key;
    bool unproven; /* continue after the first damage, with lines that are valid records */
    /*
     * May be NULL. A record that is passed as proven follows those before it; the report says
     * whether the heads match. Return false to stop; then the report is about what was read so far.
     */
    bool (*on_record)(void *data, const struct choke_audit_record *record);
    /*
     * NULL: stop at the end of the last file. Else it is called there, with the current report,
     * which is valid during the call. Return true to look again; do the waiting yourself. Then what
     * was appended since is read, also across a rotation.
     */
    bool (*on_end)(void *data, const struct choke_audit_report *report);
    void *data;
    size_t struct_size; /* see "structs that grow" in chokepoint.h */
    /*
     * Also check that the log accounts for every guard: it has an end; every attempt to execute in its
     * tree is a door, a carrier, the workspace, refused, not found or failed; as many doors were
     * executed as the guard has seen connections; every call of its tools has a record, and an
     * outcome if it was not refused. A guard that still runs has no end. Not with on_end.
     */
    bool complete;
};

/*
 * Reads a log from its first line to its last, in constant memory, and proves each record: by its
 * own hash, and by the record before it. Damage and its first line are in the report; the call
 * still returns 0. It returns a negative errno if a file cannot be read, or a head is not valid or
 * not signed by the key: then nothing is proven.
 *
 * Without a head the chain proves that nothing in it was altered. It does not prove that its end is
 * there, nor that the whole log was not written again. If a line is being written during the read,
 * the reader waits for it.
 */
CHOKE_API int choke_audit_verify(const struct choke_audit_query *query, struct choke_audit_report **ret_report,
                                 struct choke_error *error);
CHOKE_API void choke_audit_report_free(struct choke_audit_report *report); /* NULL is fine */

#define CHOKE_AUDIT_HEAD_MAX 256
#define CHOKE_AUDIT_KEY_MAX 64

/*
 * The head of the log at path: its last complete record, as text. Keep it where those who can write
 * the log cannot write. Only this record is read, so a long log takes no longer. secret_key_path:
 * sign the head with this key; NULL: do not.
 */
CHOKE_API int choke_audit_head(const char *path, const char *secret_key_path, char ret_head[CHOKE_AUDIT_HEAD_MAX],
                               struct choke_error *error);

/* A new key pair: path, readable by its owner only, and path.pub. Neither may exist. ret_public_key
 * gets the text of the public key. */
CHOKE_API int choke_audit_keygen(const char *path, char ret_public_key[CHOKE_AUDIT_KEY_MAX], struct choke_error *error);

#ifdef __cplusplus
}
#endif

#endif
