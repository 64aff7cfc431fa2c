/* resolve.c - functions that all resolvers share. See resolve.h. */
#include "lint/lang/resolve.h"

#include <string.h>

void ck_lint_names_add(struct ck_lint_names *names, const char *name)
{
    if (!name)
        return;
    for (uint32_t i = 0; i < names->count; i++)
        if (strcmp(names->items[i], name) == 0)
            return;
    if (names->count < CK_LINT_NAMES_MAX)
        names->items[names->count++] = name;
    else
        names->open = true;
}

const char *ck_lint_source_text(struct ck_lint_source *source, TSNode node)
{
    uint32_t start = ts_node_start_byte(node);
    return ck_arena_memdup(source->arena, source->text + start, ts_node_end_byte(node) - start);
}

bool ck_lint_source_is(const struct ck_lint_source *source, TSNode node, const char *text)
{
    uint32_t start = ts_node_start_byte(node);
    size_t length = ts_node_end_byte(node) - start;
    return length == strlen(text) && memcmp(source->text + start, text, length) == 0;
}

bool ck_lint_node_is(TSNode node, const char *type)
{
    return !ts_node_is_null(node) && strcmp(ts_node_type(node), type) == 0;
}

const char *ck_lint_name_qualify(struct ck_lint_source *source, const char *left, const char *right)
{
    return ck_arena_printf(source->arena, "%s.%s", left, right);
}
