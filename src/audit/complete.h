/*
 * complete.h - does the log account for every guard, its calls and its executions (R92)?
 *
 * Each proven record is given in order. A guard is open from its guard_begin to its guard_end; its
 * calls are the intents and refusals that name it. What is missing or does not add up is a gap. The
 * memory is that of guards and calls that are open at the same time, up to a bound.
 *
 *   1. ck_complete_add      for each record that is proven.
 *   2. ck_complete_finish   at the end of the log: what is still open.
 *   3. ck_complete_done     also for a zero-filled struct.
 */
#ifndef CK_AUDIT_COMPLETE_H
#define CK_AUDIT_COMPLETE_H

#include "audit/format.h"

#include <stdbool.h>

#define CK_COMPLETE_GAPS_MAX 64 /* that are described; the rest is counted */
#define CK_COMPLETE_MESSAGE_MAX 320

struct ck_complete_gap {
    uint64_t seq; /* of the record that it is about */
    char message[CK_COMPLETE_MESSAGE_MAX];
};

/* Zero-filled: no record yet. */
struct ck_complete {
    bool has_first;
    uint64_t first_seq;               /* of the first record: what it refers to before that is not in the files */
    struct ck_complete_guard *guards; /* that are open, by seq */
    size_t guards_count, guards_room;
    struct ck_complete_call *calls; /* of open guards, without an outcome, by seq */
    size_t calls_count, calls_room;
    struct ck_complete_gap *gaps;
    size_t gaps_count;
    uint64_t gaps_more; /* not among gaps */
};

/* text is the whole line; its JSON was checked. 0 or -ENOMEM. */
int ck_complete_add(struct ck_complete *complete, const struct ck_envelope *envelope, const char *text, size_t length);
int ck_complete_finish(struct ck_complete *complete);
void ck_complete_done(struct ck_complete *complete);

#endif
