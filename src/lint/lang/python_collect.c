/*
 * python_collect.c - one walk over the tree, in the order of the text, that records what is bound
 * where. See python.h.
 */
#include "lint/lang/python_collect.h"
#include "lint/lang/python_value.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#define CHAIN_MAX 16 /* a = b = c = ... */

/* ---- the grammar ------------------------------------------------------------------------- */

/* Written once by look_up, under pthread_once, because threads scan files at the same time. */
static struct ck_python_symbols symbols;
static struct ck_python_fields fields;
static pthread_once_t looked_up = PTHREAD_ONCE_INIT;

/* Comparing numbers is much faster than comparing the names of types for each node. */
static void look_up(void)
{
    const TSLanguage *language = ck_grammars[CK_GRAMMAR_PYTHON].language();
#define X(name) symbols.name##_ = ts_language_symbol_for_name(language, #name, (uint32_t)strlen(#name), true);
    CK_PYTHON_SYMBOLS(X)
#undef X
#define X(name) fields.name##_ = ts_language_field_id_for_name(language, #name, (uint32_t)strlen(#name));
    CK_PYTHON_FIELDS(X)
#undef X
}

const struct ck_python_symbols *ck_python_symbols(void)
{
    (void)pthread_once(&looked_up, look_up);
    return &symbols;
}

const struct ck_python_fields *ck_python_fields(void)
{
    (void)pthread_once(&looked_up, look_up);
    return &fields;
}

/* ---- targets ----------------------------------------------------------------------------- */

/* Does the target contain other targets? An attribute or a subscript binds no name. */
static bool is_pattern(const struct ck_python_collector *collector, TSNode node)
{
    const struct ck_python_symbols *is = collector->is;
    TSSymbol symbol = ts_node_symbol(node);
    return symbol == is->pattern_list_ || symbol == is->tuple_pattern_ || symbol == is->list_pattern_ ||
           symbol == is->list_splat_pattern_ || symbol == is->tuple_ || symbol == is->list_ ||
           symbol == is->as_pattern_target_ || symbol == is->parenthesized_expression_ || symbol == is->list_splat_ ||
           symbol == is->dictionary_splat_pattern_ || symbol == is->expression_list_ || symbol == is->splat_pattern_;
}

/*
 * Advances in the order of the text, below the node where it began. into: visit the children of the
 * current node too.
 */
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
static void bind_targets(struct ck_python_collector *collector, uint32_t scope, TSNode target)
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
            ck_python_bind_unknown(collector, scope, node);
    } while (step(&cursor, into, &depth) && collector->failed == 0);
    ts_tree_cursor_delete(&cursor);
}

/* Moves to the first child or the next sibling that is named. Skips commas and keywords. */
static bool next_named(TSTreeCursor *cursor, bool first)
{
    bool more = first ? ts_tree_cursor_goto_first_child(cursor) : ts_tree_cursor_goto_next_sibling(cursor);
    while (more && !ts_node_is_named(ts_tree_cursor_current_node(cursor)))
        more = ts_tree_cursor_goto_next_sibling(cursor);
    return more;
}

/* Binds a plain name to a value. In any other target, all names become unknown. */
static void bind_value(struct ck_python_collector *collector, uint32_t scope, TSNode target, TSNode value, uint32_t at)
{
    if (!ts_node_is_null(target) && !ts_node_is_null(value) && ts_node_symbol(target) == collector->is->identifier_)
        ck_python_bind(collector, scope, target, at,
                       (struct ck_python_binding){.kind = CK_PYTHON_VALUE, .value = value});
    else
        bind_targets(collector, scope, target);
}

/* a, b = x, y: bound one by one, unless something is starred. */
static void bind_lists(struct ck_python_collector *collector, uint32_t scope, TSNode target, TSNode value, uint32_t at)
{
    TSTreeCursor left = ts_tree_cursor_new(target);
    TSTreeCursor right = ts_tree_cursor_new(value);
    bool more_left = next_named(&left, true), more_right = next_named(&right, true);
    while (more_left && more_right) {
        TSNode one = ts_tree_cursor_current_node(&left);
        TSNode other = ts_tree_cursor_current_node(&right);
        if (ts_node_symbol(one) == collector->is->list_splat_pattern_ ||
            ts_node_symbol(other) == collector->is->list_splat_)
            /* The number of items of a star is not known, so no pair after it is. */
            break;
        bind_value(collector, scope, one, other, at);
        more_left = next_named(&left, false);
        more_right = next_named(&right, false);
    }
    /* What has no partner is bound too, to something unknown: it hides the outer name. */
    for (; more_left; more_left = next_named(&left, false))
        bind_targets(collector, scope, ts_tree_cursor_current_node(&left));
    ts_tree_cursor_delete(&left);
    ts_tree_cursor_delete(&right);
}

