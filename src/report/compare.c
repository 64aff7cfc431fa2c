/* compare.c - see compare.h. Both lists are sorted by identity and walked together. */
#include "report/compare.h"

#include "base/heap.h"

#include <errno.h>
#include <stdlib.h>

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

int ck_compare(struct ck_look *before, struct ck_look *now, struct ck_compare_counts *ret_counts)
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
            old[i++]->state = CK_LOOK_GONE;
            ret_counts->gone++;
        } else {
            new[j++]->state = CK_LOOK_NEW;
            ret_counts->fresh++;
        }
    }
    return 0;
}
