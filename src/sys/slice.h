/*
 * slice.h - how much work one round of events may do on what a run left (docs/adr/0044).
 *
 * Listing, copying and removing subtract their work from the slice, and stop when one part of it is
 * used up. So a round is bounded, whatever a tool left. The time is a bound for steps that take
 * longer than usual: no step begins after it.
 */
#ifndef CK_SYS_SLICE_H
#define CK_SYS_SLICE_H

#include "base/clock.h"

#include <stdbool.h>
#include <stdint.h>

/* The limits of one round, for the whole context (docs/adr/0044). */
#define CK_SLICE_ENTRIES UINT32_C(256)
#define CK_SLICE_CREATIONS UINT32_C(8)
#define CK_SLICE_BYTES (UINT64_C(1) << 20)
#define CK_SLICE_NS (5 * CK_NS_PER_MS)

/* What is left of the slice. */
struct ck_slice {
    uint32_t entries;   /* to look at or remove */
    uint32_t creations; /* files, directories and links to make: by far the slowest on a disk */
    uint64_t bytes;     /* to read, compare or copy */
    uint64_t until_ns;  /* monotonic: a disk may be slow; 0: no limit */
};

#define CK_SLICE_WHOLE \
    { \
        .entries = CK_SLICE_ENTRIES, .creations = CK_SLICE_CREATIONS, .bytes = CK_SLICE_BYTES \
    }

static inline bool ck_slice_spent(const struct ck_slice *slice)
{
    return slice->entries == 0 || slice->creations == 0 || slice->bytes == 0 ||
           (slice->until_ns != 0 && ck_clock_now_ns() >= slice->until_ns);
}

static inline void ck_slice_spend_entries(struct ck_slice *slice, uint32_t entries)
{
    slice->entries -= entries < slice->entries ? entries : slice->entries;
}

static inline void ck_slice_spend_creations(struct ck_slice *slice, uint32_t creations)
{
    slice->creations -= creations < slice->creations ? creations : slice->creations;
}

static inline void ck_slice_spend_bytes(struct ck_slice *slice, uint64_t bytes)
{
    slice->bytes -= bytes < slice->bytes ? bytes : slice->bytes;
}

#endif