/* Values with items that can be bound one by one. */
static bool is_list(const struct ck_python_collector *collector, TSNode node)
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

/*
 * a = b = x is an assignment to a of the assignment b = x. The value of both is x. The walk visits
 * the inner assignment later. An annotation without a value (a: int) binds nothing.
 */
static void collect_assignment(struct ck_python_collector *collector, uint32_t scope, TSNode node)
{
    TSNode target = field(node, collector->has->left_);
    TSNode value = field(node, collector->has->right_);
    /* In a longer chain the value stays an assignment, which is unknown. */
    for (int i = 0; i < CHAIN_MAX && !ts_node_is_null(value) && ts_node_symbol(value) == collector->is->assignment_;
         i++)
        value = field(value, collector->has->right_);
    if (ts_node_is_null(target) || ts_node_is_null(value))
        return;
    /* a += x: the result is not worked out. */
    if (ts_node_symbol(node) == collector->is->augmented_assignment_)
        bind_targets(collector, scope, target);
    else if (is_pattern(collector, target) && is_list(collector, value))
        /* Visible from the end of the statement: in x = x the right side has the old value. */
        bind_lists(collector, scope, target, value, ts_node_end_byte(node));
    else
        bind_value(collector, scope, target, value, ts_node_end_byte(node));
}

/* a.b.c as text without the spaces that may be around the dots. */
static const char *dotted_path(struct ck_python_collector *collector, TSNode node)
{
    char *path = ck_arena_memdup(collector->source->arena, collector->source->text + ts_node_start_byte(node),
                                 ts_node_end_byte(node) - ts_node_start_byte(node));
    char *to = path;
    for (char *from = path; path && *from != '\0'; from++)
        if (!strchr(" \t\r\n\\", *from))
            *to++ = *from;
    if (!path) {
        collector->failed = -ENOMEM;
        return NULL;
    }
    return ck_python_name(collector->source, path, (uint32_t)(to - path));
}

/* path is NULL for a module of the same package, which is not known. */
static void bind_import(struct ck_python_collector *collector, uint32_t scope, TSNode name, const char *path)
{
    if (!path)
        ck_python_bind_unknown(collector, scope, name);
    else
        ck_python_bind(collector, scope, name, ts_node_end_byte(name),
                       (struct ck_python_binding){.kind = CK_PYTHON_IMPORT, .path = path});
}

/* import a.b binds a; import a.b as c binds c to a.b. */
static void import_one(struct ck_python_collector *collector, uint32_t scope, TSNode node)
{
    if (ts_node_symbol(node) == collector->is->aliased_import_) {
        TSNode alias = field(node, collector->has->alias_);
        TSNode name = field(node, collector->has->name_);
        if (!ts_node_is_null(alias) && !ts_node_is_null(name))
            bind_import(collector, scope, alias, dotted_path(collector, name));
    } else if (ts_node_symbol(node) == collector->is->dotted_name_) {
        TSNode first = ts_node_named_child(node, 0);
        if (!ts_node_is_null(first))
            bind_import(collector, scope, first, ck_python_identifier(collector->source, first));
    }
}

/* from module import node: binds the name or its alias to module.name. */
static void import_from(struct ck_python_collector *collector, uint32_t scope, TSNode node, const char *module)
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
    if (module)
        path = ck_lint_name_qualify(collector->source, module, dotted_path(collector, name));
    /* The grammar makes a dotted name of every imported name; here it has one part. */
    if (ts_node_symbol(target) == collector->is->dotted_name_)
        target = ts_node_named_child(target, 0);
    if (!ts_node_is_null(target))
        bind_import(collector, scope, target, path);
}

/* from module import *: remembered for the scope, the newest first. See names_of_stars. */
static void import_star(struct ck_python_collector *collector, uint32_t scope, const char *module)
{
    struct ck_python_file *file = collector->file;
    if (!module)
        return;
    void *stars = ck_python_grow(collector, file->stars, file->stars_count, &file->stars_room, sizeof(*file->stars));
    if (!stars)
        return;
    file->stars = stars;
    file->stars[file->stars_count] = (struct ck_python_star){module, file->scopes[scope].first_star};
    file->scopes[scope].first_star = file->stars_count++;
}

