/*
 * python_scope.c - see python.h.
 *
 * One walk over the tree in the order of the text. Scopes and branches are intervals of bytes, kept on two stacks;
 * an interval may be put there before the walk reaches it (the body of a function, when its head is seen), so the
 * current one is the topmost that has begun.
 */
#include "lint/python.h"
#include "lint/python_value.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 64
#define CHAIN_MAX 16 /* a = b = c = ... */

/* ---- the grammar ------------------------------------------------------------------------- */

static struct ck_py_symbols symbols;
static struct ck_py_fields fields;
static pthread_once_t looked_up = PTHREAD_ONCE_INIT;

static void look_up(void)
{
    const TSLanguage *language = ck_grammars[CK_GRAMMAR_PYTHON].language();
#define X(name) symbols.name##_ = ts_language_symbol_for_name(language, #name, (uint32_t)strlen(#name), true);
    CK_PY_SYMBOLS(X)
#undef X
#define X(name) fields.name##_ = ts_language_field_id_for_name(language, #name, (uint32_t)strlen(#name));
    CK_PY_FIELDS(X)
#undef X
}

const struct ck_py_symbols *ck_py_symbols(void)
{
    (void)pthread_once(&looked_up, look_up);
    return &symbols;
}

const struct ck_py_fields *ck_py_fields(void)
{
    (void)pthread_once(&looked_up, look_up);
    return &fields;
}

/* ---- the collector ----------------------------------------------------------------------- */

struct branch {
    struct ck_py_range range, loop; /* loop: the outermost in the same scope, empty where there is none */
    uint32_t scope;
};

struct stack {
    uint32_t *scopes;
    uint32_t scopes_count, scopes_room;
    struct branch *branches;
    uint32_t branches_count, branches_room;
};

struct collector {
    struct ck_source *source;
    struct ck_py_file *file;
    const struct ck_py_symbols *is;
    const struct ck_py_fields *has;
    struct stack stack;
    int failed; /* a negative errno; the walk ends with it */
};

/* Room for one more in an array that lives in the arena; what it leaves behind stays there, and is as much again at most. */
static void *grow(struct collector *collector, void *items, uint32_t count, uint32_t *room, size_t size)
{
    if (count < *room)
        return items;
    uint32_t wanted = *room > 0 ? *room * 2 : FIRST_ROOM;
    void *grown = ck_arena_array(collector->source->arena, wanted, size);
    if (grown == NULL) {
        collector->failed = -ENOMEM;
        return NULL;
    }
    if (count > 0)
        memcpy(grown, items, count * size);
    *room = wanted;
    return grown;
}

/* ---- scopes and branches ----------------------------------------------------------------- */

static uint32_t current_scope(struct collector *collector, uint32_t at)
{
    struct stack *stack = &collector->stack;
    const struct ck_py_scope *scopes = collector->file->scopes;
    while (stack->scopes_count > 1 && scopes[stack->scopes[stack->scopes_count - 1]].end <= at)
        stack->scopes_count--;
    uint32_t top = stack->scopes_count - 1;
    while (top > 0 && scopes[stack->scopes[top]].start > at)
        top--;
    return stack->scopes[top];
}

static uint32_t open_scope(struct collector *collector, enum ck_py_scope_kind kind, uint32_t parent, TSNode body)
{
    struct ck_py_file *file = collector->file;
    struct stack *stack = &collector->stack;
    void *scopes = grow(collector, file->scopes, file->scopes_count, &file->scopes_room, sizeof *file->scopes);
    void *open = grow(collector, stack->scopes, stack->scopes_count, &stack->scopes_room, sizeof *stack->scopes);
    if (scopes == NULL || open == NULL)
        return 0;
    file->scopes = scopes;
    stack->scopes = open;
    file->scopes[file->scopes_count] = (struct ck_py_scope){.kind = kind,
                                                            .start = ts_node_start_byte(body),
                                                            .end = ts_node_end_byte(body),
                                                            .parent = parent,
                                                            .first_star = CK_PY_NONE};
    stack->scopes[stack->scopes_count++] = file->scopes_count;
    return file->scopes_count++;
}

