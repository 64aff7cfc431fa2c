/*
 * python_scope.c - the tables of python.h: scopes, branches and bindings.
 *
 * Scopes and branches are ranges of bytes, on two stacks during the walk over the tree. A range may
 * be pushed before the walk reaches it (the body of a function, when its head is visited), so the
 * current one is the topmost that has begun.
 */
#include "lint/lang/python_collect.h"
#include "lint/lang/python_value.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 64 /* items of an array when it is first needed */

/*
 * Makes room for one more item. The old array stays in the arena; as the size doubles, the waste is
 * at most the size of the new array.
 */
void *ck_python_grow(struct ck_python_collector *collector, void *items, uint32_t count, uint32_t *room, size_t size)
{
    if (count < *room)
        return items;
    uint32_t wanted = *room > 0 ? *room * 2 : FIRST_ROOM;
    void *grown = ck_arena_array(collector->source->arena, wanted, size);
    if (!grown) {
        collector->failed = -ENOMEM;
        return NULL;
    }
    if (count > 0)
        memcpy(grown, items, count * size);
    *room = wanted;
    return grown;
}

/* ---- scopes and branches ----------------------------------------------------------------- */

/* Removes the scopes that have ended. The module (index 0 of the stack) is never removed. */
uint32_t ck_python_current_scope(struct ck_python_collector *collector, uint32_t at)
{
    struct ck_python_stack *stack = &collector->stack;
    const struct ck_python_scope *scopes = collector->file->scopes;
    while (stack->scopes_count > 1 && scopes[stack->scopes[stack->scopes_count - 1]].end <= at)
        stack->scopes_count--;
    /* Scopes that were pushed but have not begun stay on the stack, and are passed over. */
    uint32_t top = stack->scopes_count - 1;
    while (top > 0 && scopes[stack->scopes[top]].start > at)
        top--;
    return stack->scopes[top];
}

uint32_t ck_python_open_scope(struct ck_python_collector *collector, enum ck_python_scope_kind kind, uint32_t parent,
                              TSNode body)
{
    struct ck_python_file *file = collector->file;
    struct ck_python_stack *stack = &collector->stack;
    void *scopes =
        ck_python_grow(collector, file->scopes, file->scopes_count, &file->scopes_room, sizeof(*file->scopes));
    if (!scopes)
        return 0;
    file->scopes = scopes;
    void *open =
        ck_python_grow(collector, stack->scopes, stack->scopes_count, &stack->scopes_room, sizeof(*stack->scopes));
    if (!open)
        return 0;
    stack->scopes = open;
    file->scopes[file->scopes_count] = (struct ck_python_scope){.kind = kind,
                                                                .start = ts_node_start_byte(body),
                                                                .end = ts_node_end_byte(body),
                                                                .parent = parent,
                                                                .first_star = CK_PYTHON_NONE};
    stack->scopes[stack->scopes_count++] = file->scopes_count;
    return file->scopes_count++;
}

/* The innermost branch around a byte in the scope, or NULL. */
static const struct ck_python_branch *current_branch(struct ck_python_collector *collector, uint32_t scope, uint32_t at)
{
    struct ck_python_stack *stack = &collector->stack;
    while (stack->branches_count > 0 && stack->branches[stack->branches_count - 1].range.end <= at)
        stack->branches_count--;
    /* Passes over branches that were pushed but have not begun. */
    uint32_t top = stack->branches_count;
    while (top > 0 && stack->branches[top - 1].range.start > at)
        top--;
    /*
     * A branch around a function does not count inside it: once the function runs, its statements
     * run.
     */
    return top > 0 && stack->branches[top - 1].scope == scope ? &stack->branches[top - 1] : NULL;
}

