/*
 * nearest.c - edit distance; see nearest.h.
 */
#include "base/nearest.h"

#include <stdbool.h>
#include <string.h>

/* A beginning of at least this many bytes is near the whole name: "--max-c" and "--max-count". */
#define PREFIX_MIN ((size_t)3)

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t leading_dashes(const char *name, size_t length)
{
    size_t dashes = 0;
    while (dashes < length && dashes < 2 && name[dashes] == '-')
        dashes++;
    return dashes;
}

/*
 * The usual table, of which three rows are kept: row[i % 3][j] is the distance between the first i
 * bytes of a and the first j of b. Row i - 2 is for the exchange of two bytes.
 */
size_t ck_nearest_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t row[3][CK_NEAREST_MAX + 1];
    for (size_t j = 0; j <= b_length; j++)
        row[0][j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t *now = row[i % 3];
        const size_t *before = row[(i + 2) % 3];
        now[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t replaced = before[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            now[j] = least(replaced, least(before[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = least(now[j], row[(i + 1) % 3][j - 2] + 1);
        }
    }
    return row[a_length % 3][b_length];
}

/* One letter has no typing errors: every other letter would be near. */
static size_t edits_allowed(size_t length)
{
    return length < 3 ? 0 : length < 6 ? 1 : length < 10 ? 2 : 3;
}

void ck_nearest_begin(struct ck_nearest *nearest, const char *wrong, size_t length)
{
    size_t dashes = leading_dashes(wrong, length);
    *nearest = (struct ck_nearest){.wrong = wrong + dashes, .length = length - dashes};
    if (nearest->length > 0 && nearest->length <= CK_NEAREST_MAX)
        nearest->distance = edits_allowed(nearest->length) + 1;
}

void ck_nearest_offer(struct ck_nearest *nearest, const char *right)
{
    size_t dashes = leading_dashes(right, strlen(right));
    const char *name = right + dashes;
    size_t length = strlen(name);
    /* Also if the wrong name cannot be near anything. */
    if (nearest->distance == 0 || length == 0 || length > CK_NEAREST_MAX)
        return;
    size_t distance = ck_nearest_distance(nearest->wrong, nearest->length, name, length);
    bool begins =
        nearest->length >= PREFIX_MIN && length > nearest->length && memcmp(name, nearest->wrong, nearest->length) == 0;
    /* A smaller typing error is nearer than an abbreviation. */
    if (begins)
        distance = least(distance, edits_allowed(nearest->length));
    if (distance < nearest->distance) {
        nearest->best = right;
        nearest->distance = distance;
    }
}