/* The innermost branch of the scope around a byte, or NULL. */
static const struct branch *current_branch(struct collector *collector, uint32_t scope, uint32_t at)
{
    struct stack *stack = &collector->stack;
    while (stack->branches_count > 0 && stack->branches[stack->branches_count - 1].range.end <= at)
        stack->branches_count--;
    uint32_t top = stack->branches_count;
    while (top > 0 && stack->branches[top - 1].range.start > at)
        top--;
    return top > 0 && stack->branches[top - 1].scope == scope ? &stack->branches[top - 1] : NULL;
}

static void open_branch(struct collector *collector, TSNode node, TSNode part, bool loops)
{
    struct stack *stack = &collector->stack;
    if (ts_node_is_null(part))
        return;
    uint32_t scope = current_scope(collector, ts_node_start_byte(node));
    const struct branch *around = current_branch(collector, scope, ts_node_start_byte(node));
    struct branch branch = {.range = {ts_node_start_byte(part), ts_node_end_byte(part)}, .scope = scope};
    if (around != NULL && around->loop.end > 0)
        branch.loop = around->loop;
    else if (loops)
        branch.loop = branch.range;
    void *branches =
        grow(collector, stack->branches, stack->branches_count, &stack->branches_room, sizeof *stack->branches);
    if (branches == NULL)
        return;
    stack->branches = branches;
    stack->branches[stack->branches_count++] = branch;
}

/* ---- bindings ---------------------------------------------------------------------------- */

static uint32_t hash_name(uint32_t scope, const char *name, uint32_t length)
{
    uint32_t hash = 2166136261u ^ scope * 2654435761u;
    for (uint32_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)name[i]) * 16777619u;
    return hash;
}

static struct ck_py_slot *find_slot(const struct ck_py_file *file, uint32_t scope, const char *name, uint32_t length)
{
    uint32_t slot = hash_name(scope, name, length) & (file->slots_count - 1);
    for (; file->slots[slot].first != CK_PY_NONE; slot = (slot + 1) & (file->slots_count - 1)) {
        const struct ck_py_binding *binding = &file->bindings[file->slots[slot].first];
        if (binding->scope == scope && binding->length == length && memcmp(binding->name, name, length) == 0)
            break;
    }
    return &file->slots[slot];
}

uint32_t ck_py_find(const struct ck_py_file *file, uint32_t scope, const char *name, uint32_t length)
{
    return find_slot(file, scope, name, length)->first;
}

static void link_binding(struct ck_py_file *file, uint32_t index)
{
    struct ck_py_binding *binding = &file->bindings[index];
    struct ck_py_slot *slot = find_slot(file, binding->scope, binding->name, binding->length);
    binding->next = CK_PY_NONE;
    if (slot->first == CK_PY_NONE)
        slot->first = index;
    else
        file->bindings[slot->last].next = index;
    slot->last = index;
}

/* Keeps the table at most half full: bindings are more than names. */
static bool grow_slots(struct collector *collector)
{
    struct ck_py_file *file = collector->file;
    if (file->slots_count / 2 > file->bindings_count)
        return true;
    uint32_t wanted = file->slots_count > 0 ? file->slots_count * 4 : FIRST_ROOM * 4;
    struct ck_py_slot *slots = ck_arena_array(collector->source->arena, wanted, sizeof *slots);
    if (slots == NULL) {
        collector->failed = -ENOMEM;
        return false;
    }
    memset(slots, 0xff, wanted * sizeof *slots);
    file->slots = slots;
    file->slots_count = wanted;
    for (uint32_t i = 0; i < file->bindings_count; i++)
        link_binding(file, i);
    return true;
}

