/*
 * schedule.h - pure: which probe may be started now, and which never will be.
 *
 * A probe starts when all that it needs are ok and there is a place for it. Those that others need come first, for what
 * waits on them cannot start earlier; then those that are given the most time, for what takes long and starts late is
 * waited for alone; among equals the order of the file holds.
 */
#ifndef CK_GATHER_SCHEDULE_H
#define CK_GATHER_SCHEDULE_H

#include "gather/gather.h"

/* The index of the next to start, or -1: none is ready, or jobs of them are running. */
int ck_schedule_next(const struct ck_probe_report *reports, size_t count, size_t jobs);

/* Of what a waiting probe needs, one that has ended and is not ok; NULL where it may still come to run. */
const struct ck_probe_report *ck_schedule_blocker(const struct ck_probe_report *reports, size_t count, size_t index);

/* Has every probe ended? */
bool ck_schedule_over(const struct ck_probe_report *reports, size_t count);

/* Does the probe at index need the one at other, itself or by way of others? */
bool ck_schedule_needs(const struct ck_probe_report *reports, size_t count, size_t index, size_t other);

#endif
