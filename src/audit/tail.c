/*
 * tail.c - finds the last record of a log. See tail.h.
 *
 * Searches from the last line backwards for the first valid record. An interrupted write never
 * leaves the closing of a record (format.h), so a line without it is skipped. A line that has the
 * closing and is not valid was edited. A writer that continued after it would vouch for it.
 */
#include "audit/tail.h"

#include <errno.h>
#include <string.h>

int ck_tail_find(const char *text, size_t length, bool whole, struct ck_tail *ret_tail)
{
    struct ck_tail tail = {0};
    size_t end = length;
    while (end > 0) {
        bool terminated = text[end - 1] == '\n';
        size_t stop = terminated ? end - 1 : end;
        const char *before = memrchr(text, '\n', stop);
        if (!before && !whole)
            return -EAGAIN;
        size_t start = before ? (size_t)(before - text) + 1 : 0;
        int r = ck_line_read(text + start, stop - start, &tail.last);
        if (r == 0) {
            tail.unterminated = !terminated;
            tail.torn = text + end;
            tail.torn_length = length - end;
            *ret_tail = tail;
            return 0;
        }
        if (r == -EBADMSG)
            return r;
        end = start;
    }
    return -EAGAIN;
}