void ck_python_open_branch(struct ck_python_collector *collector, TSNode node, TSNode part, bool loops)
{
    struct ck_python_stack *stack = &collector->stack;
    if (ts_node_is_null(part))
        return;
    uint32_t scope = ck_python_current_scope(collector, ts_node_start_byte(node));
    const struct ck_python_branch *around = current_branch(collector, scope, ts_node_start_byte(node));
    struct ck_python_branch branch = {.range = {ts_node_start_byte(part), ts_node_end_byte(part)}, .scope = scope};
    /* The outermost loop of the scope counts: a binding in it may reach every use in it. */
    if (around && around->loop.end > 0)
        branch.loop = around->loop;
    else if (loops)
        branch.loop = branch.range;
    void *branches = ck_python_grow(collector, stack->branches, stack->branches_count, &stack->branches_room,
                                    sizeof(*stack->branches));
    if (!branches)
        return;
    stack->branches = branches;
    stack->branches[stack->branches_count++] = branch;
}

/* ---- bindings ---------------------------------------------------------------------------- */

/*
 * FNV-1a over the name. The scope is multiplied by a large odd number first, so that the same name
 * in neighbouring scopes is far apart.
 */
static uint32_t hash_name(uint32_t scope, const char *name, uint32_t length)
{
    uint32_t hash = 2166136261u ^ scope * 2654435761u;
    for (uint32_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)name[i]) * 16777619u;
    return hash;
}

/*
 * Open addressing: the slot of the name, or the empty one where it belongs. It ends because the
 * table is never full.
 */
static struct ck_python_slot *find_slot(const struct ck_python_file *file, uint32_t scope, const char *name,
                                        uint32_t length)
{
    uint32_t slot = hash_name(scope, name, length) & (file->slots_count - 1);
    for (; file->slots[slot].first != CK_PYTHON_NONE; slot = (slot + 1) & (file->slots_count - 1)) {
        const struct ck_python_binding *binding = &file->bindings[file->slots[slot].first];
        if (binding->scope == scope && binding->length == length && memcmp(binding->name, name, length) == 0)
            break;
    }
    return &file->slots[slot];
}

uint32_t ck_python_find(const struct ck_python_file *file, uint32_t scope, const char *name, uint32_t length)
{
    return find_slot(file, scope, name, length)->first;
}

/* Appends to the bindings of the name, so they stay in the order of the text. */
static void link_binding(struct ck_python_file *file, uint32_t index)
{
    struct ck_python_binding *binding = &file->bindings[index];
    struct ck_python_slot *slot = find_slot(file, binding->scope, binding->name, binding->length);
    binding->next = CK_PYTHON_NONE;
    if (slot->first == CK_PYTHON_NONE)
        slot->first = index;
    else
        file->bindings[slot->last].next = index;
    slot->last = index;
}

/*
 * Sized by the bindings, which are at least as many as the names, so that the table is at most half
 * full.
 */
bool ck_python_grow_slots(struct ck_python_collector *collector)
{
    struct ck_python_file *file = collector->file;
    if (file->slots_count / 2 > file->bindings_count)
        return true;
    uint32_t wanted = file->slots_count > 0 ? file->slots_count * 4 : FIRST_ROOM * 4;
    struct ck_python_slot *slots = ck_arena_array(collector->source->arena, wanted, sizeof(*slots));
    if (!slots) {
        collector->failed = -ENOMEM;
        return false;
    }
    /* All bits set is CK_PYTHON_NONE: every slot is empty. */
    memset(slots, 0xff, wanted * sizeof(*slots));
    file->slots = slots;
    file->slots_count = wanted;
    /* All names get new places. The old table stays in the arena. */
    for (uint32_t i = 0; i < file->bindings_count; i++)
        link_binding(file, i);
    return true;
}