/* import a, b.c as d and from m import a, b as c: each child is one import. */
static void collect_import(struct ck_python_collector *collector, uint32_t scope, TSNode node)
{
    bool from = ts_node_symbol(node) == collector->is->import_from_statement_;
    TSNode module = from ? field(node, collector->has->module_name_) : (TSNode){0};
    const char *path = NULL; /* a module of the same package: not known */
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

/* global a, b and nonlocal a, b. In the module itself (scope 0) a declaration changes nothing. */
static void declare(struct ck_python_collector *collector, uint32_t scope, TSNode node)
{
    bool global = ts_node_symbol(node) == collector->is->global_statement_;
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    for (bool more = next_named(&cursor, true); more; more = next_named(&cursor, false)) {
        TSNode name = ts_tree_cursor_current_node(&cursor);
        if (ts_node_symbol(name) == collector->is->identifier_ && scope != 0)
            ck_python_bind(collector, scope, name, ts_node_end_byte(name),
                           (struct ck_python_binding){.kind = global ? CK_PYTHON_GLOBAL : CK_PYTHON_NONLOCAL});
    }
    ts_tree_cursor_delete(&cursor);
}

/* ---- what opens a scope ------------------------------------------------------------------ */

/* a, a=1, a: int, *a, **a. The caller decides the value, so it is unknown, also with a default. */
static void bind_parameter(struct ck_python_collector *collector, uint32_t scope, TSNode node)
{
    const struct ck_python_symbols *is = collector->is;
    TSSymbol symbol = ts_node_symbol(node);
    if (symbol == is->default_parameter_ || symbol == is->typed_default_parameter_)
        node = field(node, collector->has->name_);
    else if (symbol == is->typed_parameter_)
        node = ts_node_named_child(node, 0);
    if (!ts_node_is_null(node))
        bind_targets(collector, scope, node);
}

/*
 * def and lambda. The parameters are before the body but belong to its scope, so they are bound
 * here, not when the walk passes them.
 */
static void collect_function(struct ck_python_collector *collector, uint32_t around, TSNode node)
{
    TSNode name = field(node, collector->has->name_);
    TSNode parameters = field(node, collector->has->parameters_);
    TSNode body = field(node, collector->has->body_);
    if (!ts_node_is_null(name))
        ck_python_bind_unknown(collector, around, name);
    if (ts_node_is_null(body))
        return;
    uint32_t scope = ck_python_open_scope(collector, CK_PYTHON_FUNCTION, around, body);
    if (ts_node_is_null(parameters) || collector->failed < 0)
        return;
    TSTreeCursor cursor = ts_tree_cursor_new(parameters);
    for (bool more = next_named(&cursor, true); more; more = next_named(&cursor, false))
        bind_parameter(collector, scope, ts_tree_cursor_current_node(&cursor));
    ts_tree_cursor_delete(&cursor);
}

/* The bases of a class are evaluated outside: only the body is its scope. */
static void collect_class(struct ck_python_collector *collector, uint32_t around, TSNode node)
{
    TSNode name = field(node, collector->has->name_);
    TSNode body = field(node, collector->has->body_);
    if (!ts_node_is_null(name))
        ck_python_bind_unknown(collector, around, name);
    if (!ts_node_is_null(body))
        (void)ck_python_open_scope(collector, CK_PYTHON_CLASS, around, body);
}

/* case x: a plain name is bound; a.b and A(...) are looked up. */
static void collect_case_pattern(struct ck_python_collector *collector, uint32_t scope, TSNode node)
{
    TSNode part = ts_node_named_child(node, 0);
    if (ts_node_is_null(part))
        return;
    if (ts_node_symbol(part) == collector->is->dotted_name_ && ts_node_named_child_count(part) == 1)
        ck_python_bind_unknown(collector, scope, ts_node_named_child(part, 0));
    else if (ts_node_symbol(part) == collector->is->as_pattern_)
        bind_targets(collector, scope, ts_node_named_child(part, ts_node_named_child_count(part) - 1));
    else if (ts_node_symbol(part) == collector->is->splat_pattern_)
        bind_targets(collector, scope, part);
}

/* ---- the walk ---------------------------------------------------------------------------- */

/*
 * Parts that may not run. elif, else and except are nodes of their own inside the statement.
 * finally and with are not here: their bodies always run.
 */
static void collect_branches(struct ck_python_collector *collector, TSNode node)
{
    const struct ck_python_symbols *is = collector->is;
    TSSymbol symbol = ts_node_symbol(node);
    if (symbol == is->if_statement_)
        ck_python_open_branch(collector, node, field(node, collector->has->consequence_), false);
    else if (symbol == is->try_statement_)
        ck_python_open_branch(collector, node, field(node, collector->has->body_), false);
    /* The whole statement: the variable of the loop is bound in it too. */
    else if (symbol == is->for_statement_ || symbol == is->while_statement_)
        ck_python_open_branch(collector, node, node, true);
    else if (symbol == is->elif_clause_ || symbol == is->else_clause_ || symbol == is->except_clause_ ||
             symbol == is->except_group_clause_ || symbol == is->case_clause_ ||
             /* These matter for := in one side. */
             symbol == is->conditional_expression_ || symbol == is->boolean_operator_)
        ck_python_open_branch(collector, node, node, false);
}

/* Opens the scope of the node, if it has one. A comprehension is a function in Python. */
static bool collect_scopes(struct ck_python_collector *collector, uint32_t scope, TSNode node)
{
    const struct ck_python_symbols *is = collector->is;
    TSSymbol symbol = ts_node_symbol(node);
    if (symbol == is->function_definition_ || symbol == is->lambda_)
        collect_function(collector, scope, node);
    else if (symbol == is->class_definition_)
        collect_class(collector, scope, node);
    else if (symbol == is->list_comprehension_ || symbol == is->set_comprehension_ ||
             symbol == is->dictionary_comprehension_ || symbol == is->generator_expression_)
        (void)ck_python_open_scope(collector, CK_PYTHON_FUNCTION, scope, node);
    else
        return false;
    return true;
}

/*
 * In Python := in a comprehension binds in the outer scope. Here it binds in the comprehension,
 * which finds less and never something wrong.
 */
static void collect_bindings(struct ck_python_collector *collector, uint32_t scope, TSNode node)
{
    const struct ck_python_symbols *is = collector->is;
    TSSymbol symbol = ts_node_symbol(node);
    if (symbol == is->assignment_ || symbol == is->augmented_assignment_)
        collect_assignment(collector, scope, node);
    else if (symbol == is->import_statement_ || symbol == is->import_from_statement_)
        collect_import(collector, scope, node);
    else if (symbol == is->for_statement_ || symbol == is->for_in_clause_)
        bind_targets(collector, scope, field(node, collector->has->left_));
    /* After del the name no longer has its value. */
    else if (symbol == is->as_pattern_target_ || symbol == is->delete_statement_)
        bind_targets(collector, scope, ts_node_named_child(node, 0));
    else if (symbol == is->named_expression_)
        bind_value(collector, scope, field(node, collector->has->name_), field(node, collector->has->value_),
                   ts_node_end_byte(node));
    else if (symbol == is->global_statement_ || symbol == is->nonlocal_statement_)
        declare(collector, scope, node);
    else if (symbol == is->case_pattern_)
        collect_case_pattern(collector, scope, node);
}

/*
 * A string without a field and a dotted name bind nothing. They are a large part of a tree, so they
 * are skipped.
 */
static bool is_inert(const struct ck_python_collector *collector, TSNode node)
{
    const struct ck_python_symbols *is = collector->is;
    TSSymbol symbol = ts_node_symbol(node);
    if (symbol == is->identifier_ || symbol == is->comment_ || symbol == is->dotted_name_ || !ts_node_is_named(node))
        return true;
    if (symbol == is->string_)
        /* Quotes and content; more children are fields, which can contain := and lambda. */
        return ts_node_child_count(node) <= 3;
    return symbol == is->attribute_ && ts_node_symbol(ts_node_child(node, 0)) == is->identifier_;
}

/* Branches come first: the bindings of the node itself may belong to the branch (for x in ...). */
static void collect_node(struct ck_python_collector *collector, TSNode node)
{
    collect_branches(collector, node);
    uint32_t scope = ck_python_current_scope(collector, ts_node_start_byte(node));
    if (!collect_scopes(collector, scope, node))
        collect_bindings(collector, scope, node);
}

int ck_python_collect(struct ck_lint_source *source, struct ck_python_file **ret_file)
{
    struct ck_python_collector collector = {.source = source, .is = ck_python_symbols(), .has = ck_python_fields()};
    collector.file = ck_arena_alloc(source->arena, sizeof(*collector.file));
    if (!collector.file)
        return -ENOMEM;
    (void)ck_python_open_scope(&collector, CK_PYTHON_MODULE, CK_PYTHON_NONE, source->root);
    if (collector.failed < 0 || !ck_python_grow_slots(&collector))
        return -ENOMEM;
    /* The root node begins at the first token, but the scope is the whole file. */
    collector.file->scopes[0].start = 0;
    collector.file->scopes[0].end = UINT32_MAX;
    TSTreeCursor cursor = ts_tree_cursor_new(source->root);
    uint32_t depth = 0;
    bool inert;
    do {
        TSNode node = ts_tree_cursor_current_node(&cursor);
        inert = is_inert(&collector, node);
        if (!inert)
            collect_node(&collector, node);
    } while (step(&cursor, !inert, &depth) && collector.failed == 0);
    ts_tree_cursor_delete(&cursor);
    if (collector.failed == 0)
        collector.failed = ck_python_sort_scopes(source, collector.file);
    *ret_file = collector.file;
    return collector.failed;
}
