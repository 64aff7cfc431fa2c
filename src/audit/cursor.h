/*
 * cursor.h - reads text from its front, where every part has exactly one spelling: lines of a log,
 * and heads.
 *
 * Each function consumes what its name says. On false the cursor may have moved. The functions are
 * inline because a verifier spends nearly all its time here and in the hash.
 */
#ifndef CK_AUDIT_CURSOR_H
#define CK_AUDIT_CURSOR_H

#include "audit/format.h"

#include <stdbool.h>
#include <string.h>

struct ck_cursor {
    const char *at;  /* the next byte */
    const char *end; /* after the last one */
};

static inline bool ck_cursor_take_text(struct ck_cursor *cursor, const char *text)
{
    size_t length = strlen(text);
    if ((size_t)(cursor->end - cursor->at) < length || memcmp(cursor->at, text, length) != 0)
        return false;
    cursor->at += length;
    return true;
}

/* Without a branch per character: every line has two hashes to check. */
static inline bool ck_cursor_is_hex(const char *text, size_t length)
{
    static const unsigned char digits[256] = {['0' ... '9'] = 1, ['a' ... 'f'] = 1};
    unsigned good = 1;
    for (size_t i = 0; i < length; i++)
        good &= digits[(unsigned char)text[i]];
    return good != 0;
}

/* Exactly this many lower-case digits; ret_text also gets a NUL. */
static inline bool ck_cursor_take_hex(struct ck_cursor *cursor, size_t length, char *ret_text)
{
    if ((size_t)(cursor->end - cursor->at) < length || !ck_cursor_is_hex(cursor->at, length))
        return false;
    memcpy(ret_text, cursor->at, length);
    ret_text[length] = '\0';
    cursor->at += length;
    return true;
}

/* Digits without a leading zero, so that a number has one spelling. */
static inline bool ck_cursor_take_number(struct ck_cursor *cursor, uint64_t *ret_number)
{
    const char *start = cursor->at;
    uint64_t number = 0;
    while (cursor->at < cursor->end && *cursor->at >= '0' && *cursor->at <= '9') {
        number = number * 10 + (uint64_t)(*cursor->at++ - '0');
        /* checked at each digit, so the number cannot overflow */
        if (number > CK_AUDIT_SEQ_MAX)
            return false;
    }
    size_t length = (size_t)(cursor->at - start);
    *ret_number = number;
    return length == 1 || (length > 1 && *start != '0');
}

#endif
