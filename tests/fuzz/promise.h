/*
 * promise.h - what the fuzz targets have in common.
 */
#ifndef FUZZ_PROMISE_H
#define FUZZ_PROMISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What does not hold ends the target, which a fuzzer counts as a finding. */
static inline void require(bool promise)
{
    if (!promise)
        abort();
}

#endif
