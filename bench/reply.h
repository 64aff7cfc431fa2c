/* reply.h - shared by all programs of the bench: a figure on stdout, or an error on stderr. */
#ifndef BENCH_REPLY_H
#define BENCH_REPLY_H

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* A failed measurement has no figure: prints what failed and ends the program. */
static inline _Noreturn void fail(const char *what, const char *detail)
{
    (void)fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, detail);
    exit(1);
}

static inline uint64_t clock_ns(clockid_t id)
{
    struct timespec now;
    (void)clock_gettime(id, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static inline uint64_t now_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

static inline void reply(uint64_t runs, uint64_t wall_ns)
{
    (void)printf("{\"runs\": %" PRIu64 ", \"wall_ns\": %" PRIu64 "}\n", runs, wall_ns);
}

#endif