/* The scope that a name in it is bound in: another one where it is declared global or nonlocal. */
static uint32_t scope_of_target(const struct ck_py_file *file, uint32_t scope, const char *name, uint32_t length)
{
    uint32_t found = ck_py_find(file, scope, name, length);
    if (found == CK_PY_NONE || file->bindings[found].kind < CK_PY_GLOBAL)
        return scope;
    if (file->bindings[found].kind == CK_PY_GLOBAL)
        return 0;
    for (uint32_t at = file->scopes[scope].parent; at != CK_PY_NONE && at != 0; at = file->scopes[at].parent)
        if (file->scopes[at].kind == CK_PY_FUNCTION && ck_py_find(file, at, name, length) != CK_PY_NONE)
            return at;
    return 0;
}

/* binding has kind, and path or value; the rest is filled in here. name is an identifier. */
static void bind(struct collector *collector, uint32_t scope, TSNode name, uint32_t at, struct ck_py_binding binding)
{
    struct ck_py_file *file = collector->file;
    if (!grow_slots(collector))
        return;
    void *bindings =
        grow(collector, file->bindings, file->bindings_count, &file->bindings_room, sizeof *file->bindings);
    if (bindings == NULL)
        return;
    file->bindings = bindings;
    binding.name = ck_py_identifier(collector->source, name);
    if (binding.name == NULL) {
        collector->failed = -ENOMEM;
        return;
    }
    binding.length = (uint32_t)strlen(binding.name);
    binding.scope = binding.kind < CK_PY_GLOBAL ? scope_of_target(file, scope, binding.name, binding.length) : scope;
    binding.at = at;
    const struct branch *branch = current_branch(collector, scope, ts_node_start_byte(name));
    binding.branch = (struct ck_py_range){file->scopes[scope].start, file->scopes[scope].end};
    if (branch != NULL) {
        binding.branch = branch->range;
        binding.loop = branch->loop;
    }
    file->bindings[file->bindings_count] = binding;
    link_binding(file, file->bindings_count++);
}

static void bind_unknown(struct collector *collector, uint32_t scope, TSNode name)
{
    bind(collector, scope, name, ts_node_end_byte(name), (struct ck_py_binding){.kind = CK_PY_UNKNOWN});
}

/* ---- targets ----------------------------------------------------------------------------- */

/* Is it something whose parts are targets too? An attribute or subscript binds no name. */
static bool is_pattern(const struct collector *collector, TSNode node)
{
    const struct ck_py_symbols *is = collector->is;
    TSSymbol symbol = ts_node_symbol(node);
    return symbol == is->pattern_list_ || symbol == is->tuple_pattern_ || symbol == is->list_pattern_ ||
           symbol == is->list_splat_pattern_ || symbol == is->tuple_ || symbol == is->list_ ||
           symbol == is->as_pattern_target_ || symbol == is->parenthesized_expression_ || symbol == is->list_splat_ ||
           symbol == is->dictionary_splat_pattern_ || symbol == is->expression_list_ || symbol == is->splat_pattern_;
}

/* Moves on in the order of the text, below the node it began with; into: enters the children of the current one. */
static bool step(TSTreeCursor *cursor, bool into, uint32_t *depth)
{
    if (into && ts_tree_cursor_goto_first_child(cursor)) {
        ++*depth;
        return true;
    }
    while (*depth > 0) {
        if (ts_tree_cursor_goto_next_sibling(cursor))
            return true;
        (void)ts_tree_cursor_goto_parent(cursor);
        --*depth;
    }
    return false;
}

/* Every name in a target, however nested, becomes unknown. */
static void bind_targets(struct collector *collector, uint32_t scope, TSNode target)
{
    if (ts_node_is_null(target))
        return;
    TSTreeCursor cursor = ts_tree_cursor_new(target);
    uint32_t depth = 0;
    bool into;
    do {
        TSNode node = ts_tree_cursor_current_node(&cursor);
        into = is_pattern(collector, node);
        if (ts_node_symbol(node) == collector->is->identifier_)
            bind_unknown(collector, scope, node);
    } while (step(&cursor, into, &depth) && collector->failed == 0);
    ts_tree_cursor_delete(&cursor);
}

