/*
 * slice.h - how much one round of events may do with what a run left (docs/adr/0044).
 *
 * Listing, copying and removing take from the slice what they do, and stop when one of its parts is used up; so a round
 * has a bound that does not depend on what a tool left. Its time is a bound for the case that a step takes longer than
 * usual: no step begins after it.
 */
#ifndef CK_SYS_SLICE_H
#define CK_SYS_SLICE_H

#include "base/clock.h"

#include <stdbool.h>
#include <stdint.h>

#define CK_SLICE_ENTRIES UINT32_C(256)
#define CK_SLICE_CREATIONS UINT32_C(8)
#define CK_SLICE_BYTES (UINT64_C(1) << 20)
#define CK_SLICE_NS (5 * CK_NS_PER_MS)

/* What is left of it. */
struct ck_slice {
    uint32_t entries;   /* to be looked at or removed */
    uint32_t creations; /* files, directories and links to be made: by far the slowest on a disk */
    uint64_t bytes;     /* to be read, compared or copied */
    uint64_t until_ns;  /* monotonic: a disk may be slow; 0: no bound */
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
