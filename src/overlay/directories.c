/* directories.c - the list of directories of a walk, and their order. */
#include "overlay/directories.h"

#include <stdlib.h>
#include <string.h>

/* as much as the names of all entries that an overlay can hold */
#define NAMES_MAX ((size_t)64 << 20)

void ck_directories_init(struct ck_directories *directories)
{
    *directories = (struct ck_directories){.names.max_bytes = NAMES_MAX};
}

/* Makes room for one more item in a growing array. NULL: no memory, and the array is unchanged. */
static void *grow(void *items, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return items;
    size_t wanted = *capacity == 0 ? 64 : *capacity * 2;
    void *grown = reallocarray(items, wanted, size);
    if (grown)
        *capacity = wanted;
    return grown;
}

bool ck_directories_add(struct ck_directories *directories, const struct ck_overlay_directory *directory, bool urgent)
{
    struct ck_overlay_directory added = *directory;
    /* Room in both arrays first: after a failure nothing is half added. */
    void *stack = grow(directories->urgent, directories->urgent_count, &directories->urgent_capacity,
                       sizeof(*directories->urgent));
    if (!stack)
        return false;
    directories->urgent = stack;
    void *items = grow(directories->items, directories->count, &directories->capacity, sizeof(*directories->items));
    if (!items)
        return false;
    directories->items = items;
    added.name = ck_arena_strdup(&directories->names, directory->name);
    if (!added.name || directories->count >= CK_DIRECTORIES_END)
        return false;
    if (urgent)
        directories->urgent[directories->urgent_count++] = (uint32_t)directories->count;
    directories->items[directories->count++] = added;
    return true;
}

uint32_t ck_directories_next(struct ck_directories *directories, bool finding)
{
    /* The stack first: these may hold files that run later. */
    if (finding && directories->urgent_count > 0) {
        uint32_t number = directories->urgent[--directories->urgent_count];
        directories->items[number].seen = true;
        return number;
    }
    /* urgent ones were already returned in this pass */
    while (finding && directories->next < directories->count && directories->items[directories->next].seen)
        directories->next++;
    if (directories->next < directories->count)
        return (uint32_t)directories->next++;
    directories->next = 0;
    return CK_DIRECTORIES_END;
}

bool ck_directories_path(const struct ck_directories *directories, uint32_t number, char *path, size_t *ret_length)
{
    /*
     * Built from its end, because only the parent of each directory is known; then moved to the
     * front.
     */
    char *end = path + PATH_MAX - 1, *at = end;
    *at = '\0';
    for (; number != 0; number = directories->items[number].parent) {
        const char *name = directories->items[number].name;
        size_t length = strlen(name), slash = at < end ? 1 : 0;
        if (length + slash > (size_t)(at - path))
            return false;
        at -= length + slash;
        memcpy(at, name, length);
        if (slash > 0)
            at[length] = '/';
    }
    *ret_length = (size_t)(end - at);
    memmove(path, at, *ret_length + 1);
    return true;
}

void ck_directories_done(struct ck_directories *directories)
{
    ck_arena_done(&directories->names);
    free(directories->items);
    free(directories->urgent);
    *directories = (struct ck_directories){0};
}