static bool next_named(TSTreeCursor *cursor, bool first)
{
    bool more = first ? ts_tree_cursor_goto_first_child(cursor) : ts_tree_cursor_goto_next_sibling(cursor);
    while (more && !ts_node_is_named(ts_tree_cursor_current_node(cursor)))
        more = ts_tree_cursor_goto_next_sibling(cursor);
    return more;
}

static void bind_value(struct collector *collector, uint32_t scope, TSNode target, TSNode value, uint32_t at)
{
    if (!ts_node_is_null(target) && !ts_node_is_null(value) && ts_node_symbol(target) == collector->is->identifier_)
        bind(collector, scope, target, at, (struct ck_py_binding){.kind = CK_PY_VALUE, .value = value});
    else
        bind_targets(collector, scope, target);
}

/* a, b = x, y: one by one, as long as nothing is starred. */
static void bind_lists(struct collector *collector, uint32_t scope, TSNode target, TSNode value, uint32_t at)
{
    TSTreeCursor left = ts_tree_cursor_new(target);
    TSTreeCursor right = ts_tree_cursor_new(value);
    bool more_left = next_named(&left, true), more_right = next_named(&right, true);
    while (more_left && more_right) {
        TSNode one = ts_tree_cursor_current_node(&left);
        TSNode other = ts_tree_cursor_current_node(&right);
        if (ts_node_symbol(one) == collector->is->list_splat_pattern_ ||
            ts_node_symbol(other) == collector->is->list_splat_)
            break;
        bind_value(collector, scope, one, other, at);
        more_left = next_named(&left, false);
        more_right = next_named(&right, false);
    }
    for (; more_left; more_left = next_named(&left, false))
        bind_targets(collector, scope, ts_tree_cursor_current_node(&left));
    ts_tree_cursor_delete(&left);
    ts_tree_cursor_delete(&right);
}

static bool is_list(const struct collector *collector, TSNode node)
{
    TSSymbol symbol = ts_node_symbol(node);
    return symbol == collector->is->expression_list_ || symbol == collector->is->tuple_ ||
           symbol == collector->is->list_;
}

/* ---- statements -------------------------------------------------------------------------- */

static TSNode field(TSNode node, TSFieldId id)
{
    return ts_node_child_by_field_id(node, id);
}

static void see_assignment(struct collector *collector, uint32_t scope, TSNode node)
{
    TSNode target = field(node, collector->has->left_);
    TSNode value = field(node, collector->has->right_);
    for (int i = 0; i < CHAIN_MAX && !ts_node_is_null(value) && ts_node_symbol(value) == collector->is->assignment_;
         i++)
        value = field(value, collector->has->right_);
    if (ts_node_is_null(target) || ts_node_is_null(value))
        return;
    if (ts_node_symbol(node) == collector->is->augmented_assignment_)
        bind_targets(collector, scope, target);
    else if (is_pattern(collector, target) && is_list(collector, value))
        bind_lists(collector, scope, target, value, ts_node_end_byte(node));
    else
        bind_value(collector, scope, target, value, ts_node_end_byte(node));
}

/* a.b.c as text without the spaces that may stand around the dots. */
static const char *dotted_path(struct collector *collector, TSNode node)
{
    char *path = ck_arena_memdup(collector->source->arena, collector->source->text + ts_node_start_byte(node),
                                 ts_node_end_byte(node) - ts_node_start_byte(node));
    char *to = path;
    for (char *from = path; path != NULL && *from != '\0'; from++)
        if (strchr(" \t\r\n\\", *from) == NULL)
            *to++ = *from;
    if (path == NULL) {
        collector->failed = -ENOMEM;
        return NULL;
    }
    return ck_py_name(collector->source, path, (uint32_t)(to - path));
}

static void bind_import(struct collector *collector, uint32_t scope, TSNode name, const char *path)
{
    if (path == NULL)
        bind_unknown(collector, scope, name);
    else
        bind(collector, scope, name, ts_node_end_byte(name),
             (struct ck_py_binding){.kind = CK_PY_IMPORT, .path = path});
}

