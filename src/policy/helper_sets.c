/* helper_sets.c - finds sets of helpers, and the helpers of a tool. See helper_sets.h. */
#include "policy/helper_sets.h"

#include <string.h>

#define NAME_BYTES 24 /* of a name that is compared; names of sets are shorter */

const struct ck_helper_set *ck_helper_sets_find(const char *name)
{
    for (uint32_t i = 0; i < ck_helper_sets_count; i++)
        if (strcmp(ck_helper_sets[i].name, name) == 0)
            return &ck_helper_sets[i];
    return NULL;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* How many characters must be added, removed or replaced. One row of the usual table is enough. */
static size_t distance(const char *a, const char *b)
{
    size_t row[NAME_BYTES + 1];
    size_t length = strnlen(b, NAME_BYTES);
    for (size_t k = 0; k <= length; k++)
        row[k] = k;
    for (size_t i = 0; a[i] != '\0'; i++) {
        size_t corner = row[0];
        row[0] = i + 1;
        for (size_t k = 0; k < length; k++) {
            size_t replaced = corner + (a[i] != b[k]);
            corner = row[k + 1];
            row[k + 1] = least(replaced, least(row[k], row[k + 1]) + 1);
        }
    }
    return row[length];
}

/* Half of a name must be right; a name that is part of the set's ("rust") is like it, too. */
const struct ck_helper_set *ck_helper_sets_nearest(const char *name)
{
    const struct ck_helper_set *best = NULL;
    size_t best_distance = NAME_BYTES;
    if (strnlen(name, NAME_BYTES + 1) > NAME_BYTES)
        return NULL;
    for (uint32_t i = 0; i < ck_helper_sets_count; i++) {
        const char *candidate = ck_helper_sets[i].name;
        size_t away = distance(name, candidate);
        bool like = away <= strlen(candidate) / 2 || (strlen(name) > 2 && strstr(candidate, name));
        if (like && away < best_distance) {
            best = &ck_helper_sets[i];
            best_distance = away;
        }
    }
    return best;
}

bool ck_helper_sets_at(const struct ck_tool *tool, uint32_t index, struct ck_helper *ret_helper)
{
    const struct ck_list *list = &tool->execs;
    const struct ck_helper_set *set = NULL;
    for (uint32_t i = 0; index >= list->count; i++) {
        if (i == tool->uses.count)
            return false;
        index -= list->count;
        /* The loader has checked the name. */
        set = ck_helper_sets_find(tool->uses.items[i]);
        list = &set->helpers;
    }
    *ret_helper = (struct ck_helper){.text = list->items[index], .set = set};
    return true;
}

bool ck_helper_sets_have(const struct ck_tool *tool, const char *text)
{
    struct ck_helper helper;
    for (uint32_t i = 0; ck_helper_sets_at(tool, i, &helper); i++)
        if (strcmp(helper.text, text) == 0)
            return true;
    return false;
}

bool ck_helper_sets_bind(const struct ck_tool *tool)
{
    return tool->has_execs || tool->uses.count > 0;
}
