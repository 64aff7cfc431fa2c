/*
 * schedule.c - which probe starts next; see schedule.h. There are few probes, so every lookup is a
 * linear search.
 */
#include "gather/schedule.h"

#include <string.h>

/* count if the name is unknown. */
static size_t find(const struct ck_probe_report *reports, size_t count, const char *name)
{
    size_t at = 0;
    while (at < count && strcmp(reports[at].probe->name, name) != 0)
        at++;
    return at;
}

/*
 * Marks everything that can be reached from index, until a round adds nothing. It ends also if the
 * needs form a cycle.
 */
bool ck_schedule_needs(const struct ck_probe_report *reports, size_t count, size_t index, size_t other)
{
    bool reached[CK_PROBES_MAX] = {false};
    bool moved = true;

    reached[index] = true;
    while (moved) {
        moved = false;
        for (size_t i = 0; i < count; i++)
            for (const char *const *need = reports[i].probe->needs; reached[i] && *need; need++) {
                size_t at = find(reports, count, *need);
                moved = moved || (at < count && !reached[at]);
                if (at < count)
                    reached[at] = true;
            }
    }
    return index != other && reached[other];
}

/* All that it needs are ok, and it has not begun. */
static bool is_ready(const struct ck_probe_report *reports, size_t count, size_t index)
{
    for (const char *const *need = reports[index].probe->needs; *need; need++) {
        size_t at = find(reports, count, *need);
        if (at == count || reports[at].state != CK_PROBE_STATE_OK)
            return false;
    }
    return reports[index].state == CK_PROBE_STATE_WAITING;
}

/* The number of waiting probes that need it. */
static size_t weight(const struct ck_probe_report *reports, size_t count, size_t index)
{
    size_t waiting = 0;
    for (size_t i = 0; i < count; i++)
        waiting += reports[i].state == CK_PROBE_STATE_WAITING && ck_schedule_needs(reports, count, i, index);
    return waiting;
}

/*
 * timeout_s 0 (the policy's limit) counts as the shortest. Equal probes keep the order of the file.
 */
static bool comes_before(const struct ck_probe_report *reports, size_t count, size_t one, size_t other)
{
    size_t weights[] = {weight(reports, count, one), weight(reports, count, other)};

    if (weights[0] != weights[1])
        return weights[0] > weights[1];
    return reports[one].probe->timeout_s > reports[other].probe->timeout_s;
}

/* A linear search is enough: CK_PROBES_MAX is small. */
int ck_schedule_next(const struct ck_probe_report *reports, size_t count, size_t jobs)
{
    size_t running = 0, best = count;

    for (size_t i = 0; i < count; i++)
        running += reports[i].state == CK_PROBE_STATE_RUNNING;
    for (size_t i = 0; running < jobs && i < count; i++)
        if (is_ready(reports, count, i) && (best == count || comes_before(reports, count, i, best)))
            best = i;
    return best < count ? (int)best : -1;
}

/* Every state but the first two is final. */
static bool has_ended(enum ck_probe_state state)
{
    return state != CK_PROBE_STATE_WAITING && state != CK_PROBE_STATE_RUNNING;
}

/* Only direct needs: the caller repeats it until nothing changes. */
const struct ck_probe_report *ck_schedule_blocker(const struct ck_probe_report *reports, size_t count, size_t index)
{
    if (reports[index].state != CK_PROBE_STATE_WAITING)
        return NULL;
    for (const char *const *need = reports[index].probe->needs; *need; need++) {
        size_t at = find(reports, count, *need);
        if (at < count && has_ended(reports[at].state) && reports[at].state != CK_PROBE_STATE_OK)
            return &reports[at];
    }
    return NULL;
}

bool ck_schedule_over(const struct ck_probe_report *reports, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!has_ended(reports[i].state))
            return false;
    return true;
}
