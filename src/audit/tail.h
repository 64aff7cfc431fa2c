/*
 * tail.h - pure: how a log ends.
 */
#ifndef CK_AUDIT_TAIL_H
#define CK_AUDIT_TAIL_H

#include "audit/format.h"

#include <stdbool.h>

struct ck_tail {
    struct ck_envelope last; /* the last whole record */
    bool unterminated;       /* it lacks its newline, and nothing follows */
    const char *torn;        /* what follows its newline: left by a write that did not get to its end */
    size_t torn_length;
};

/*
 * text is the last part of the log, or the whole of it. 0. -EAGAIN where no record begins and ends in it: more of the log
 * is to be looked at. -EBADMSG: there is a line that was a record and was edited.
 */
int ck_tail_find(const char *text, size_t length, bool whole, struct ck_tail *ret_tail);

#endif
