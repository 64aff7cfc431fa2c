/*
 * verify.h - is a log whole? Fed line by line, in order; pure, and in constant memory.
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
    const char *file;
    uint64_t number;   /* in this file, from 1 */
    bool has_newline;  /* false for what stands behind the last one of a file */
    bool is_cut_short; /* there is more of it than a torn write can leave; the rest is not read */
};

#define CK_DAMAGE_MESSAGE_MAX 256

struct ck_damage {
    enum choke_damage kind;
    char file[PATH_MAX];
    uint64_t line;
    char message[CK_DAMAGE_MESSAGE_MAX];
};

/* Lines that are no records, so far: only a repair can vouch for them. */
struct ck_torn {
    unsigned char state[sizeof(crypto_generichash_state)]; /* its bytes: itself it must lie on a boundary of its own */
    struct ck_damage damage;                               /* what it is if no repair follows */
    uint64_t bytes;
    bool is_pending;
    bool has_newline;
    bool is_too_long;
};

/* What the rest of the log tells about a record that stands where another belongs. */
struct ck_lookahead {
    bool is_on;
    struct ck_envelope stray;
    bool has_missing; /* what belongs there stands further down */
    bool has_stray;   /* what stands there does so again */
    bool has_other;   /* what follows is of another log */
};

struct ck_verify {
    struct ck_torn torn;
    const struct ck_head_list *heads;
    bool has_begun;
    struct ck_envelope last; /* the last that is proven */
    uint64_t records;
    uint64_t first_seq;
    uint64_t repairs;
    size_t heads_met;
    struct ck_lookahead ahead;
    struct ck_damage damage;
    char file[PATH_MAX]; /* of the last line */
    uint64_t line;
};

enum ck_line_status {
    CK_LINE_NO_RECORD, /* no record, or not yet known what it is */
    CK_LINE_PROVEN,
    CK_LINE_UNPROVEN /* a record by itself, behind the damage */
};

void ck_verify_init(struct ck_verify *verify, const struct ck_head_list *heads);

/* ret_envelope is filled unless it is CK_LINE_NO_RECORD. */
enum ck_line_status ck_verify_line(struct ck_verify *verify, const struct ck_line *line,
                                   struct ck_envelope *ret_envelope);

/* Is there anything that the lines to come could still tell, but for records that are not proven? */
bool ck_verify_is_over(const struct ck_verify *verify);

/*
 * What is wrong if the log ends here; kind CHOKE_DAMAGE_NONE for nothing. Lines may follow all the same.
 */
void ck_verify_damage(const struct ck_verify *verify, struct ck_damage *ret_damage);

#endif
