/*
 * nearest.h - the allowed name that a wrong one is closest to, for "did you mean" in a message.
 *
 *   1. ck_nearest_begin   with the wrong name, any bytes.
 *   2. ck_nearest_offer   for each name that would be right.
 *   3. .best              the nearest of them, or NULL if none is near.
 *
 * Dashes in front do not count: "-oneline" is near "--oneline". Near is a name that differs by few
 * edits (insert, remove or replace a byte, exchange two adjacent ones), the fewer the shorter it
 * is, or that begins with the wrong one. Of equally near names the first offered is taken.
 */
#ifndef CK_BASE_NEAREST_H
#define CK_BASE_NEAREST_H

#include <stddef.h>

#define CK_NEAREST_MAX ((size_t)64) /* a longer name is near nothing, so a search is bounded */

struct ck_nearest {
    const char *wrong;
    size_t length;
    const char *best; /* NULL: none so far */
    size_t distance;  /* of best; before that, one more than what is near */
};

void ck_nearest_begin(struct ck_nearest *nearest, const char *wrong, size_t length);

/* right must live as long as best is used. */
void ck_nearest_offer(struct ck_nearest *nearest, const char *right);

/* The number of edits between two texts of at most CK_NEAREST_MAX bytes. */
size_t ck_nearest_distance(const char *a, size_t a_length, const char *b, size_t b_length);

#endif
