/*
 * schedule.h - pure: which probe may start now, and which never will.
 *
 * A probe starts when all that it needs are ok and a slot is free. Probes that others need come
 * first, because what waits for them cannot start earlier. Then come those with the longest
 * timeouts: a long probe that starts late would run alone at the end. Among equals the order of the
 * file decides.
 */
#ifndef CK_GATHER_SCHEDULE_H
#define CK_GATHER_SCHEDULE_H

#include "gather/gather.h"

/* The index of the next probe to start; -1 if none is ready, or jobs of them are running. */
int ck_schedule_next(const struct ck_probe_report *reports, size_t count, size_t jobs);

/*
 * Of the probes that a waiting one needs, one that has ended and is not ok; NULL if it may still
 * run.
 */
const struct ck_probe_report *ck_schedule_blocker(const struct ck_probe_report *reports, size_t count, size_t index);

/* Has every probe ended? */
bool ck_schedule_over(const struct ck_probe_report *reports, size_t count);

/* Does the probe at index need the one at other, directly or through others? */
bool ck_schedule_needs(const struct ck_probe_report *reports, size_t count, size_t index, size_t other);

#endif
