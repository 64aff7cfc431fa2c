/* clock.h - monotonic nanoseconds; deadlines, not durations, go down the stack. */
#ifndef CK_BASE_CLOCK_H
#define CK_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define CK_NS_PER_MS UINT64_C(1000000)
#define CK_NS_PER_S UINT64_C(1000000000)

static inline uint64_t ck_clock_now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * CK_NS_PER_S + (uint64_t)now.tv_nsec;
}

#endif
