/* tally.c - see tally.h. */
#include "report/tally.h"

#include "base/heap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DIRECTORY_LEVELS 2

uint32_t ck_tally_by_rule(const struct ck_found_item *item, struct ck_strings *strings)
{
    (void)strings;
    return item->finding->rule;
}

uint32_t ck_tally_by_repository(const struct ck_found_item *item, struct ck_strings *strings)
{
    (void)strings;
    return item->look->name;
}

/* page/gather.js knows how directories are named. */
uint32_t ck_tally_by_directory(const struct ck_found_item *item, struct ck_strings *strings)
{
    char directory[CK_STRINGS_LONG + 64]; /* a path that was cut has a note at its end */
    const char *path = ck_strings_text(strings, item->finding->path);
    const char *end = path;

    for (unsigned level = 0; level < DIRECTORY_LEVELS; level++) {
        const char *slash = strchr(end, '/');
        if (!slash)
            break;
        end = slash + 1;
    }
    int length = snprintf(directory, sizeof(directory), "%.*s", (int)(end - path), path);
    if (length <= 0 || (size_t)length >= sizeof(directory))
        return ck_strings_own(strings, path[0] == '\0' ? "(no file)" : "(top directory)");
    return ck_strings_own(strings, directory);
}

static int compare_keys(const void *left, const void *right)
{
    const struct ck_tally_item *a = left, *b = right;

    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->first < b->first ? -1 : a->first > b->first;
}

static int compare_worst(const void *left, const void *right)
{
    const struct ck_tally_item *a = left, *b = right;

    for (unsigned s = 0; s < CK_LOOK_SEVERITIES; s++)
        if (a->by_severity[s] != b->by_severity[s])
            return a->by_severity[s] > b->by_severity[s] ? -1 : 1;
    return a->first < b->first ? -1 : a->first > b->first;
}

/* Items of one key become one; items is sorted by key. */
static void join(struct ck_tally *tally)
{
    size_t kept = 0;

    for (size_t i = 0; i < tally->count; i++) {
        struct ck_tally_item *last = kept > 0 ? &tally->items[kept - 1] : NULL;
        if (!last || last->key != tally->items[i].key)
            tally->items[kept++] = tally->items[i];
        else
            for (unsigned s = 0; s < CK_LOOK_SEVERITIES; s++)
                last->by_severity[s] += tally->items[i].by_severity[s];
    }
    tally->count = kept;
    for (size_t i = 0; i < kept; i++)
        for (unsigned s = 0; s < CK_LOOK_SEVERITIES; s++)
            tally->items[i].total += tally->items[i].by_severity[s];
}

int ck_tally_make(struct ck_tally *tally, const struct ck_found *found, struct ck_strings *strings,
                  uint32_t (*key_of)(const struct ck_found_item *item, struct ck_strings *strings))
{
    *tally = (struct ck_tally){.items = calloc(found->here + 1, sizeof(*tally->items))};
    if (!tally->items)
        return -ENOMEM;
    for (; tally->count < found->here; tally->count++) {
        const struct ck_found_item *item = &found->items[tally->count];
        tally->items[tally->count] = (struct ck_tally_item){.key = key_of(item, strings), .first = item};
        tally->items[tally->count].by_severity[item->finding->severity] = 1;
    }
    qsort(tally->items, tally->count, sizeof(*tally->items), compare_keys);
    join(tally);
    qsort(tally->items, tally->count, sizeof(*tally->items), compare_worst);
    return 0;
}

void ck_tally_done(struct ck_tally *tally)
{
    free(tally->items);
    *tally = (struct ck_tally){0};
}
