/*
 * clock.h - the two clocks. Functions pass on deadlines, which are monotonic, and not durations,
 * which would have to be reduced at every step. The time of day is for records and for comparison
 * with the times of files.
 */
#ifndef CK_BASE_CLOCK_H
#define CK_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define CK_NS_PER_US UINT64_C(1000)
#define CK_NS_PER_MS UINT64_C(1000000)
#define CK_NS_PER_S UINT64_C(1000000000)

static inline uint64_t ck_clock_now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * CK_NS_PER_S + (uint64_t)now.tv_nsec;
}

static inline uint64_t ck_clock_now_us(void)
{
    return ck_clock_now_ns() / CK_NS_PER_US;
}

static inline uint64_t ck_clock_now_ms(void)
{
    return ck_clock_now_ns() / CK_NS_PER_MS;
}

/* The time of day. It can be set back, so it is never used for a deadline. */
static inline struct timespec ck_clock_real_time(void)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return now;
}

#endif
