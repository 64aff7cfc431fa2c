/* compare.c - see compare.h. Both lists are sorted by identity and walked together. */
#include "report/compare.h"

#include "base/heap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SEPARATOR ", " /* of the names in seen_by */

static int compare_identities(const void *left, const void *right)
{
    const struct ck_look_finding *const *l = left, *const *r = right;
    const struct ck_look_finding *a = *l, *b = *r;

    if (a->identity != b->identity)
        return a->identity < b->identity ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* NULL: no memory. */
static struct ck_look_finding **sorted(struct ck_look *look)
{
    struct ck_look_finding **list = calloc(look->findings.count + 1, sizeof(*list));

    for (size_t i = 0; list && i < look->findings.count; i++)
        list[i] = &look->findings.items[i];
    if (list)
        qsort(list, look->findings.count, sizeof(*list), compare_identities);
    return list;
}

/* Has the probe of this name looked, and would it have listed a finding of this severity? */
static bool has_looked(const struct ck_look *look, const struct ck_strings *strings, const char *name, size_t length,
                       enum ck_look_severity severity)
{
    for (size_t i = 0; i < look->probes.count; i++) {
        const struct ck_look_probe *probe = &look->probes.items[i];
        const char *other = ck_strings_text(strings, probe->name);
        if (strncmp(other, name, length) == 0 && other[length] == '\0')
            return probe->nothing || (probe->ok && !probe->output_cut && severity < probe->cut);
    }
    return false;
}

/* What does not say who has seen it counts as looked for. */
static bool is_looked_for(const struct ck_look *look, const struct ck_strings *strings,
                          const struct ck_look_finding *finding)
{
    const char *names = ck_strings_text(strings, finding->seen_by);

    while (*names != '\0') {
        const char *end = strstr(names, SEPARATOR);
        size_t length = end ? (size_t)(end - names) : strlen(names);
        if (!has_looked(look, strings, names, length, finding->severity))
            return false;
        names += length + (end ? strlen(SEPARATOR) : 0);
    }
    return true;
}

int ck_compare(struct ck_look *before, struct ck_look *now, const struct ck_strings *strings,
               struct ck_compare_counts *ret_counts)
{
    CK_HEAP struct ck_look_finding **old = ck_heap_own(sorted(before));
    CK_HEAP struct ck_look_finding **new = ck_heap_own(sorted(now));
    size_t i = 0, j = 0;

    *ret_counts = (struct ck_compare_counts){0};
    if (!old || !new)
        return -ENOMEM;
    while (i < before->findings.count || j < now->findings.count) {
        bool old_left = i < before->findings.count, new_left = j < now->findings.count;
        if (old_left && new_left && old[i]->identity == new[j]->identity) {
            old[i++]->state = CK_LOOK_KNOWN;
            new[j++]->state = CK_LOOK_KNOWN;
        } else if (!new_left || (old_left && old[i]->identity < new[j]->identity)) {
            bool gone = is_looked_for(now, strings, old[i]);
            old[i++]->state = gone ? CK_LOOK_GONE : CK_LOOK_UNCHECKED;
            *(gone ? &ret_counts->gone : &ret_counts->unchecked) += 1;
        } else {
            new[j++]->state = CK_LOOK_NEW;
            ret_counts->fresh++;
        }
    }
    return 0;
}