/* import a.b binds a; import a.b as c binds c to a.b. */
static void import_one(struct collector *collector, uint32_t scope, TSNode node)
{
    if (ts_node_symbol(node) == collector->is->aliased_import_) {
        TSNode alias = field(node, collector->has->alias_);
        TSNode name = field(node, collector->has->name_);
        if (!ts_node_is_null(alias) && !ts_node_is_null(name))
            bind_import(collector, scope, alias, dotted_path(collector, name));
    } else if (ts_node_symbol(node) == collector->is->dotted_name_) {
        TSNode first = ts_node_named_child(node, 0);
        if (!ts_node_is_null(first))
            bind_import(collector, scope, first, ck_py_identifier(collector->source, first));
    }
}

static void import_from(struct collector *collector, uint32_t scope, TSNode node, const char *module)
{
    TSNode name = node;
    TSNode target = node;
    if (ts_node_symbol(node) == collector->is->aliased_import_) {
        name = field(node, collector->has->name_);
        target = field(node, collector->has->alias_);
    }
    if (ts_node_is_null(name) || ts_node_is_null(target))
        return;
    const char *path = NULL;
    if (module != NULL)
        path = ck_name_join(collector->source, module, dotted_path(collector, name));
    if (ts_node_symbol(target) == collector->is->dotted_name_)
        target = ts_node_named_child(target, 0);
    if (!ts_node_is_null(target))
        bind_import(collector, scope, target, path);
}

static void import_star(struct collector *collector, uint32_t scope, const char *module)
{
    struct ck_py_file *file = collector->file;
    void *stars = grow(collector, file->stars, file->stars_count, &file->stars_room, sizeof *file->stars);
    if (stars == NULL || module == NULL)
        return;
    file->stars = stars;
    file->stars[file->stars_count] = (struct ck_py_star){module, file->scopes[scope].first_star};
    file->scopes[scope].first_star = file->stars_count++;
}

static void see_import(struct collector *collector, uint32_t scope, TSNode node)
{
    bool from = ts_node_symbol(node) == collector->is->import_from_statement_;
    TSNode module = from ? field(node, collector->has->module_name_) : (TSNode){0};
    const char *path = NULL; /* a module of the same package is not known */
    if (from && !ts_node_is_null(module) && ts_node_symbol(module) == collector->is->dotted_name_)
        path = dotted_path(collector, module);
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    for (bool more = next_named(&cursor, true); more; more = next_named(&cursor, false)) {
        TSNode one = ts_tree_cursor_current_node(&cursor);
        if (from && ts_tree_cursor_current_field_id(&cursor) == collector->has->module_name_)
            continue;
        if (ts_node_symbol(one) == collector->is->wildcard_import_)
            import_star(collector, scope, path);
        else if (from)
            import_from(collector, scope, one, path);
        else
            import_one(collector, scope, one);
    }
    ts_tree_cursor_delete(&cursor);
}

static void declare(struct collector *collector, uint32_t scope, TSNode node)
{
    bool global = ts_node_symbol(node) == collector->is->global_statement_;
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    for (bool more = next_named(&cursor, true); more; more = next_named(&cursor, false)) {
        TSNode name = ts_tree_cursor_current_node(&cursor);
        if (ts_node_symbol(name) == collector->is->identifier_ && scope != 0)
            bind(collector, scope, name, ts_node_end_byte(name),
                 (struct ck_py_binding){.kind = global ? CK_PY_GLOBAL : CK_PY_NONLOCAL});
    }
    ts_tree_cursor_delete(&cursor);
}

/* ---- what opens a scope ------------------------------------------------------------------ */

static void bind_parameter(struct collector *collector, uint32_t scope, TSNode node)
{
    const struct ck_py_symbols *is = collector->is;
    TSSymbol symbol = ts_node_symbol(node);
    if (symbol == is->default_parameter_ || symbol == is->typed_default_parameter_)
        node = field(node, collector->has->name_);
    else if (symbol == is->typed_parameter_)
        node = ts_node_named_child(node, 0);
    if (!ts_node_is_null(node))
        bind_targets(collector, scope, node);
}

