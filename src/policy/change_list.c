/*
 * change_list.c - the growing list of changes of a diff. See change_list.h.
 *
 * A linked list, because an arena cannot grow an array; ck_change_list_take copies it into one.
 */
#include "policy/change_list.h"

#include <errno.h>
#include <string.h>

/* All memory is in the arena of the diff, and freed with it. */
struct ck_change_link {
    struct choke_change change;
    struct ck_change_link *next;
};

/*
 * The text of before and after is not copied: it belongs to the policies or to the arena. Without
 * memory the list is marked as failed, and the next calls still work.
 */
void ck_change_add(struct ck_policy_changes *changes, enum choke_change_kind kind, const char *field,
                   const char *before, const char *after)
{
    struct ck_change_link *link = ck_arena_alloc(changes->arena, sizeof(*link));
    const char *path = ck_arena_printf(changes->arena, "%s%s", changes->prefix, field);
    if (!link || !path) {
        changes->failed = true;
        return;
    }
    link->change =
        (struct choke_change){.kind = kind, .tool = changes->tool, .field = path, .before = before, .after = after};
    if (changes->last)
        changes->last->next = link;
    else
        changes->first = link;
    changes->last = link;
    changes->count++;
}

int ck_change_list_take(const struct ck_policy_changes *changes, struct choke_change **ret_changes, size_t *ret_count)
{
    struct choke_change *array = ck_arena_array(changes->arena, changes->count + 1, sizeof(*array));
    if (changes->failed || !array)
        return -ENOMEM;
    size_t at = 0;
    for (const struct ck_change_link *link = changes->first; link; link = link->next)
        array[at++] = link->change;
    *ret_changes = array;
    *ret_count = at;
    return 0;
}

/* OTHER is not proven to be narrower, so it counts as wider. */
static enum choke_change_kind kind_of(enum ck_width width)
{
    if (width == CK_WIDTH_SAME)
        return CHOKE_CHANGE_NEUTRAL;
    return width == CK_WIDTH_NARROWER ? CHOKE_CHANGE_NARROWS : CHOKE_CHANGE_WIDENS;
}

/* A change of text with the same width, such as another order of alternatives, is neutral. */
void ck_change_width(struct ck_policy_changes *changes, enum ck_width width, const char *field, const char *before,
                     const char *after)
{
    ck_change_text(changes, field, before, after, kind_of(width));
}

/* NULL is a value that is absent, and equal only to NULL. */
static bool is_same(const char *before, const char *after)
{
    return !before || !after ? before == after : strcmp(before, after) == 0;
}

/* Adds nothing if the two are the same. */
void ck_change_text(struct ck_policy_changes *changes, const char *field, const char *before, const char *after,
                    enum choke_change_kind kind)
{
    if (!is_same(before, after))
        ck_change_add(changes, kind, field, before, after);
}

/* why NULL: the change is proven to narrow. Else it widens, and why says what it could allow. */
void ck_change_add_proof(struct ck_policy_changes *changes, const char *field, const char *before, const char *after,
                         const char *why)
{
    size_t count = changes->count;
    ck_change_add(changes, why ? CHOKE_CHANGE_WIDENS : CHOKE_CHANGE_NARROWS, field, before, after);
    /* The last change is ours only if there was memory for it. */
    if (changes->count > count)
        changes->last->change.why = why;
}

/* The same, but adds nothing if the two are the same. */
void ck_change_proof(struct ck_policy_changes *changes, const char *field, const char *before, const char *after,
                     const char *why)
{
    if (!is_same(before, after))
        ck_change_add_proof(changes, field, before, after, why);
}

bool ck_policy_list_has(const struct ck_list *list, const char *text)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i], text) == 0)
            return true;
    return false;
}

/* In the same order: for arguments the order matters. */
bool ck_policy_list_same(const struct ck_list *a, const struct ck_list *b)
{
    bool same = a->count == b->count;
    for (uint32_t i = 0; same && i < a->count; i++)
        same = strcmp(a->items[i], b->items[i]) == 0;
    return same;
}

/* Removed entries come before added ones: a reader sees what was replaced by what. */
void ck_change_lists(struct ck_policy_changes *changes, const char *field, const struct ck_list *before,
                     const struct ck_list *after, enum choke_change_kind added, enum choke_change_kind removed)
{
    for (uint32_t i = 0; i < before->count; i++)
        if (!ck_policy_list_has(after, before->items[i]))
            ck_change_add(changes, removed, field, before->items[i], NULL);
    for (uint32_t i = 0; i < after->count; i++)
        if (!ck_policy_list_has(before, after->items[i]))
            ck_change_add(changes, added, field, NULL, after->items[i]);
}

/* "a b c", for a reader; a blank in an entry is not escaped. */
const char *ck_change_join(struct ck_policy_changes *changes, const struct ck_list *list)
{
    size_t bytes = 1; /* for the NUL; each entry counts a blank too */
    for (uint32_t i = 0; i < list->count; i++)
        bytes += strlen(list->items[i]) + 1;
    char *text = ck_arena_alloc(changes->arena, bytes);
    if (!text) {
        changes->failed = true;
        return NULL;
    }
    char *at = text;
    for (uint32_t i = 0; i < list->count; i++) {
        size_t length = strlen(list->items[i]);
        if (i > 0)
            *at++ = ' ';
        memcpy(at, list->items[i], length);
        at += length;
    }
    return text;
}

/*
 * For lists in which the order matters: one change with both lists, not one for each entry. An
 * empty list is shown as absent.
 */
void ck_change_whole_list(struct ck_policy_changes *changes, const char *field, const struct ck_list *before,
                          const struct ck_list *after, enum choke_change_kind kind)
{
    if (!ck_policy_list_same(before, after))
        ck_change_add(changes, kind, field, before->count > 0 ? ck_change_join(changes, before) : NULL,
                      after->count > 0 ? ck_change_join(changes, after) : NULL);
}
