/* promise.h - shared by the fuzz targets. */
#ifndef FUZZ_PROMISE_H
#define FUZZ_PROMISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A broken promise ends the target, which a fuzzer counts as a finding. */
static inline void require(bool promise)
{
    if (!promise)
        abort();
}

#endif