static void see_function(struct collector *collector, uint32_t around, TSNode node)
{
    TSNode name = field(node, collector->has->name_);
    TSNode parameters = field(node, collector->has->parameters_);
    TSNode body = field(node, collector->has->body_);
    if (!ts_node_is_null(name))
        bind_unknown(collector, around, name);
    if (ts_node_is_null(body))
        return;
    uint32_t scope = open_scope(collector, CK_PY_FUNCTION, around, body);
    if (ts_node_is_null(parameters) || collector->failed < 0)
        return;
    TSTreeCursor cursor = ts_tree_cursor_new(parameters);
    for (bool more = next_named(&cursor, true); more; more = next_named(&cursor, false))
        bind_parameter(collector, scope, ts_tree_cursor_current_node(&cursor));
    ts_tree_cursor_delete(&cursor);
}

static void see_class(struct collector *collector, uint32_t around, TSNode node)
{
    TSNode name = field(node, collector->has->name_);
    TSNode body = field(node, collector->has->body_);
    if (!ts_node_is_null(name))
        bind_unknown(collector, around, name);
    if (!ts_node_is_null(body))
        (void)open_scope(collector, CK_PY_CLASS, around, body);
}

/* case x: a name alone is bound; a.b and A(...) are looked up. */
static void see_case_pattern(struct collector *collector, uint32_t scope, TSNode node)
{
    TSNode part = ts_node_named_child(node, 0);
    if (ts_node_is_null(part))
        return;
    if (ts_node_symbol(part) == collector->is->dotted_name_ && ts_node_named_child_count(part) == 1)
        bind_unknown(collector, scope, ts_node_named_child(part, 0));
    else if (ts_node_symbol(part) == collector->is->as_pattern_)
        bind_targets(collector, scope, ts_node_named_child(part, ts_node_named_child_count(part) - 1));
    else if (ts_node_symbol(part) == collector->is->splat_pattern_)
        bind_targets(collector, scope, part);
}

/* ---- the walk ---------------------------------------------------------------------------- */

static void see_branches(struct collector *collector, TSNode node)
{
    const struct ck_py_symbols *is = collector->is;
    TSSymbol symbol = ts_node_symbol(node);
    if (symbol == is->if_statement_)
        open_branch(collector, node, field(node, collector->has->consequence_), false);
    else if (symbol == is->try_statement_)
        open_branch(collector, node, field(node, collector->has->body_), false);
    else if (symbol == is->for_statement_ || symbol == is->while_statement_)
        open_branch(collector, node, node, true);
    else if (symbol == is->elif_clause_ || symbol == is->else_clause_ || symbol == is->except_clause_ ||
             symbol == is->except_group_clause_ || symbol == is->case_clause_ ||
             symbol == is->conditional_expression_ || symbol == is->boolean_operator_)
        open_branch(collector, node, node, false);
}

static bool see_scopes(struct collector *collector, uint32_t scope, TSNode node)
{
    const struct ck_py_symbols *is = collector->is;
    TSSymbol symbol = ts_node_symbol(node);
    if (symbol == is->function_definition_ || symbol == is->lambda_)
        see_function(collector, scope, node);
    else if (symbol == is->class_definition_)
        see_class(collector, scope, node);
    else if (symbol == is->list_comprehension_ || symbol == is->set_comprehension_ ||
             symbol == is->dictionary_comprehension_ || symbol == is->generator_expression_)
        (void)open_scope(collector, CK_PY_FUNCTION, scope, node);
    else
        return false;
    return true;
}

