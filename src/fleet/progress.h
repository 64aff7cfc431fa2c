/*
 * progress.h - how far a fleet is, for people: one line on a terminal, redrawn in place.
 *
 * The estimate is of this run alone: what is left, by what was finished since it began.
 */
#ifndef CK_FLEET_PROGRESS_H
#define CK_FLEET_PROGRESS_H

#include "front/outlet.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ck_fleet_counts {
    size_t total;
    size_t done;    /* with a document */
    size_t failed;  /* with a failure */
    size_t running; /* claimed now */
    size_t others;  /* of these: by other processes, as far as it is known */
};

struct ck_fleet_progress {
    struct ck_outlet *outlet;
    bool live;          /* a terminal that can move its cursor */
    uint64_t begun_ms;  /* monotonic */
    size_t ended_first; /* done and failed at the beginning */
    bool drawn;
};

void ck_fleet_progress_init(struct ck_fleet_progress *progress, struct ck_outlet *outlet,
                            const struct ck_fleet_counts *counts);
void ck_fleet_progress_draw(struct ck_fleet_progress *progress, const struct ck_fleet_counts *counts);

/* Removes the line, so that other text can follow. */
void ck_fleet_progress_clear(struct ck_fleet_progress *progress);

/* "2h05m", "3m20s", "12s"; dst has 24 bytes. */
const char *ck_fleet_duration(char dst[24], uint64_t seconds);

/* Seconds that are left; UINT64_MAX: not known. */
uint64_t ck_fleet_estimate(uint64_t elapsed_ms, size_t ended_now, size_t left);

#endif