/* The scope in which a name is bound: another one if it is declared global or nonlocal. */
static uint32_t scope_of_target(const struct ck_python_file *file, uint32_t scope, const char *name, uint32_t length)
{
    uint32_t found = ck_python_find(file, scope, name, length);
    /*
     * A declaration must come before every use in its scope, so only the first binding can be one.
     * The comparison relies on the order of the enum.
     */
    if (found == CK_PYTHON_NONE || file->bindings[found].kind < CK_PYTHON_GLOBAL)
        return scope;
    if (file->bindings[found].kind == CK_PYTHON_GLOBAL)
        return 0;
    /*
     * nonlocal: the nearest outer function that has bound the name so far. One that binds it
     * further down in the text is not found, and the name counts as the module's.
     */
    for (uint32_t at = file->scopes[scope].parent; at != CK_PYTHON_NONE && at != 0; at = file->scopes[at].parent)
        if (file->scopes[at].kind == CK_PYTHON_FUNCTION && ck_python_find(file, at, name, length) != CK_PYTHON_NONE)
            return at;
    return 0;
}

void ck_python_bind(struct ck_python_collector *collector, uint32_t scope, TSNode name, uint32_t at,
                    struct ck_python_binding binding)
{
    struct ck_python_file *file = collector->file;
    if (!ck_python_grow_slots(collector))
        return;
    void *bindings =
        ck_python_grow(collector, file->bindings, file->bindings_count, &file->bindings_room, sizeof(*file->bindings));
    if (!bindings)
        return;
    file->bindings = bindings;
    binding.name = ck_python_identifier(collector->source, name);
    if (!binding.name) {
        collector->failed = -ENOMEM;
        return;
    }
    binding.length = (uint32_t)strlen(binding.name);
    /* A declaration itself belongs to the scope in which it is written. */
    binding.scope =
        binding.kind < CK_PYTHON_GLOBAL ? scope_of_target(file, scope, binding.name, binding.length) : scope;
    binding.at = at;
    const struct ck_python_branch *branch = current_branch(collector, scope, ts_node_start_byte(name));
    /*
     * Outside of every branch the range is the whole scope: find_candidates compares it with that.
     */
    binding.branch = (struct ck_python_range){file->scopes[scope].start, file->scopes[scope].end};
    if (branch) {
        binding.branch = branch->range;
        binding.loop = branch->loop;
    }
    file->bindings[file->bindings_count] = binding;
    link_binding(file, file->bindings_count++);
}

void ck_python_bind_unknown(struct ck_python_collector *collector, uint32_t scope, TSNode name)
{
    ck_python_bind(collector, scope, name, ts_node_end_byte(name),
                   (struct ck_python_binding){.kind = CK_PYTHON_UNKNOWN});
}

/* ---- looking up --------------------------------------------------------------------------- */

/* For qsort_r: by the first byte. */
static int compare_starts(const void *left, const void *right, void *context)
{
    const struct ck_python_scope *scopes = context;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    if (scopes[a].start != scopes[b].start)
        return scopes[a].start < scopes[b].start ? -1 : 1;
    return (a > b) - (a < b); /* equal starts: the outer scope was opened first */
}

/*
 * Scopes are opened in the order of their heads, not of their bodies: a lambda in a default value
 * is opened after its function, but is before the body in the text.
 */
int ck_python_sort_scopes(struct ck_lint_source *source, struct ck_python_file *file)
{
    file->by_start = ck_arena_array(source->arena, file->scopes_count, sizeof(*file->by_start));
    if (!file->by_start)
        return -ENOMEM;
    for (uint32_t i = 0; i < file->scopes_count; i++)
        file->by_start[i] = i;
    qsort_r(file->by_start, file->scopes_count, sizeof(*file->by_start), compare_starts, file->scopes);
    return 0;
}

uint32_t ck_python_scope_at(const struct ck_python_file *file, uint32_t byte)
{
    uint32_t low = 0;
    for (uint32_t high = file->scopes_count; low < high;) {
        uint32_t middle = low + (high - low) / 2;
        if (file->scopes[file->by_start[middle]].start <= byte)
            low = middle + 1;
        else
            high = middle;
    }
    /*
     * The last scope that begins at or before the byte, then outwards past those that have ended.
     */
    uint32_t scope = low > 0 ? file->by_start[low - 1] : 0;
    while (scope != 0 && file->scopes[scope].end <= byte)
        scope = file->scopes[scope].parent;
    return scope;
}