/* A comprehension's := binds in the scope around it; it is seen as bound in the comprehension, which is less, not more. */
static void see_bindings(struct collector *collector, uint32_t scope, TSNode node)
{
    const struct ck_py_symbols *is = collector->is;
    TSSymbol symbol = ts_node_symbol(node);
    if (symbol == is->assignment_ || symbol == is->augmented_assignment_)
        see_assignment(collector, scope, node);
    else if (symbol == is->import_statement_ || symbol == is->import_from_statement_)
        see_import(collector, scope, node);
    else if (symbol == is->for_statement_ || symbol == is->for_in_clause_)
        bind_targets(collector, scope, field(node, collector->has->left_));
    else if (symbol == is->as_pattern_target_ || symbol == is->delete_statement_)
        bind_targets(collector, scope, ts_node_named_child(node, 0));
    else if (symbol == is->named_expression_)
        bind_value(collector, scope, field(node, collector->has->name_), field(node, collector->has->value_),
                   ts_node_end_byte(node));
    else if (symbol == is->global_statement_ || symbol == is->nonlocal_statement_)
        declare(collector, scope, node);
    else if (symbol == is->case_pattern_)
        see_case_pattern(collector, scope, node);
}

/* Nothing is bound in a string without a field, nor in a name with dots; they are a good part of a tree. */
static bool is_inert(const struct collector *collector, TSNode node)
{
    const struct ck_py_symbols *is = collector->is;
    TSSymbol symbol = ts_node_symbol(node);
    if (symbol == is->identifier_ || symbol == is->comment_ || symbol == is->dotted_name_ || !ts_node_is_named(node))
        return true;
    if (symbol == is->string_)
        return ts_node_child_count(node) <= 3;
    return symbol == is->attribute_ && ts_node_symbol(ts_node_child(node, 0)) == is->identifier_;
}

static void see(struct collector *collector, TSNode node)
{
    see_branches(collector, node);
    uint32_t scope = current_scope(collector, ts_node_start_byte(node));
    if (!see_scopes(collector, scope, node))
        see_bindings(collector, scope, node);
}

static int compare_starts(const void *left, const void *right, void *context)
{
    const struct ck_py_scope *scopes = context;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    if (scopes[a].start != scopes[b].start)
        return scopes[a].start < scopes[b].start ? -1 : 1;
    return (a > b) - (a < b); /* the one around was opened first */
}

static int sort_scopes(struct ck_source *source, struct ck_py_file *file)
{
    file->by_start = ck_arena_array(source->arena, file->scopes_count, sizeof *file->by_start);
    if (file->by_start == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < file->scopes_count; i++)
        file->by_start[i] = i;
    qsort_r(file->by_start, file->scopes_count, sizeof *file->by_start, compare_starts, file->scopes);
    return 0;
}

uint32_t ck_py_scope_at(const struct ck_py_file *file, uint32_t byte)
{
    uint32_t low = 0;
    for (uint32_t high = file->scopes_count; low < high;) {
        uint32_t middle = low + (high - low) / 2;
        if (file->scopes[file->by_start[middle]].start <= byte)
            low = middle + 1;
        else
            high = middle;
    }
    uint32_t scope = low > 0 ? file->by_start[low - 1] : 0;
    while (scope != 0 && file->scopes[scope].end <= byte)
        scope = file->scopes[scope].parent;
    return scope;
}

int ck_py_collect(struct ck_source *source, struct ck_py_file **ret_file)
{
    struct collector collector = {.source = source, .is = ck_py_symbols(), .has = ck_py_fields()};
    collector.file = ck_arena_alloc(source->arena, sizeof *collector.file);
    if (collector.file == NULL)
        return -ENOMEM;
    (void)open_scope(&collector, CK_PY_MODULE, CK_PY_NONE, source->root);
    if (collector.failed < 0 || !grow_slots(&collector))
        return -ENOMEM;
    collector.file->scopes[0].start = 0;
    collector.file->scopes[0].end = UINT32_MAX;
    TSTreeCursor cursor = ts_tree_cursor_new(source->root);
    uint32_t depth = 0;
    bool inert;
    do {
        TSNode node = ts_tree_cursor_current_node(&cursor);
        inert = is_inert(&collector, node);
        if (!inert)
            see(&collector, node);
    } while (step(&cursor, !inert, &depth) && collector.failed == 0);
    ts_tree_cursor_delete(&cursor);
    if (collector.failed == 0)
        collector.failed = sort_scopes(source, collector.file);
    *ret_file = collector.file;
    return collector.failed;
}
