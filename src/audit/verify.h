/*
 * verify.h - the proof of a log, line by line and in order. Pure, and in constant memory.
 */
#ifndef CK_AUDIT_VERIFY_H
#define CK_AUDIT_VERIFY_H

#include "audit/format.h"
#include "audit/head.h"

#include <limits.h>
#include <sodium/crypto_generichash.h>

/* A line, without its newline. */
struct ck_line {
    const char *text;
    size_t length;
    const char *file;  /* its path, for messages */
    uint64_t number;   /* in this file, from 1 */
    bool has_newline;  /* false for the text after the last newline of a file */
    bool is_cut_short; /* longer than a torn write can be; the rest is not read */
};

#define CK_DAMAGE_MESSAGE_MAX 256

/* The first place where the log is not as it was written. */
struct ck_damage {
    enum choke_damage kind;
    char file[PATH_MAX];
    uint64_t line;
    char message[CK_DAMAGE_MESSAGE_MAX];
};

/* Lines so far that are not records: only a repair can vouch for them. */
struct ck_torn {
    /* as bytes: the type itself needs an alignment of 64 */
    unsigned char state[sizeof(crypto_generichash_state)];
    struct ck_damage damage; /* the damage, if no repair follows */
    uint64_t bytes;
    bool is_pending; /* there are such lines */
    bool has_newline;
    bool is_too_long;
};

/* What the rest of the log says about a record that is in the wrong place. */
struct ck_lookahead {
    bool is_on;
    struct ck_envelope stray; /* the record in the wrong place */
    bool has_missing;         /* the record that belongs there is further down */
    bool has_stray;           /* the record in the wrong place comes again */
    bool has_other;           /* what follows is of another log */
};

struct ck_verify {
    struct ck_torn torn;
    const struct ck_head_list *heads;
    bool has_begun;          /* a first record is proven */
    struct ck_envelope last; /* the last proven record */
    uint64_t records;        /* proven so far */
    uint64_t first_seq;      /* of the first proven record */
    uint64_t repairs;
    size_t heads_met; /* heads are sorted: these many match */
    struct ck_lookahead ahead;
    struct ck_damage damage;
    char file[PATH_MAX]; /* of the last line */
    uint64_t line;
};

enum ck_line_status {
    CK_LINE_NO_RECORD, /* not a record, or not yet known what it is */
    CK_LINE_PROVEN,    /* in its place in the chain */
    CK_LINE_UNPROVEN   /* a record by itself, after the damage */
};

void ck_verify_init(struct ck_verify *verify, const struct ck_head_list *heads);

/* ret_envelope is filled unless the status is CK_LINE_NO_RECORD. */
enum ck_line_status ck_verify_line(struct ck_verify *verify, const struct ck_line *line,
                                   struct ck_envelope *ret_envelope);

/*
 * Can the lines to come change nothing any more, except that records follow which are not proven?
 */
bool ck_verify_is_over(const struct ck_verify *verify);

/*
 * The damage if the log ends here; kind CHOKE_DAMAGE_NONE for none. More lines may follow.
 */
void ck_verify_damage(const struct ck_verify *verify, struct ck_damage *ret_damage);

#endif
