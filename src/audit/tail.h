/*
 * tail.h - pure: finds the last record of a log, and what is torn after it.
 */
#ifndef CK_AUDIT_TAIL_H
#define CK_AUDIT_TAIL_H

#include "audit/format.h"

#include <stdbool.h>

/* torn points into the text that was searched. */
struct ck_tail {
    struct ck_envelope last; /* the last whole record */
    bool unterminated;       /* the record lacks its newline, and nothing follows */
    const char *torn;        /* what follows its newline: left by a write that was interrupted */
    size_t torn_length;
};

/*
 * text is the last part of the log, or all of it. 0, or -EAGAIN if no record begins and ends in it:
 * read more of the log. -EBADMSG: a line that was a record was edited.
 */
int ck_tail_find(const char *text, size_t length, bool whole, struct ck_tail *ret_tail);

#endif
