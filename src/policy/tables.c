/* tables.c - copies of the default policy and of the catalogue, with real pointers. */
#include "policy/tables.h"

#include <stdint.h>
#include <string.h>

extern const struct ck_tables ck_policy_default_image, ck_policy_catalog_image;

static const struct ck_policy *open_tables(const struct ck_tables *tables, struct ck_arena *arena)
{
    unsigned char *copy = ck_arena_alloc(arena, tables->image_bytes);
    if (!copy)
        return NULL;
    memcpy(copy, tables->image, tables->image_bytes);
    for (unsigned i = 0; i < tables->places_count; i++) {
        uintptr_t pointer;
        memcpy(&pointer, copy + tables->places[i], sizeof(pointer));
        pointer += (uintptr_t)copy;
        memcpy(copy + tables->places[i], &pointer, sizeof(pointer));
    }
    return (const void *)(copy + tables->policy_at);
}

bool ck_tables_has(const struct ck_policy *tables, const char *name)
{
    return tables && ck_policy_find(tables, name);
}

const struct ck_policy *ck_policy_default(struct ck_arena *arena)
{
    return open_tables(&ck_policy_default_image, arena);
}

const struct ck_policy *ck_policy_catalog(struct ck_arena *arena)
{
    return open_tables(&ck_policy_catalog_image, arena);
}
