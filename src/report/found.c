/* found.c - see found.h. */
#include "report/found.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *ck_found_state_name(enum ck_look_state state)
{
    static const char *const names[] = {"listed", "new", "known", "gone", "unchecked"};
    return names[state];
}

/* Is it in the look before only? */
static bool is_past(const struct ck_look_finding *finding)
{
    return finding->state == CK_LOOK_GONE || finding->state == CK_LOOK_UNCHECKED;
}

/* The words of gather, those of its own code first; what it does not say comes with the source. */
static unsigned rank_of_place(const char *place)
{
    static const char *const later[] = {"test", "example", "document", "vendored"};

    for (unsigned i = 0; i < sizeof(later) / sizeof(later[0]); i++)
        if (strcmp(place, later[i]) == 0)
            return i + 1;
    return 0;
}

static int compare_found(const void *left, const void *right, void *data)
{
    const struct ck_found_item *a = left, *b = right;
    const struct ck_look_finding *x = a->finding, *y = b->finding;
    const struct ck_strings *strings = data;

    if (is_past(x) != is_past(y))
        return is_past(x) ? 1 : -1;
    if (x->severity != y->severity)
        return x->severity < y->severity ? -1 : 1;
    if ((x->state == CK_LOOK_KNOWN) != (y->state == CK_LOOK_KNOWN))
        return x->state == CK_LOOK_KNOWN ? 1 : -1;
    unsigned place = rank_of_place(ck_strings_text(strings, x->place));
    unsigned other = rank_of_place(ck_strings_text(strings, y->place));
    if (place != other)
        return place < other ? -1 : 1;
    int order = strcmp(ck_strings_text(strings, a->look->name), ck_strings_text(strings, b->look->name));
    if (order == 0 && x->rule != y->rule)
        order = strcmp(ck_strings_text(strings, x->rule), ck_strings_text(strings, y->rule));
    if (order == 0 && x->path != y->path)
        order = strcmp(ck_strings_text(strings, x->path), ck_strings_text(strings, y->path));
    if (order != 0)
        return order;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return x < y ? -1 : x > y;
}

static void add(struct ck_found *found, const struct ck_look *look, bool past)
{
    for (size_t i = 0; i < look->findings.count; i++)
        if (is_past(&look->findings.items[i]) == past) {
            found->items[found->count++] = (struct ck_found_item){&look->findings.items[i], look};
            found->known += !past && look->findings.items[i].state == CK_LOOK_KNOWN ? 1 : 0;
        }
}

int ck_found_list(struct ck_found *found, const struct ck_looks *looks)
{
    size_t most = 0;
    struct ck_strings strings = looks->strings; /* qsort_r wants a pointer that is not const */

    *found = (struct ck_found){0};
    for (size_t i = 0; i < looks->count; i++)
        most += looks->items[i].findings.count;
    found->items = calloc(most + 1, sizeof(*found->items));
    if (!found->items)
        return -ENOMEM;
    for (size_t i = ck_looks_next(looks, 0); i < looks->count; i = ck_looks_next(looks, i + 1)) {
        const struct ck_look *before = ck_looks_before(looks, i);
        add(found, &looks->items[i], false);
        found->here += looks->items[i].findings.count;
        for (unsigned s = 0; s < CK_LOOK_SEVERITIES; s++)
            found->by_severity[s] += looks->items[i].by_severity[s];
        if (before)
            add(found, before, true);
    }
    qsort_r(found->items, found->count, sizeof(*found->items), compare_found, &strings);
    return 0;
}

void ck_found_done(struct ck_found *found)
{
    free(found->items);
    *found = (struct ck_found){0};
}
