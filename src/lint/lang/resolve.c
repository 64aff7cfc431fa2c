/* resolve.c - functions that all resolvers share. See resolve.h. */
#include "lint/lang/resolve.h"

#include <string.h>

/* A linear search is enough for CK_LINT_NAMES_MAX entries. */
void ck_lint_names_add(struct ck_lint_names *names, const char *name)
{
    /* Callers pass what the arena returned: NULL when memory ran out. The name is left out then. */
    if (!name)
        return;
    for (uint32_t i = 0; i < names->count; i++)
        if (strcmp(names->items[i], name) == 0)
            return;
    if (names->count < CK_LINT_NAMES_MAX)
        names->items[names->count++] = name;
    else
        /* A full set must say that it is incomplete: a rule must not take it for all names. */
        names->open = true;
}

const char *ck_lint_source_text(struct ck_lint_source *source, TSNode node)
{
    uint32_t start = ts_node_start_byte(node);
    return ck_arena_memdup(source->arena, source->text + start, ts_node_end_byte(node) - start);
}

/* Compares in place: the text of the source has no NUL after the node. */
bool ck_lint_source_is(const struct ck_lint_source *source, TSNode node, const char *text)
{
    uint32_t start = ts_node_start_byte(node);
    size_t length = ts_node_end_byte(node) - start;
    return length == strlen(text) && memcmp(source->text + start, text, length) == 0;
}

/* A null node is of no type; ts_node_type must not be called on it. */
bool ck_lint_node_is(TSNode node, const char *type)
{
    return !ts_node_is_null(node) && strcmp(ts_node_type(node), type) == 0;
}

const char *ck_lint_name_qualify(struct ck_lint_source *source, const char *left, const char *right)
{
    return ck_arena_printf(source->arena, "%s.%s", left, right);
}
