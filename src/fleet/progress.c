/* progress.c - see progress.h. */
#include "fleet/progress.h"

#include "base/clock.h"
#include "front/text.h"

#include <inttypes.h>
#include <stdio.h>

#define BAR_COLUMNS 20
#define CLEAR "\r\033[K"

const char *ck_fleet_duration(char dst[24], uint64_t seconds)
{
    if (seconds >= 3600)
        (void)snprintf(dst, 24, "%" PRIu64 "h%02" PRIu64 "m", seconds / 3600, seconds / 60 % 60);
    else if (seconds >= 60)
        (void)snprintf(dst, 24, "%" PRIu64 "m%02" PRIu64 "s", seconds / 60, seconds % 60);
    else
        (void)snprintf(dst, 24, "%" PRIu64 "s", seconds);
    return dst;
}

uint64_t ck_fleet_estimate(uint64_t elapsed_ms, size_t ended_now, size_t left)
{
    uint64_t whole;

    if (left == 0)
        return 0;
    if (ended_now == 0 || __builtin_mul_overflow(elapsed_ms, (uint64_t)left, &whole))
        return UINT64_MAX;
    return (whole / ended_now + 999) / 1000;
}

void ck_fleet_progress_init(struct ck_fleet_progress *progress, struct ck_outlet *outlet,
                            const struct ck_fleet_counts *counts)
{
    *progress = (struct ck_fleet_progress){.outlet = outlet,
                                           .live = ck_text_cursor(outlet->fd),
                                           .begun_ms = ck_clock_now_ms(),
                                           .ended_first = counts->done + counts->failed};
}

void ck_fleet_progress_draw(struct ck_fleet_progress *progress, const struct ck_fleet_counts *counts)
{
    size_t ended = counts->done + counts->failed;
    size_t left = counts->total > ended ? counts->total - ended : 0;
    size_t now = ended > progress->ended_first ? ended - progress->ended_first : 0;
    size_t filled = counts->total > 0 ? ended * BAR_COLUMNS / counts->total : 0;
    char bar[BAR_COLUMNS + 1], time[24];

    if (!progress->live)
        return;
    for (size_t i = 0; i < BAR_COLUMNS; i++)
        bar[i] = i < filled ? '#' : '.';
    bar[BAR_COLUMNS] = '\0';
    uint64_t seconds = ck_fleet_estimate(ck_clock_now_ms() - progress->begun_ms, now, left);
    ck_outlet_print(progress->outlet, CLEAR "[%s] %zu/%zu, %zu failed, %zu running, %s left", bar, ended, counts->total,
                    counts->failed, counts->running, seconds == UINT64_MAX ? "?" : ck_fleet_duration(time, seconds));
    progress->drawn = true;
}

void ck_fleet_progress_clear(struct ck_fleet_progress *progress)
{
    if (progress->drawn)
        ck_outlet_print(progress->outlet, CLEAR);
    progress->drawn = false;
}
