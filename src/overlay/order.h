/*
 * order.h - sorts a list of changes by path, in slices: a hundred thousand of them take longer than
 * one round of events may.
 */
#ifndef CK_OVERLAY_ORDER_H
#define CK_OVERLAY_ORDER_H

#include "chokepoint.h"
#include "sys/slice.h"

#include <stddef.h>

/* Zero-filled before the first step. */
struct ck_order {
    struct choke_file_change *spare; /* as long as the list */
    size_t width;                    /* runs of this length are sorted */
    size_t start;                    /* first item of the pair of runs that is merged now */
    size_t left, right, out;         /* next item of each run, and of spare */
};

/*
 * True when items are sorted. It cannot fail: without memory for the spare list it sorts in one
 * step.
 */
bool ck_order_step(struct ck_order *order, struct choke_file_change *items, size_t count, struct ck_slice *slice);
void ck_order_done(struct ck_order *order);

#endif
