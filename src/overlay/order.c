/*
 * order.c - sorts a list of changes, in slices.
 *
 * A merge sort from the bottom up: runs of 1, 2, 4 ... are merged in pairs into the spare list, and
 * each pair is copied back when it is complete. So between two steps the list holds every item
 * once, in some order.
 */
#include "overlay/order.h"

#include <stdlib.h>
#include <string.h>

#define SHARE 16 /* looking at one entry costs as much as this many comparisons */

static int by_path(const void *one, const void *other)
{
    return strcmp(((const struct choke_file_change *)one)->path, ((const struct choke_file_change *)other)->path);
}

static size_t least(size_t one, size_t other)
{
    return one < other ? one : other;
}

/* The right run is shorter, or empty, at the end of the list. */
static void begin_pair(struct ck_order *order, size_t count)
{
    order->left = order->out = order->start;
    order->right = least(order->start + order->width, count);
}

/* Merges one item of the pair. False when the pair is merged. */
static bool merge_one(struct ck_order *order, const struct choke_file_change *items, size_t count)
{
    size_t middle = least(order->start + order->width, count), end = least(order->start + 2 * order->width, count);
    bool has_left = order->left < middle, has_right = order->right < end;
    if (!has_left && !has_right)
        return false;
    /* <= keeps the order of equal paths */
    bool take_left = has_left && (!has_right || by_path(&items[order->left], &items[order->right]) <= 0);
    order->spare[order->out++] = items[take_left ? order->left++ : order->right++];
    return true;
}

/* Copies a merged pair back and goes to the next. False when everything is sorted. */
static bool end_pair(struct ck_order *order, struct choke_file_change *items, size_t count)
{
    memcpy(items + order->start, order->spare + order->start, (order->out - order->start) * sizeof(*items));
    order->start += 2 * order->width;
    if (order->start >= count) {
        order->start = 0;
        order->width *= 2;
    }
    if (order->width >= count)
        return false;
    begin_pair(order, count);
    return true;
}

bool ck_order_step(struct ck_order *order, struct choke_file_change *items, size_t count, struct ck_slice *slice)
{
    if (count < 2)
        return true;
    if (!order->spare) {
        order->spare = reallocarray(NULL, count, sizeof(*items));
        if (!order->spare) {
            /* not in slices, but the list must be sorted */
            qsort(items, count, sizeof(*items), by_path);
            return true;
        }
        order->width = 1;
        begin_pair(order, count);
    }
    for (size_t i = 1; !ck_slice_spent(slice); i++) {
        if (!merge_one(order, items, count) && !end_pair(order, items, count))
            return true;
        ck_slice_spend_entries(slice, i % SHARE == 0 ? 1 : 0);
    }
    return false;
}

void ck_order_done(struct ck_order *order)
{
    free(order->spare);
    *order = (struct ck_order){0};
}
